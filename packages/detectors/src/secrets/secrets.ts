/**
 * Secrets in a text: keys, tokens and passwords. One reading finds where a mark of one stands; only there the forms of
 * `kinds.ts`, the words of `assignment.ts` and addresses are looked at. Signals: a secret that is split, encoded or spelt
 * is not found.
 */
import { type Finding, findingOf } from '../text/finding.ts';
import { type Literal, LiteralScan } from '../text/literal-scan.ts';
import { matchAt, startBefore } from '../text/match.ts';
import { ANNOUNCING_ELSEWHERE, ANNOUNCING_WORDS, assignedSecret } from './assignment.ts';
import { FORMS, type SecretForm } from './kinds.ts';
import { entropyOf, isPlaceholder } from './placeholder.ts';
import { SCHEME_END, urlCredentials } from './url-credentials.ts';

/** Beginning at a literal, and whether it gives way to a form with its own mark. */
interface Looking {
  readonly literal: Literal;
  readonly rank: number;
  readonly look: (text: string, end: number) => Finding | null;
}

interface Ranked {
  readonly finding: Finding;
  readonly rank: number;
}

const RANK = { seed: 0, form: 1, address: 2, announced: 3 };

const LOOKING: readonly Looking[] = [
  ...FORMS.flatMap((form) =>
    form.literals.map(
      (text): Looking => ({
        literal: { text, anyCase: form.anyCase },
        rank: form.isSeed ? RANK.seed : RANK.form,
        look: (all, end) => formAt(form, all, end - text.length),
      }),
    ),
  ),
  { literal: { text: SCHEME_END, anyCase: false }, rank: RANK.address, look: urlCredentials },
  ...ANNOUNCING_WORDS.map(
    (text): Looking => ({
      literal: { text, anyCase: true },
      rank: RANK.announced,
      look: (all, end) => assignedSecret(all, text, end),
    }),
  ),
];

const SCAN = new LiteralScan(LOOKING.map(({ literal }) => literal));

/** Every secret, in the order of its start. A text that two forms fit is reported as the one that says more. */
export function findSecrets(text: string): readonly Finding[] {
  const found: Ranked[] = [];
  // A form that has matched continues behind its match, as a search from left to right does.
  const done = new Map<Looking['look'], number>();
  SCAN.scan(text, (index, end) => {
    const looking = LOOKING[index];
    if (looking === undefined || end <= (done.get(looking.look) ?? 0)) return;
    const finding = looking.look(text, end);
    if (finding === null) return;
    done.set(looking.look, finding.end);
    found.push({ finding, rank: looking.rank });
  });
  for (const word of ANNOUNCING_ELSEWHERE)
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const finding = assignedSecret(text, word, at + word.length);
      if (finding !== null) found.push({ finding, rank: RANK.announced });
    }
  return strongest(found);
}

/** The form, where its literal starts at `at`. */
function formAt(form: SecretForm, text: string, at: number): Finding | null {
  const start = startOf(form, text, at);
  if (start === null) return null;
  const match = matchAt(form.pattern, text, start);
  if (match === null) return null;
  const secret = match[1] ?? match[0];
  const from = match[1] === undefined ? start : start + match[0].lastIndexOf(secret);
  const found = (confidence: number, reason: string) =>
    findingOf(form.kind, { start: from, end: from + secret.length }, confidence, reason);
  const verdict = form.check?.(match[0]) ?? 'open';
  if (verdict === 'proven') return found(1, 'the form of such a key, and its check digits');
  if (verdict === 'open' && !isPlaceholder(secret) && entropyOf(secret) >= form.entropy)
    return found(0.9, 'the form of such a key');
  return form.isSeed ? found(0.5, 'the form of such a key, but it looks made up') : null;
}

/** Where the secret begins; null: it would begin within a word. */
function startOf({ back, left }: SecretForm, text: string, at: number): number | null {
  const start = back === null ? at : startBefore(text, at, back.chars, back.most);
  if (start === 0 || left === 'free') return start;
  const before = text[start - 1] ?? '';
  // `\n` in a text that was written as JSON is no letter.
  if (/[nrt]/.test(before) && text[start - 2] === '\\') return start;
  return (left === 'word' ? /[A-Za-z0-9]/ : /[A-Za-z0-9_-]/).test(before) ? null : start;
}

/** What overlaps a finding that says more is dropped; what the seed language reports never is. */
function strongest(found: readonly Ranked[]): readonly Finding[] {
  const kept: Ranked[] = [];
  const sorted = [...found].sort(
    (a, b) => a.finding.start - b.finding.start || a.rank - b.rank || b.finding.end - a.finding.end,
  );
  for (const one of sorted) {
    const last = kept.at(-1);
    if (last === undefined || one.finding.start >= last.finding.end) kept.push(one);
    else if (one.rank < last.rank && last.rank !== RANK.seed) kept[kept.length - 1] = one;
    else if (one.rank === RANK.seed) kept.push(one);
  }
  return kept.map(({ finding }) => finding);
}
