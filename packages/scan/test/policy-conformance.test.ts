/**
 * The conformance cases of `conformance/policy` against the commands: all of them through what `cordon analyze` is made
 * of, and some of them, a different choice each time, through the real program (all with CORDON_CASES=all).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnostic } from '@cordon/core';
import { analyzeEvents, decodeChat } from '@cordon/policy-tools';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import {
  compareAnalysis,
  compareChecked,
  compareDiagnostics,
  conformanceCases,
  type FoundAnalysis,
  type FoundDiagnostic,
  type LocatedCase,
  policyText,
  sampleOf,
} from '../../../conformance/harness.ts';
import { isLeftOut, runs } from '../../../tools/cases.ts';
import { SEED } from '../../../tools/seed.ts';
import { DIALECTS, readPolicyFiles } from '../src/policies/policy-files.ts';
import { analysisLine } from '../src/traces/findings.ts';
import { tracesOf } from '../src/traces/trace-input.ts';

/** Commands read more than the language needs: one message as a trace of one, and sound. */
const READ_BY_COMMANDS: ReadonlySet<string> = new Set(['a trace is a list', 'a chunk of audio is none']);
const ALL_CASES = conformanceCases().filter(({ name }) => !READ_BY_COMMANDS.has(name));
/** The language alone has no detectors; commands bring them. Of a trace without events commands say that it has none. */
const CASES = ALL_CASES.filter((one) => !warnsOfAbsence(one) && !isWithoutEvents(one));
/** A start of the program takes a tenth of a second and more. */
const STARTS = runs(4, 10, CASES.length);

test('what analyze is made of says what the cases say', () => {
  using place = new Workplace();
  for (const one of CASES) {
    const { dialect = 'cordon', parameters = {}, trace = [], expect } = one;
    const file = place.write('policy.gr', policyText(one));
    const policies = readPolicyFiles([file], dialect);
    const diagnostics = policies.ok ? policies.value.policy.warnings : policies.fault;
    told(one, () => compareDiagnostics(expect, diagnostics.map(found)));
    if (!policies.ok || 'diagnostics' in expect || 'decision' in expect) continue;
    const format = 'fault' in expect ? 'openai-chat' : undefined;
    const [read] = tracesOf('trace.json', JSON.stringify(trace), { format, dialect });
    assert.ok(read !== undefined);
    if ('fault' in expect) {
      told(one, () => assert.equal(read.ok ? null : (read.fault.path ?? ''), expect.fault.path));
      continue;
    }
    told(one, () => {
      assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.fault));
      const analysis = analyzeEvents(policies.value.policy, read.value.events, parameters);
      compareAnalysis(expect, analysisIn([...analysisLine('trace.json', analysis)].join('')));
    });
  }
});

test('check says what the cases say, all at once', (t) => {
  if (isLeftOut(t)) return;
  for (const dialect of DIALECTS) {
    const cases = CASES.filter((one) => (one.dialect ?? 'cordon') === dialect);
    using place = new Workplace(
      Object.fromEntries(cases.map((one, index) => [`${index}.gr`, policyText(one)])),
    );
    const files = cases.map((_, index) => `${index}.gr`);
    const { code, out } = place.run(['check', ...files, '--dialect', dialect, '--json']);
    assert.equal(code, 2);
    const { diagnostics }: { readonly diagnostics: readonly CheckedDiagnostic[] } = JSON.parse(out);
    const byFile = Map.groupBy(diagnostics, ({ file }) => file);
    for (const [index, one] of cases.entries())
      told(one, () => compareChecked(one.expect, byFile.get(`${index}.gr`) ?? []));
  }
});

function isWithoutEvents({ trace = [], expect }: LocatedCase): boolean {
  if ('diagnostics' in expect || 'decision' in expect) return false;
  const events = decodeChat(trace);
  return events.ok && events.value.length === 0;
}

interface CheckedDiagnostic extends FoundDiagnostic {
  readonly file: string;
}

test('the program says what the cases say', (context) => {
  if (isLeftOut(context)) return;
  context.diagnostic(`CORDON_SEED=${SEED}`);
  // `data` is no name for a parameter on the command line (analyze.test.ts).
  const analysed = CASES.filter(
    ({ expect, parameters = {} }) => !('decision' in expect || Object.hasOwn(parameters, 'data')),
  );
  for (const one of sampleOf(analysed, STARTS, SEED)) {
    const { dialect = 'cordon', parameters = {}, trace = [], expect } = one;
    using place = new Workplace({
      'policy.gr': policyText(one),
      'trace.json': trace,
      'parameters.json': parameters,
    });
    const options = ['--dialect', dialect, '--params', 'parameters.json', '--json'];
    const format = 'fault' in expect ? ['--format', 'openai-chat'] : [];
    const { code, out, err } = place.run(['analyze', 'policy.gr', 'trace.json', ...options, ...format]);
    told(one, () => {
      if (!('errors' in expect)) {
        assert.equal(code, 2);
        // Of a log that cannot be used it is said that nothing was read; of a policy, nothing.
        if ('fault' in expect)
          assert.match(out, /^\{"kind":"analyze\.result",.*"traces":0,"unusable":1,.*\}\n$/);
        else assert.equal(out, '');
        for (const { code: diagnostic, line, column } of 'diagnostics' in expect ? expect.diagnostics : [])
          assert.match(err, new RegExp(`policy\\.gr:${line}:${column}[^\\n]*${diagnostic}`));
        return;
      }
      compareAnalysis(expect, analysisIn(out));
      assert.equal(code, expect.errors.length > 0 ? 1 : 0);
    });
  }
});

test('a detector that the language alone does not have is there in the commands', () => {
  using place = new Workplace();
  const without = ALL_CASES.filter(warnsOfAbsence);
  assert.ok(without.length > 0);
  for (const one of without) {
    const policies = readPolicyFiles([place.write('policy.gr', policyText(one))], one.dialect ?? 'cordon');
    told(one, () => {
      assert.ok(policies.ok);
      assert.deepEqual(policies.value.policy.warnings.filter(isAbsence), []);
    });
  }
});

function warnsOfAbsence({ expect }: LocatedCase): boolean {
  return 'warnings' in expect && (expect.warnings ?? []).some(isAbsence);
}

function isAbsence({ code }: { readonly code: string }): boolean {
  return code === 'POL055';
}

/** A failure says which case it is about. */
function told(one: LocatedCase, compare: () => void): void {
  try {
    compare();
  } catch (error) {
    throw new Error(`${one.file}: ${one.name}`, { cause: error });
  }
}

/** The line of one trace, before the one that says what was read; a violation says its effect only if it is no `raise`. */
function analysisIn(text: string): FoundAnalysis {
  const [first = ''] = text.split('\n');
  const line: FoundAnalysis = JSON.parse(first);
  return { ...line, errors: line.errors.map((error) => ({ effect: 'raise', ...error })) };
}

function found({ code, severity, range }: Diagnostic): FoundDiagnostic {
  return { code, severity, ...(range ?? { line: 0, column: 0, endLine: 0, endColumn: 0 }) };
}
