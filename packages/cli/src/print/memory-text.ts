/** Memory in words: names of owners as people type them, items as lines of JSON and as text. */
import { id, visibleLine } from '@cordon/core';
import type { Deleted, MemoryItem, MemoryOwner } from '@cordon/trace';

const MOST_NAME = 120;
const WORDS = ['system', 'vanilla', 'shared'] as const;

/** `system`, `vanilla`, `shared`, or `app:NAME`. */
export function ownerName(owner: MemoryOwner): string {
  return owner.kind === 'spoke' ? `app:${owner.app}` : owner.kind;
}

/** Also an app's name alone, where it is not one of the words. */
export function ownerNamed(text: string): MemoryOwner {
  const word = WORDS.find((candidate) => candidate === text);
  if (word !== undefined) return { kind: word };
  return { kind: 'spoke', app: id(text.startsWith('app:') ? text.slice('app:'.length) : text) };
}

/** One line of `--json` and of an export. */
export function itemRecord(item: MemoryItem): object {
  const { kind, owner, ...rest } = item;
  return { kind: `memory.${kind}`, owner: ownerName(owner), ...rest };
}

/** The line above an item's text. */
export function itemHeading(item: MemoryItem): string {
  return item.isCorrected === true ? `${plainHeading(item)}, corrected` : plainHeading(item);
}

function plainHeading(item: MemoryItem): string {
  switch (item.kind) {
    case 'fact': {
      const by = item.learnt === 'stated' ? 'you said it' : 'an output of the app says it';
      const to = item.origin === null ? '' : `, ${item.learnt === 'stated' ? 'to' : 'from'} ${item.origin}`;
      return `fact ${item.id}  ${visibleLine(item.name, MOST_NAME)}  (${by}${to})`;
    }
    case 'summary':
      return `summary ${item.id}  session ${item.session}, by ${item.madeBy}`;
    case 'turn':
      return `turn ${item.id}  ${item.role}, session ${item.session}${item.origin === null ? '' : `, ${item.origin}`}`;
  }
}

export function itemText(item: MemoryItem): string {
  return item.kind === 'fact' ? item.value : item.text;
}

/** `2 turns and 1 fact`; `nothing` */
export function deletedInWords({ turns, summaries, facts }: Deleted): string {
  const counted = [
    [turns, 'turn', 'turns'],
    [summaries, 'summary', 'summaries'],
    [facts, 'fact', 'facts'],
  ] as const;
  const words = counted.flatMap(([count, one, many]) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`],
  );
  return words.length === 0 ? 'nothing' : new Intl.ListFormat('en').format(words);
}
