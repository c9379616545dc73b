/**
 * What stands behind `?`: who asks whom, the rules, every warning and note, what a longer yes covers, and all data.
 *
 * What stands here is the ground of every grant (with drawn-lines.ts, screen.ts and visible-text.ts).
 */
import {
  type PermissionPrompt,
  type PermissionScope,
  type PromptDatum,
  visibleLine,
  visibleLines,
} from '@cordon/core';
import { argumentLines } from '../text/argument-lines.ts';
import { GUTTER } from '../text/screen.ts';
import { type DrawnLine, Lines, linesOf, quotedLine } from './drawn-lines.ts';
import { fieldWords, placesIn, planWords, textWords } from './prompt-drawing.ts';

/** Of a list of warnings; a list that scrolls the question away is no warning. */
const MOST_WARNINGS = 40;
const MOST_DATA = 20;
/** Characters of the name of a datum. */
const MOST_LABEL = 80;
/** Lines of a quotation. */
const MOST_CITED = 8;

/** All that is known of a question, but for its data. */
export function detailLines(prompt: PermissionPrompt, width: number): readonly DrawnLine[] {
  const { from, to, what, scope } = prompt.subject;
  return linesOf(width, (lines) => {
    lines.say('kind:', SCOPE_WORDS[scope]);
    lines.say('ask: ', prompt.question);
    lines.say('from:', from ?? 'Cordon itself, or a context without an app');
    lines.say('to:  ', to ?? 'you, or nobody');
    lines.say('what:', what);
    lines.say('plan:', planWords(prompt.expected));
    for (const asks of prompt.asks ?? []) lines.say('a rule asks:', asks);
    for (const rule of prompt.rules) lines.say('rule:', rule);
    list(lines, 'WARNING:', prompt.warnings);
    list(lines, 'NEW: ', prompt.newRecipients);
    for (const { app, tool, sender, title, text } of prompt.quotes ?? []) {
      lines.say('quoted:', `what ${app} returned for ${tool}`);
      for (const words of [sender, title, text]) if (words !== null) lines.cite([words], MOST_CITED);
    }
    for (const datum of prompt.data.slice(0, MOST_DATA)) describe(lines, datum);
    if (prompt.durations.some((duration) => duration !== 'once'))
      lines.say('longer than once:', `covers ${prompt.covers}`);
    const { coversMore = false, onceCovers = prompt.covers } = prompt;
    if (coversMore) lines.say('once:', `covers also ${onceCovers}`);
  });
}

function list(lines: Lines, label: string, warnings: readonly string[]): void {
  for (const warning of warnings.slice(0, MOST_WARNINGS)) lines.say(label, warning, 'warn');
  if (warnings.length > MOST_WARNINGS)
    lines.say(label, `and ${warnings.length - MOST_WARNINGS} more`, 'warn');
}

function describe(lines: Lines, datum: PromptDatum): void {
  const { isEditable, field, sources = [] } = datum;
  const editable = isEditable === true ? '; editable' : '';
  if (field !== undefined) lines.say('field:', fieldWords(datum));
  else lines.say('data:', textWords(datum, MOST_LABEL) + editable);
  for (const { app, arguments: paths } of sources.slice(0, MOST_DATA))
    lines.say('text:', `from ${app}, in ${placesIn(paths)}`);
  if (sources.length > MOST_DATA) lines.say('text:', `from ${sources.length - MOST_DATA} more apps`);
}

/** All data as pages of lines, for a terminal. */
export function* dataLines(data: readonly PromptDatum[], width: number): Generator<DrawnLine, void> {
  for (const datum of data) {
    yield* linesOf(width, (own) => own.say('data:', visibleLine(datum.name, MOST_LABEL)));
    const shown = datum.identifying === undefined ? null : argumentLines(datum.value, datum.identifying);
    if (shown !== null) {
      for (const argument of shown) {
        const whole = new Lines(width);
        whole.argument(argument, Number.POSITIVE_INFINITY);
        yield* whole.lines;
      }
      continue;
    }
    for (const line of visibleLines(datum.value, width - GUTTER.length)) yield quotedLine(line);
  }
}

const SCOPE_WORDS: Readonly<Record<PermissionScope, string>> = {
  'app-selection': 'an app serves your request',
  exchange: 'an app asks another app',
  response: 'an answer goes to another app',
  'data-release': 'an app reads data',
  'irreversible-action': 'an action that cannot be undone',
  egress: 'an app connects to a site',
  delegation: 'calls that a text asks for',
  policy: 'a rule of your policy requires your permission',
};
