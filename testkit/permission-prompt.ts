/** Prompts with everything filled in, to be varied in tests. */
import { type ChoicePrompt, id, type PermissionPrompt, type PermissionSubject } from '@cordon/core';

export function permissionPrompt(
  changes: Partial<Omit<PermissionPrompt, 'subject'>> & { subject?: Partial<PermissionSubject> } = {},
): PermissionPrompt {
  const { subject, ...rest } = changes;
  return {
    id: id('e1'),
    session: id('s1'),
    context: id('c1'),
    question: 'May quick-ride book a ride?',
    data: [{ name: 'arguments', value: '{"from": "home"}' }],
    expected: true,
    warnings: [],
    newRecipients: [],
    covers: 'the same again',
    rules: ['permission/irreversible'],
    durations: ['once', 'session'],
    digest: 'd',
    ...rest,
    subject: {
      scope: 'irreversible-action',
      from: id('quick-ride'),
      to: id('quick-ride'),
      what: 'request_ride',
      ...subject,
    },
  };
}

export function choicePrompt(...choices: string[]): ChoicePrompt {
  return {
    id: id('e2'),
    session: id('s1'),
    question: 'Which app books the ride?',
    choices: choices.map((name) => id(name)),
  };
}
