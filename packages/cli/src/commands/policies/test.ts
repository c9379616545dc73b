/** `cordon test`: runs the unit tests of policies, and names the rules that no test hits. */
import { counted, Drawing } from '@cordon/print';
import { type AskingOptions, answerersAskedFor } from '../../context/answerers-asked-for.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { readTestFile, type TestFile } from '../../unit-test/test-file.ts';
import { findTestFiles } from '../../unit-test/test-files.ts';
import { type CaseResult, RuleHits, runCase } from '../../unit-test/test-run.ts';

export interface TestOptions extends Pick<AskingOptions, 'detectors'> {
  /** A rule that no test hits is a failure. */
  readonly requireHits?: boolean;
}

const WHERE = 'write one beside its policy: `mail.test.json` for `mail.gr`';

/** 0: all passed; 1: a test failed, or a rule was not hit that must be; 2: a test, policy or trace that cannot be used. */
export async function test(
  context: CommandContext,
  named: readonly string[],
  options: TestOptions,
): Promise<ExitCode> {
  const files = findTestFiles(named.length === 0 ? ['.'] : named);
  if (files.length === 0)
    return context.noteFault({ kind: 'usage', message: 'no unit tests found', help: WHERE });
  const asked = await answerersAskedFor(context, options);
  if (asked === null) return EXIT.failed;
  const report = new Report(context);
  const hits = new RuleHits();
  for (const file of files) {
    const read = readTestFile(file, asked?.asking);
    if (!read.ok) {
      report.unusableFiles++;
      context.noteDiagnostics(read.fault);
      continue;
    }
    report.file(read.value);
    for (const one of read.value.cases) {
      const result = await runCase(read.value, one, hits, asked);
      if (result.ok) report.case(read.value, result.value);
      else {
        report.unusableCases++;
        context.noteDiagnostics([result.fault]);
      }
    }
  }
  report.rules(hits, options.requireHits === true);
  report.summary();
  if (report.unusable > 0) return EXIT.failed;
  return report.failed + report.unhit > 0 ? EXIT.refused : EXIT.done;
}

class Report {
  failed = 0;
  unusableFiles = 0;
  unusableCases = 0;
  /** Rules that no test hits, where that is a failure. */
  unhit = 0;
  #passed = 0;
  readonly #context: CommandContext;
  readonly #drawing: Drawing;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#drawing = new Drawing(context.output, context.hasUnicode);
  }

  get unusable(): number {
    return this.unusableFiles + this.unusableCases;
  }

  file({ file, policies }: TestFile): void {
    this.#context.noteDiagnostics(policies.policy.warnings);
    if (!this.#context.wantsJson) this.#drawing.say('', file, 'bold');
  }

  case({ file }: TestFile, { name, line, differences }: CaseResult): void {
    const passed = differences.length === 0;
    if (passed) this.#passed++;
    else this.failed++;
    if (this.#context.wantsJson) {
      this.#context.json({ kind: 'case', file, case: name, line, passed, differences });
      return;
    }
    const { marks } = this.#drawing;
    if (passed) return this.#drawing.say(`  ${marks.good} `, name, 'good', 2);
    this.#drawing.say(`  ${marks.bad} `, `${name} (${file}:${line})`, 'bad', 3);
    for (const { expected, found } of differences) {
      this.#drawing.say('      expected  ', expected, 'plain', 6);
      this.#drawing.say('      found     ', found, 'plain', 12);
    }
  }

  rules(hits: RuleHits, isRequired: boolean): void {
    for (const { file, rules, never } of hits.files()) {
      if (isRequired) this.unhit += never.length;
      if (this.#context.wantsJson) {
        this.#context.json({ kind: 'rules', policy: file, rules, neverHit: never });
        continue;
      }
      for (const { id, line } of never) {
        const mark = this.#drawing.marks[isRequired ? 'bad' : 'warning'];
        this.#drawing.say(`${mark} `, `${file}:${line}: no test hits ${id}`, isRequired ? 'bad' : 'warn', 3);
      }
    }
  }

  summary(): void {
    const { failed, unusable, unusableFiles, unusableCases, unhit } = this;
    const passed = this.#passed;
    if (this.#context.wantsJson) return this.#context.json({ kind: 'summary', passed, failed, unusable });
    const missed = unhit === 0 ? '' : `, ${counted(unhit, 'rule')} without a hit`;
    const unused = [counted(unusableCases, 'test'), counted(unusableFiles, 'file')].filter(
      (words) => !words.startsWith('0 '),
    );
    const broken = unusable === 0 ? '' : `; ${unused.join(' and ')} cannot be used`;
    const words = `${counted(passed, 'test')} passed, ${failed} failed${missed}${broken}`;
    this.#drawing.say('', words, failed + unusable + unhit > 0 ? 'bad' : 'good');
  }
}
