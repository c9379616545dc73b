/** Code detectors as rules call them: objects with what was read, and `findings` for the dangerous constructs. */
import type { Json } from '@cordon/core';
import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { type Construct, LONGEST_CODE } from './construct.ts';
import { javascriptCode } from './javascript/javascript.ts';
import { type PythonOptions, pythonCode } from './python/python.ts';
import { issuesIn } from './semgrep.ts';
import { isTooMuchShell, shellCode } from './shell/shell.ts';
import { isSqlDialect, sqlCode } from './sql/sql.ts';

/** What a rule gets of every language. */
interface Read {
  readonly syntaxError: string | null;
  readonly constructs: readonly Construct[];
}

/** `python_code(data, ipython_mode=False, threshold=0.5)` */
export function python(call: DetectorCall): Json | NoAnswer {
  return pythonOf(call, { isNotebook: call.given.ipython_mode === true });
}

/** `ipython_code(data, threshold=0.5)` */
export function ipython(call: DetectorCall): Json | NoAnswer {
  return pythonOf(call, { isNotebook: true });
}

function pythonOf(call: DetectorCall, options: PythonOptions): Json | NoAnswer {
  return answered(
    call,
    (text) => pythonCode(text, options),
    (all) => ({
      imports: distinct(all.flatMap(({ imports }) => imports)),
      builtins: distinct(all.flatMap(({ builtins }) => builtins)),
      function_calls: distinct(all.flatMap(({ functionCalls }) => functionCalls)),
    }),
  );
}

/** `javascript_code(data, threshold=0.5)` */
export function javascript(call: DetectorCall): Json | NoAnswer {
  return answered(call, javascriptCode, (all) => ({
    imports: distinct(all.flatMap(({ imports }) => imports)),
    function_calls: distinct(all.flatMap(({ functionCalls }) => functionCalls)),
  }));
}

/** `shell_code(data, threshold=0.5)` */
export function shell(call: DetectorCall): Json | NoAnswer {
  if (call.texts.some(isTooMuchShell)) return TOO_LONG;
  return answered(call, shellCode, (all) => ({
    commands: distinct(all.flatMap(({ commands }) => commands)),
  }));
}

/** `sql_code(data, dialect=None, threshold=0.5)`; `dialect`: "postgres", "mysql", "sqlite", "mssql", or all of them. */
export function sql(call: DetectorCall): Json | NoAnswer {
  const named = call.given.dialect ?? null;
  const dialect = typeof named === 'string' && isSqlDialect(named) ? named : null;
  if (named !== null && dialect === null)
    return noAnswer('the dialect is none of "postgres", "mysql", "sqlite", "mssql"');
  return answered(
    call,
    (text) => sqlCode(text, { dialect }),
    (all) => ({
      statements: all.flatMap(({ statements }) => statements),
      tables: distinct(all.flatMap(({ tables }) => tables)),
    }),
  );
}

/** `semgrep(data, lang)`: a list of issues with `description` and `severity`; `lang`: "python" or "bash". */
export function semgrep(call: DetectorCall): Json | NoAnswer {
  const { lang } = call.given;
  if (lang !== 'python' && lang !== 'bash')
    return noAnswer('`semgrep` knows the languages "python" and "bash"');
  const refused = refusalOf(call);
  if (refused !== null) return refused;
  if (lang === 'bash' && call.texts.some(isTooMuchShell)) return TOO_LONG;
  return call.texts.flatMap((text, index) => {
    const { constructs } = lang === 'python' ? pythonCode(text) : shellCode(text);
    return issuesIn(constructs).map(({ description, severity, start, end }) => {
      call.mark(index, start, end);
      return { description, severity };
    });
  });
}

const TOO_LONG = noAnswer('the text is too long to look at');

function refusalOf({ texts }: DetectorCall): NoAnswer | null {
  return texts.some((text) => text.length > LONGEST_CODE) ? TOO_LONG : null;
}

/** The language's own fields, and those of all: whether it parses, and what is dangerous in it. */
function answered<R extends Read>(
  call: DetectorCall,
  read: (text: string) => R,
  fields: (all: readonly R[]) => { readonly [field: string]: Json },
): Json | NoAnswer {
  const { threshold = 0.5 } = call.given;
  if (typeof threshold !== 'number') return noAnswer('the threshold is no number');
  const refused = refusalOf(call);
  if (refused !== null) return refused;
  const all = call.texts.map(read);
  const wrong = all.flatMap(({ syntaxError }) => (syntaxError === null ? [] : [syntaxError]));
  const findings = all.flatMap(({ constructs }, index) =>
    constructs
      .filter(({ confidence }) => confidence >= threshold)
      .map(({ kind, confidence, reason, start, end }) => {
        call.mark(index, start, end);
        return { kind, confidence, reason };
      }),
  );
  return {
    ...fields(all),
    syntax_error: wrong.length > 0,
    syntax_error_exception: wrong[0] ?? null,
    dangerous: distinct(findings.map(({ kind }) => kind)),
    findings,
  };
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
