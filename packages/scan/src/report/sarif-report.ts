/**
 * SARIF 2.1.0 (OASIS), for code hosts and editors: rules with their text, one result for each violation and each
 * undecided assignment, lines that are no traces as notifications. Written as it comes, never held.
 *
 * See docs/cli.md.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Policy } from '@cordon/policy';
import { safeJson } from '@cordon/print';
import { type Input, STANDARD_INPUT } from '../parts/input.ts';
import type { LineRecord } from '../parts/part.ts';
import { toldFindings } from '../traces/findings.ts';
import { placeOf, ScanReport, type ScanResult } from './report.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const LEVELS = { raise: 'error', ask: 'warning', warn: 'note' } as const;

/** Characters of a rule's text. */
const MOST_HELP = 4000;

export interface SarifOptions {
  /** Paths below it are printed as relative ones. */
  readonly folder: string;
  readonly version: string;
}

export class SarifReport extends ScanReport {
  override readonly isReplaced = true;
  readonly #policy: Policy;
  readonly #options: SarifOptions;
  readonly #numbers: ReadonlyMap<string, number>;
  #hasResults = false;

  constructor(policy: Policy, options: SarifOptions) {
    super();
    this.#policy = policy;
    this.#options = options;
    this.#numbers = new Map(policy.rules.map(({ id }, index) => [id, index]));
  }

  override begin(): string {
    const rules = this.#policy.rules.map(ruleDescriptor);
    const driver = { name: 'cordon', semanticVersion: this.#options.version, rules };
    return (
      `{"$schema":${safeJson(SCHEMA)},"version":"2.1.0","runs":[{` +
      `"tool":${safeJson({ driver })},"columnKind":"unicodeCodePoints","results":[`
    );
  }

  override resume(): void {
    this.#hasResults = true;
  }

  override record(input: Input, line: number | null, record: LineRecord): string {
    if (record.kind === 'broken') return '';
    const { errors, undecided } = toldFindings(record.body);
    const place = { input, line, digest: record.digest };
    const results = [
      ...errors.map(({ effect = 'raise', message, ...finding }) =>
        this.#result({ kind: 'fail', level: LEVELS[effect], text: message || finding.rule }, finding, place),
      ),
      ...undecided.map(({ reason, ...finding }) =>
        this.#result({ kind: 'open', level: 'none', text: `undecided: ${reason}` }, finding, place),
      ),
    ];
    let text = '';
    for (const result of results) {
      text += `${this.#hasResults ? ',' : ''}\n${safeJson(result)}`;
      this.#hasResults = true;
    }
    return text;
  }

  override end(result: ScanResult): string {
    const { isComplete, unreadable, counts, broken } = result;
    const invocation = {
      executionSuccessful: isComplete && unreadable === 0 && counts.broken === 0,
      toolExecutionNotifications: broken.map((text) => ({ level: 'error', message: { text } })),
      properties: { traces: counts.traces, broken: counts.broken, bytes: counts.bytes, isComplete },
    };
    const artifacts = result.inputs.map(({ input }) => ({ location: this.#location(input) }));
    return `\n],"artifacts":${safeJson(artifacts)},"invocations":[${safeJson(invocation)}]}]}\n`;
  }

  #result(
    { kind, level, text }: Verdict,
    { rule, events, ranges = [] }: Told,
    { input, line, digest }: Place,
  ): object {
    const bound = Object.entries(events);
    const logicalLocations = bound.map(([name, path]) => ({
      name,
      fullyQualifiedName: path,
      kind: 'element',
    }));
    // The same trace gives the same print wherever it is in the log.
    const print = [digest, rule, ...bound.map(([name, path]) => `${name}=${path}`)].join('/');
    return {
      ruleId: rule,
      ruleIndex: this.#numbers.get(rule) ?? -1,
      kind,
      level,
      message: { text },
      locations: [
        {
          physicalLocation: {
            artifactLocation: this.#location(input),
            ...(line === null ? {} : { region: { startLine: line } }),
          },
          ...(logicalLocations.length === 0 ? {} : { logicalLocations }),
        },
      ],
      partialFingerprints: { 'cordonTrace/v1': print },
      properties: { trace: placeOf(input, line), ranges },
    };
  }

  #location(input: Input): { readonly uri: string } {
    if (input.name === STANDARD_INPUT) return { uri: 'stdin' };
    const path = resolve(this.#options.folder, input.name);
    const below = relative(this.#options.folder, path);
    const isBelow = below !== '' && !isAbsolute(below) && below !== '..' && !below.startsWith(`..${sep}`);
    if (!isBelow) return { uri: pathToFileURL(path).href };
    return { uri: below.split(sep).map(encodeURIComponent).join('/') };
  }
}

/** How a result is shown. */
interface Verdict {
  readonly kind: 'fail' | 'open';
  readonly level: 'error' | 'warning' | 'note' | 'none';
  readonly text: string;
}

/** What a violation and an undecided assignment have alike. */
interface Told {
  readonly rule: string;
  readonly events: Readonly<Record<string, string>>;
  readonly ranges?: readonly string[];
}

interface Place {
  readonly input: Input;
  readonly line: number | null;
  readonly digest: string;
}

function ruleDescriptor(rule: Policy['rules'][number]): object {
  const { text, file } = rule.source;
  const start = startOf(text, rule.span.start);
  const source = text.slice(start, rule.span.end).trim().slice(0, MOST_HELP);
  const about = `${commentBefore(text, start)}\n\n${source}`.trim();
  const { line } = rule.source.range({ start, end: start });
  return {
    id: rule.id,
    shortDescription: { text: rule.staticMessage === '' ? rule.id : rule.staticMessage },
    help: { text: about, markdown: `\`\`\`\n${about.replaceAll('```', "'''")}\n\`\`\`` },
    defaultConfiguration: { level: LEVELS[rule.effect] },
    properties: { effect: rule.effect, policy: file, line },
  };
}

/** A name stands before the rule. */
function startOf(text: string, at: number): number {
  const head = text.slice(Math.max(0, at - MOST_HELP), at);
  const name = /(?:^|\n)([ \t]*rule [^\n]*\n\s*)$/.exec(head)?.[1] ?? '';
  return at - name.length;
}

/** The lines of comment that stand directly before a place. */
function commentBefore(text: string, at: number): string {
  const lines = text
    .slice(Math.max(0, at - MOST_HELP), at)
    .split('\n')
    .slice(0, -1);
  const comment: string[] = [];
  for (const line of lines.reverse()) {
    if (!line.trim().startsWith('#')) break;
    comment.unshift(line.trim().replace(/^#\s?/, ''));
  }
  return comment.join('\n');
}
