/**
 * Words that look like others: letters of two scripts in one word, letters of another script that spell a Latin word,
 * and letters that are drawn as symbols. The table holds what most typefaces draw the same (Unicode's
 * confusables, UTS 39, cut down to that).
 */
import { type Match, matchesIn } from '../text/match.ts';
import { type HiddenFinding, hidden } from './hidden-finding.ts';

const ALIKE: ReadonlyMap<string, string> = new Map([
  ...pairs('аеорсухіјѕһԁԛԝӏѵ', 'aeopcyxijshdqwlv'),
  ...pairs('АВЕКМНОРСТХУІЈЅԚԜӀҮ', 'ABEKMHOPCTXYIJSQWIY'),
  ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'),
  ...pairs('ονιραυκηγτχ', 'ovipauknytx'),
  ...pairs('օսհոզցյ', 'ouhnqgj'),
  ...pairs('ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏚᏙᎳᏃ', 'ABCDEGHJKLMPSVWZ'),
  ...pairs('ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPDTGKJCZFMNLSRVHWXYAEIOU'),
  ...pairs('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz'),
]);
/** Of Greek small letters, science writes many behind Latin ones (`TNFα`); they count inside a word only. */
const SMALL_GREEK = /[νιραυκηγτχ]/;

const LATIN = /[A-Za-z\u00c0-\u024f]/;
const FOREIGN = /[\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13f5\ua4d0-\ua4f4]/;
const SMALL_CAPITALS = /[\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\u1d00-\u1d22\ua730\ua731]{4,}/g;
const CYRILLIC_LIKE = /^[aeopcyxijsABEKMHOPCTXYIJS]$/;
const STYLED =
  /(?:(?:\ud835[\udc00-\udfff]){5,}|(?:\ud83c[\udd30-\udd4f\udd50-\udd69\udd70-\udd89]){5,}|[\u24b6-\u24e9]{5,})/g;
const FULL_WIDTH = /[\uff21-\uff3a\uff41-\uff5a]{4,}/g;
const EAST_ASIAN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
/** A word in another script near one that can only be of that script belongs to a text in it. */
const REACH = 80;
/** Letters of a word that are looked at around a place; words are not longer. */
const MOST_LETTERS = 64;

function pairs(from: string, to: string): readonly [string, string][] {
  const targets = [...to];
  return [...from].map((letter, at): [string, string] => [letter, targets[at] ?? letter]);
}

export function findLookAlikes(text: string): readonly HiddenFinding[] {
  const runs = matchesIn(text, CANDIDATES);
  if (runs.length === 0) return [];
  const found = [...mixedWords(text, runs), ...spelledWithOthers(text, runs), ...styled(text, runs)];
  return found.sort((a, b) => a.start - b.start);
}

/** Stretches of letters that can be taken for others: found in one pass, and all else is looked for within them. */
const CANDIDATES =
  /(?:[\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13f5\ua4d0-\ua4f4\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\u1d00-\u1d22\ua730\ua731\uff21-\uff5a\u24b6-\u24e9]|\ud835[\udc00-\udfff]|\ud83c[\udd30-\udd89])+/g;

interface Word {
  readonly letters: string;
  readonly start: number;
}

const IN_WORD =
  /[A-Za-z0-9\u00c0-\u024f\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13f5\u1d00-\u1d22\ua4d0-\ua4f4\ua730\ua731]/;

/** Only where two scripts touch: a page in another script has thousands of words. */
function* mixedWords(text: string, runs: readonly Match[]): Generator<HiddenFinding> {
  let behind = 0;
  for (const { start, end, text: letters } of runs) {
    const isSeamBefore = FOREIGN.test(letters[0] ?? '') && LATIN.test(text[start - 1] ?? '');
    const isSeamBehind = FOREIGN.test(letters.at(-1) ?? '') && LATIN.test(text[end] ?? '');
    for (const seam of [isSeamBefore ? start - 1 : -1, isSeamBehind ? end - 1 : -1]) {
      if (seam < behind) continue;
      const word = wordAt(text, seam);
      behind = word.start + word.letters.length;
      if (isMixed(word)) yield finding(word, 'letters of several scripts in one word');
    }
  }
}

function wordAt(text: string, at: number): Word {
  let start = at;
  while (start > 0 && at - start < MOST_LETTERS && IN_WORD.test(text[start - 1] ?? '')) start--;
  let end = at + 1;
  while (end - at < MOST_LETTERS && IN_WORD.test(text[end] ?? '')) end++;
  return { letters: text.slice(start, end), start };
}

