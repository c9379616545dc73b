/** The explanation of a reason, drawn: from the source over what it went through to the action, and the smallest change. */
import type { ExplainedStep, PolicyReason } from '@cordon/policy-tools';
import { button, element, visible } from './element.ts';

/** Called with the path of an event that is to be shown in the trace. */
export type ShowPath = (path: string) => void;

export function explanationOf(reason: PolicyReason, show: ShowPath): HTMLElement {
  const { steps, lines, change } = reason.explanation;
  const flow = steps.filter(({ role }) => role !== 'other');
  const beside = steps.filter(({ role }) => role === 'other');
  return element(
    'div',
    { class: 'explanation' },
    flow.length === 0
      ? null
      : element(
          'ol',
          { class: 'flow', 'aria-label': 'from the source to the action' },
          ...flow.map((step) => stepElement(step, flow.length, show)),
        ),
    beside.length === 0
      ? null
      : element(
          'p',
          { class: 'beside' },
          'with ',
          ...beside.flatMap((step, index) => [
            index === 0 ? '' : ', ',
            `${visible(step.summary, 80)} `,
            pathButton(step.event, show),
          ]),
        ),
    element(
      'ul',
      { class: 'rule-lines', 'aria-label': `lines of the rule ${visible(reason.rule)}` },
      ...lines.map(({ line, text, value, note }) =>
        element(
          'li',
          { 'data-kind': value },
          element('span', { class: 'number' }, String(line)),
          element('code', {}, visible(text, 200)),
          element('span', { class: 'truth' }, value === 'true' ? 'holds' : 'cannot be evaluated'),
          note === '' ? null : element('span', { class: 'note' }, visible(note)),
        ),
      ),
    ),
    element(
      'p',
      { class: 'change' },
      element('strong', {}, 'Smallest change: '),
      `${OTHERWISE[reason.because === 'undecided' ? 'raise' : reason.effect]} if ${visible(change.text)}`,
    ),
  );
}

const OTHERWISE: Readonly<Record<PolicyReason['effect'], string>> = {
  raise: 'it would be allowed',
  ask: 'nobody would be asked',
  warn: 'there would be no warning',
};

const ROLES: Readonly<Record<ExplainedStep['role'], string>> = {
  source: 'source',
  way: 'way',
  sink: 'sink',
  other: 'beside',
};

function stepElement(step: ExplainedStep, count: number, show: ShowPath): HTMLElement {
  return element(
    'li',
    { 'data-kind': step.role },
    element('span', { class: 'role' }, count === 1 ? 'action' : ROLES[step.role]),
    element('span', { class: 'summary' }, visible(step.summary, 80)),
    element(
      'span',
      { class: 'where' },
      step.variable === null ? '' : `${visible(step.variable, 40)} = `,
      pathButton(step.event, show),
    ),
  );
}

export function pathButton(path: string, show: ShowPath): HTMLElement {
  const label = visible(path, 80);
  return button({ class: 'path', title: 'show it in the trace' }, () => show(path), label);
}
