/** What analysing the whole trace finds: violations with their ranges, and what could not be decided, with the reason. */
import type { Analysis, UndecidedAssignment, Violation } from '@cordon/policy-tools';
import { button, element, visible } from './element.ts';
import { pathButton, type ShowPath } from './flow.ts';

/** More are not drawn; their number is. */
const MAX_CARDS = 100;
const MAX_RANGES = 20;

/** `chosen`: the number of the finding whose ranges are marked. */
export function findingList(
  { errors, undecided }: Analysis,
  chosen: number | null,
  choose: (index: number) => void,
  show: ShowPath,
): HTMLElement {
  const cards = [
    ...errors.map((error, index) => violationCard(error, index === chosen, () => choose(index), show)),
    ...undecided.map((open) => undecidedCard(open, show)),
  ];
  const more = cards.length - MAX_CARDS;
  const shown = cards.slice(0, MAX_CARDS);
  if (more > 0) shown.push(element('li', { class: 'more' }, `and ${more} more`));
  return element('ul', { class: 'findings' }, ...shown);
}

function violationCard(error: Violation, isChosen: boolean, choose: () => void, show: ShowPath): HTMLElement {
  const { rule, effect, message, ranges, kwargs } = error;
  const named = Object.entries(kwargs).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return element(
    'li',
    { 'data-kind': effect },
    button(
      { class: 'choose', 'aria-pressed': String(isChosen), title: 'mark its ranges in the trace' },
      choose,
      element('span', { class: 'badge', 'data-kind': effect }, effect),
      element('span', { class: 'message' }, visible(message)),
      element('span', { class: 'rule' }, visible(rule, 60)),
    ),
    eventList(error.events, show),
    named.length === 0 ? null : element('p', { class: 'note' }, visible(named.join(', '))),
    ranges.length === 0
      ? null
      : element(
          'p',
          { class: 'ranges' },
          'ranges ',
          ...ranges.slice(0, MAX_RANGES).map((range) => pathButton(range, show)),
          ranges.length > MAX_RANGES ? `and ${ranges.length - MAX_RANGES} more` : '',
        ),
  );
}

function undecidedCard({ rule, line, events, reason }: UndecidedAssignment, show: ShowPath): HTMLElement {
  return element(
    'li',
    { 'data-kind': 'undecided' },
    element(
      'div',
      { class: 'choose' },
      element('span', { class: 'badge', 'data-kind': 'undecided' }, 'undecided'),
      element('span', { class: 'message' }, visible(reason)),
      element('span', { class: 'rule' }, `${visible(rule, 60)}, line ${line}`),
    ),
    eventList(events, show),
  );
}

function eventList(events: Readonly<Record<string, string>>, show: ShowPath): HTMLElement | null {
  const bound = Object.entries(events);
  if (bound.length === 0) return null;
  return element(
    'p',
    { class: 'bound' },
    ...bound.flatMap(([variable, path]) => [`${visible(variable, 40)} = `, pathButton(path, show), ' ']),
  );
}