function finding({ letters, start }: Word, reason: string): HiddenFinding {
  return hidden('HOMOGLYPH', start, start + letters.length, 0.9, reason, latinized(letters));
}

function latinized(word: string): string {
  return [...word].map((letter) => ALIKE.get(letter) ?? letter).join('');
}

function isMixed({ letters }: Word): boolean {
  if (letters.length < 3 || !LATIN.test(letters) || !FOREIGN.test(letters)) return false;
  const all = [...letters];
  const foreign = all.filter((letter) => FOREIGN.test(letter));
  const others = foreign.filter((letter) => !ALIKE.has(letter));
  return others.length === 0 ? isLatinWord(all) : isForeignWord(all, others.length);
}

/** `pаypal`: every foreign letter is drawn like a Latin one. */
function isLatinWord(letters: readonly string[]): boolean {
  const inside = letters.filter((letter, at) => {
    if (!FOREIGN.test(letter)) return false;
    if (!SMALL_GREEK.test(letter)) return true;
    return isSmallLatin(letters[at - 1]) && isSmallLatin(letters[at + 1]);
  });
  return inside.length > 0;
}

function isSmallLatin(letter: string | undefined): boolean {
  const plain = letter === undefined ? '' : (ALIKE.get(letter) ?? letter);
  return /^[a-z]$/.test(plain);
}

/** `прuвет` with Latin letters between others. `SMSка` is a Latin word with an ending, and legitimate. */
function isForeignWord(letters: readonly string[], certain: number): boolean {
  const isEnclosed = (at: number) =>
    FOREIGN.test(letters[at - 1] ?? '') && FOREIGN.test(letters[at + 1] ?? '');
  const latin = letters.filter((letter) => LATIN.test(letter));
  return (
    certain >= 2 &&
    latin.length <= letters.length / 2 &&
    latin.every((letter) => CYRILLIC_LIKE.test(letter)) &&
    letters.some((letter, at) => LATIN.test(letter) && isEnclosed(at))
  );
}

const SCRIPTS = [
  /[\u0370-\u03ff]/,
  /[\u0400-\u052f]/,
  /[\u0531-\u0587]/,
  /[\u13a0-\u13f5]/,
  /[\ua4d0-\ua4f4]/,
];
const ALIKE_LETTERS = [...ALIKE.keys()].filter((letter) => FOREIGN.test(letter)).join('');
const ALIKE_WORD = new RegExp(`[${ALIKE_LETTERS}]{4,${MOST_LETTERS}}`, 'g');

/** `аррӏе`: a whole word of letters that look Latin, in a text that is Latin there. */
function* spelledWithOthers(text: string, runs: readonly Match[]): Generator<HiddenFinding> {
  for (const { text: letters, start, end } of within(runs, ALIKE_WORD)) {
    if (/\p{L}/u.test(text[start - 1] ?? '') || /\p{L}/u.test(text[end] ?? '')) continue;
    const around = `${text.slice(Math.max(0, start - REACH), start)} ${text.slice(end, end + REACH)}`;
    const script = SCRIPTS.find((one) => one.test(letters)) ?? FOREIGN;
    const isAtHome = [...around].some((letter) => script.test(letter) && !ALIKE.has(letter));
    if (!isAtHome && /[A-Za-z]{2}/.test(around))
      yield finding({ letters, start }, 'a word of letters that look Latin and are not');
  }
}

/** What the pattern finds in the runs, at its place in the text. */
function within(runs: readonly Match[], pattern: RegExp): readonly Match[] {
  return runs.flatMap(({ text, start }) => matchesIn(text, pattern, start));
}

function styled(text: string, runs: readonly Match[]): readonly HiddenFinding[] {
  const wide = within(runs, FULL_WIDTH);
  const isEastAsian = wide.length > 0 && EAST_ASIAN.test(text);
  const drawn = [...within(runs, STYLED), ...(isEastAsian ? [] : wide)].map((match) => ({
    ...match,
    revealed: match.text.normalize('NFKC'),
  }));
  const small = within(runs, SMALL_CAPITALS).map((match) => ({ ...match, revealed: latinized(match.text) }));
  return [...drawn, ...small].map(({ start, end, revealed }) =>
    hidden('STYLED_LETTERS', start, end, 0.7, 'symbols that are drawn as letters', revealed),
  );
}
