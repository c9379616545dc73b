/** `hidden_text`, and what others find. Kinds differ from package to package, so any finding at a hidden text's place is right. */
import { findHidden } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { peerModule } from '../peers.ts';
import type { Find, Peer, Suite } from '../suite.ts';

const CHARACTERS = ['ZERO_WIDTH', 'TAG_CHARACTERS', 'VARIATION_SELECTORS', 'BIDI_CONTROL'];
const INVISIBLE = 'invisible characters';
const LOOK_ALIKE = 'look-alikes';

/** What was decoded is looked at again, and inner findings stand at the place of the outer one: that one counts. */
function outermost(text: string): readonly Label[] {
  const places = new Map<string, Label>();
  for (const found of findHidden(text)) {
    const place = `${found.start} ${found.end}`;
    if (!places.has(place)) places.set(place, found);
  }
  return [...places.values()];
}

/** Packages name characters and not what is done with them; the kind follows from the character. */
function kindOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point >= 0xe0000 && point <= 0xe007f) return 'TAG_CHARACTERS';
  if ((point >= 0xfe00 && point <= 0xfe0f) || (point >= 0xe0100 && point <= 0xe01ef))
    return 'VARIATION_SELECTORS';
  if ((point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)) return 'BIDI_CONTROL';
  return 'ZERO_WIDTH';
}

interface AntiTrojanSource {
  hasConfusables(options: {
    readonly sourceText: string;
    readonly detailed: true;
    readonly extended?: boolean;
  }): readonly {
    readonly line: number;
    readonly column: number;
    readonly severity: string;
  }[];
}

/** One finding for each run of characters, as ours has it. */
function runs(
  text: string,
  places: readonly number[],
  kind: (character: string) => string,
): readonly Label[] {
  const found: { kind: string; start: number; end: number }[] = [];
  for (const start of places) {
    const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
    const end = start + character.length;
    const last = found.at(-1);
    if (last !== undefined && last.end === start && last.kind === kind(character)) last.end = end;
    else found.push({ kind: kind(character), start, end });
  }
  return found;
}

function antiTrojanSource({ hasConfusables }: AntiTrojanSource, isExtended: boolean): Find {
  return (text) => {
    const lines = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
    const found = hasConfusables({ sourceText: text, detailed: true, extended: isExtended });
    const placesOf = (isLow: boolean) =>
      found
        .filter(({ severity }) => (severity === 'low') === isLow)
        .map(({ line, column }) => (lines[line - 1] ?? 0) + column - 1);
    return [...runs(text, placesOf(false), kindOf), ...runs(text, placesOf(true), () => 'HOMOGLYPH')];
  };
}

const PEERS: readonly Peer[] = [
  {
    name: '`anti-trojan-source` 1.13.0',
    rows: [INVISIBLE],
    load: async () => {
      const module = await peerModule<AntiTrojanSource>('anti-trojan-source');
      return module === null ? null : antiTrojanSource(module, false);
    },
  },
  {
    name: '`anti-trojan-source` 1.13.0, extended',
    rows: [INVISIBLE, LOOK_ALIKE],
    load: async () => {
      const module = await peerModule<AntiTrojanSource>('anti-trojan-source');
      return module === null ? null : antiTrojanSource(module, true);
    },
  },
  {
    name: '`confusables` 1.1.1',
    rows: [LOOK_ALIKE],
    load: async () => {
      const module = await peerModule<{ default: { remove(text: string): string } }>('confusables');
      if (module === null) return null;
      // It only gives back the text as it would look; words that change are taken for found.
      return (text) =>
        [...text.matchAll(/\S+/g)]
          .filter(([word]) => module.default.remove(word) !== word)
          .map((match) => ({ kind: 'HOMOGLYPH', start: match.index, end: match.index + match[0].length }));
    },
  },
];

export const HIDDEN_TEXT_SUITE: Suite = {
  detector: 'hidden_text',
  judged: 'ranges',
  rows: [
    { name: 'all kinds', kinds: null, aim: { recall: 1, precision: 1 } },
    { name: INVISIBLE, kinds: CHARACTERS, aim: { recall: 1, precision: 1 } },
    { name: LOOK_ALIKE, kinds: ['HOMOGLYPH'], aim: { recall: 1, precision: 1 } },
  ],
  find: outermost,
  peers: PEERS,
  speedAim: 50,
};
