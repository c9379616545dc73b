/**
 * A scan for people: which rules were violated how often and where first, which files, and what was no trace.
 *
 * Words of traces are made visible by the drawing.
 */

import type { Policy } from '@cordon/policy';
import { counted, type Drawing, renderTable } from '@cordon/print';
import type { Input } from '../parts/input.ts';
import type { LineRecord } from '../parts/part.ts';
import { readWords } from '../traces/event-counts.ts';
import { EFFECTS, toldFindings } from '../traces/findings.ts';
import { placeOf, ScanReport, type ScanResult } from './report.ts';

/** Traces that are shown of each rule. */
export const EXAMPLES = 3;
const MOST_RULES = 20;
const MOST_FILES = 10;
const MOST_BROKEN = 10;

interface Example {
  readonly place: string;
  readonly message: string;
  readonly events: string;
}

/** Draws at the end; the texts that it makes are empty. */
export class SummaryReport extends ScanReport {
  readonly #drawing: Drawing;
  readonly #policy: Policy;
  readonly #examples = new Map<string, Example[]>();
  /** Assignments that could not be decided, by rule: the first reason. */
  readonly #undecided = new Map<string, Example>();

  constructor(drawing: Drawing, policy: Policy) {
    super();
    this.#drawing = drawing;
    this.#policy = policy;
  }

  override record(input: Input, line: number | null, record: LineRecord): string {
    if (record.kind === 'broken') return '';
    const { errors, undecided } = toldFindings(record.body);
    const place = placeOf(input, line);
    const shown = new Set<string>();
    for (const { rule, message, events } of errors) {
      const known = this.#examples.get(rule) ?? [];
      // One of each trace: the others are much the same.
      if (known.length >= EXAMPLES || shown.has(rule)) continue;
      shown.add(rule);
      known.push(exampleOf(place, message, events));
      this.#examples.set(rule, known);
    }
    for (const { rule, reason, events } of undecided)
      if (!this.#undecided.has(rule)) this.#undecided.set(rule, exampleOf(place, reason, events));
    return '';
  }

  override end(result: ScanResult): string {
    this.#rules(result);
    this.#undecidedRules();
    this.#files(result);
    this.#broken(result);
    this.#totals(result);
    return '';
  }

  #rules({ rules }: ScanResult): void {
    const violated = Object.entries(rules)
      .filter(([, count]) => count > 0)
      .sort(([, a], [, b]) => b - a);
    const { screen, marks } = this.#drawing;
    for (const [id, count] of violated.slice(0, MOST_RULES)) {
      const rule = this.#policy.rules.find((candidate) => candidate.id === id);
      const effect = rule === undefined || rule.effect === 'raise' ? '' : ` (${rule.effect}s)`;
      const { mark, style } = EFFECTS[rule?.effect ?? 'raise'];
      this.#drawing.say(`${marks[mark]} `, `${id}${effect}: ${counted(count, 'violation')}`, style, 2);
      const examples = this.#examples.get(id) ?? [];
      for (const example of examples) this.#example(example);
      const rest = count - examples.length;
      if (rest > 0) this.#drawing.say('    ', `and ${rest} more; \`--json\` has all`, 'dim');
    }
    if (violated.length > MOST_RULES) {
      this.#drawing.say('  ', `and ${violated.length - MOST_RULES} more rules; \`--json\` has all`, 'dim');
    }
    if (violated.length > 0) screen.line();
  }

  #undecidedRules(): void {
    const { screen, marks } = this.#drawing;
    for (const [rule, example] of [...this.#undecided].slice(0, MOST_RULES)) {
      this.#drawing.say(`${marks.undecided} `, `${rule}: undecided in some traces`, 'warn', 2);
      this.#example(example);
    }
    if (this.#undecided.size > 0) screen.line();
  }

  #example({ place, message, events }: Example): void {
    this.#drawing.say('    ', `${place}  ${message}${events === '' ? '' : `  (${events})`}`, 'plain', 3);
  }

  #files({ inputs }: ScanResult): void {
    const listed = inputs
      .filter(({ counts }) => counts.violations + counts.undecided + counts.broken > 0)
      .sort((a, b) => b.counts.violations - a.counts.violations);
    if (inputs.length < 2 || listed.length === 0) return;
    const rows = listed
      .slice(0, MOST_FILES)
      .map(({ input, counts }) => [
        input.name,
        ...[counts.traces, counts.violations, counts.undecided, counts.broken].map(String),
      ]);
    const { screen } = this.#drawing;
    renderTable(screen, ['file', 'traces', 'violations', 'undecided', 'broken'], rows);
    if (listed.length > MOST_FILES) this.#drawing.say('  ', `and ${listed.length - MOST_FILES} more`, 'dim');
    screen.line();
  }

  #broken({ broken, counts }: ScanResult): void {
    const { screen, marks } = this.#drawing;
    for (const line of broken.slice(0, MOST_BROKEN)) this.#drawing.say(`${marks.bad} `, line, 'warn', 3);
    const rest = counts.broken - Math.min(broken.length, MOST_BROKEN);
    if (rest > 0) this.#drawing.say('  ', `and ${rest} more that are no traces`, 'dim');
    if (broken.length > 0) screen.line();
  }

  #totals(result: ScanResult): void {
    const { counts, unreadable, unfinished, isComplete, inputs, seconds } = result;
    const found = counts.violations === 0 ? 'no violation' : counted(counts.violations, 'violation');
    const open = counts.undecided === 0 ? '' : `, ${counts.undecided} undecided`;
    const broken = counts.broken === 0 ? '' : `; ${counted(counts.broken, 'line')} cannot be used`;
    const faults = unreadable === 0 ? '' : `; ${counted(unreadable, 'file')} could not be read to the end`;
    const rest =
      unfinished === 0 ? '' : `; ${counted(unfinished, 'last line')} not finished, left for next time`;
    const end = isComplete ? '' : '; interrupted';
    const where = `${counted(counts.traces, 'trace')} of ${counted(inputs.length, 'file')}`;
    const isGood = counts.violations === 0 && broken === '' && faults === '' && isComplete;
    this.#drawing.say(
      '',
      `${found}${open} in ${where}${broken}${faults}${rest}${end}`,
      isGood ? 'good' : 'bad',
    );
    this.#drawing.say('', readWords(counts.events), 'dim');
    const rate = seconds > 0 ? `, ${megabytes(counts.bytes / seconds)}/s` : '';
    this.#drawing.say('', `${megabytes(counts.bytes)} in ${seconds.toFixed(1)} s${rate}`, 'dim');
  }
}

function exampleOf(place: string, message: string, events: Readonly<Record<string, string>>): Example {
  const bound = Object.entries(events).map(([name, path]) => `${name} = ${path}`);
  return { place, message: message.slice(0, 200), events: bound.join(', ') };
}

/** In millions of bytes, or what is more readable where there are fewer. */
export function megabytes(bytes: number): string {
  if (bytes < 1e3) return `${Math.round(bytes)} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
}
