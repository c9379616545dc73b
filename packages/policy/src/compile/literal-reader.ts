/** Reads from a line which literals a text must hold for the line to hold. */

import { type Alternatives, anchorsOf } from '@cordon/regex';
import type { Names } from '../check/scope.ts';
import { RequiredLiterals } from '../evaluate/required-literals.ts';
import type { Call, Declaration, Expression } from '../syntax/ast.ts';
import type { PatternCache } from '../values/pattern-cache.ts';
import { callsBuiltin, MAX_DEPTH, predicateOfOne } from './calls.ts';
import { variableName } from './variable-dependencies.ts';

/** What the lines of a body are read with. */
export interface ReadingContext {
  readonly names: Names;
  readonly patterns: PatternCache;
}

/** What a line is about: a variable or parameter, and the kind of value that it is bound to. */
interface Subject {
  readonly name: string;
  readonly kind: 'message' | 'output' | 'text';
  /** Names that variables and parameters have here, whatever is defined under them elsewhere. */
  readonly isLocal: (name: string) => boolean;
}

/** Lines in lines: deeper ones ask nothing. */
const MAX_NESTED = 24;

/** What a line asks of the texts of the one variable that it needs: all of it must be met. Empty: nothing is known. */
export function literalsOf(
  line: Expression,
  about: Declaration | undefined,
  declarations: readonly Declaration[],
  isLocal: (name: string) => boolean,
  context: ReadingContext,
): readonly RequiredLiterals[] {
  const kind = about === undefined ? null : kindOfSubject(about, declarations);
  if (about === undefined || kind === null) return NOTHING;
  return new LiteralReader(context, { name: about.variable.name, kind, isLocal }, 0).line(line, 0);
}

const NOTHING: readonly RequiredLiterals[] = [];
/** The empty one occurs in each. */
const ANY_TEXT: readonly Alternatives[] = [['']];

function kindOfSubject(about: Declaration, declarations: readonly Declaration[]): Subject['kind'] | null {
  const type = about.type.name;
  if (about.within === null) return type === 'Message' ? 'message' : type === 'ToolOutput' ? 'output' : null;
  return type === 'str' && isPartOfCall(about.within, declarations) ? 'text' : null;
}

/** `c.arguments` of a call, or a part of them by name would be undecided where it is missing: only the whole. */
function isPartOfCall(within: Expression, declarations: readonly Declaration[]): boolean {
  if (within.kind !== 'member' || within.name.name !== 'arguments') return false;
  const { object } = within;
  const isTarget = object.kind === 'member' && object.name.name === 'function';
  const owner = isTarget ? object.object : object;
  return (
    owner.kind === 'name' &&
    declarations.some(
      ({ variable, type, within: outer }) =>
        variable.name === owner.name && type.name === 'ToolCall' && outer === null,
    )
  );
}

class LiteralReader {
  readonly #context: ReadingContext;
  readonly #subject: Subject;
  readonly #depth: number;

  constructor(context: ReadingContext, subject: Subject, depth: number) {
    this.#context = context;
    this.#subject = subject;
    this.#depth = depth;
  }

  line(line: Expression, nested: number): readonly RequiredLiterals[] {
    if (nested > MAX_NESTED) return NOTHING;
    if (line.kind === 'logic') {
      const [left, right] = [this.line(line.left, nested + 1), this.line(line.right, nested + 1)];
      return line.operator === 'and' ? [...left, ...right] : eitherOf(left[0], right[0]);
    }
    if (line.kind === 'binary' && line.operator === 'in') return this.#member(line.left, line.right);
    if (line.kind === 'binary' && line.operator === 'is not') return this.#present(line.left, line.right);
    if (line.kind === 'binary' && line.operator === '>' && isZero(line.right)) {
      const counted = this.#argumentOf(line.left, 'len');
      return counted === null ? NOTHING : this.#found(counted);
    }
    if (line.kind !== 'call') return NOTHING;
    const items = this.#argumentOf(line, 'any');
    if (items === null) return this.#predicate(line);
    return items.kind === 'comprehension' ? this.#inAny(items, nested) : this.#found(items);
  }

  /** `"…" in x.content`. */
  #member(left: Expression, right: Expression): readonly RequiredLiterals[] {
    const text = left.kind === 'literal' ? left.value : null;
    if (typeof text !== 'string' || text === '' || !this.#isSubject(right)) return NOTHING;
    return [new RequiredLiterals(() => [anchorsOf([text])], null)];
  }

  /** `x.content is not None`: any text will do. */
  #present(left: Expression, right: Expression): readonly RequiredLiterals[] {
    const isPresent = right.kind === 'literal' && right.value === null && this.#isSubject(left);
    return isPresent && this.#subject.kind !== 'text'
      ? [new RequiredLiterals(() => ANY_TEXT, null)]
      : NOTHING;
  }

  /** `any([any(find("…", part)) for part in text(x)])`: each part is a text, and no other is looked at. */
  #inAny(
    { variable, iterable, element, condition }: Comprehension,
    nested: number,
  ): readonly RequiredLiterals[] {
    const of = this.#argumentOf(iterable, 'text');
    const { name, kind, isLocal } = this.#subject;
    if (of?.kind !== 'name' || of.name !== name || kind === 'text' || condition !== null) return NOTHING;
    const isInner = (inner: string): boolean => inner === variable.name || isLocal(inner);
    const subject: Subject = { name: variable.name, kind: 'text', isLocal: isInner };
    return new LiteralReader(this.#context, subject, this.#depth).line(element, nested + 1);
  }

  /** `find("…", text)`. */
  #found(call: Expression): readonly RequiredLiterals[] {
    if (call.kind !== 'call' || !this.#calls(call, 'find', 2)) return NOTHING;
    const [pattern, text] = call.positional;
    const source = pattern === undefined ? null : this.#textOf(pattern);
    if (source === null || text === undefined || !this.#isSubject(text)) return NOTHING;
    const { patterns } = this.#context;
    const read = (): readonly Alternatives[] => {
      const compiled = patterns.compile(source);
      return compiled.ok ? compiled.value.required : [];
    };
    return [new RequiredLiterals(read, this.#undecidedWithout)];
  }

  get #undecidedWithout(): string | null {
    const { kind } = this.#subject;
    return kind === 'text' ? null : kind === 'message' ? 'Message' : 'ToolOutput';
  }

  /** A predicate of the subject alone asks what its lines ask. */
  #predicate(call: Call): readonly RequiredLiterals[] {
    const { name, kind, isLocal } = this.#subject;
    const called = this.#depth < MAX_DEPTH ? predicateOfOne(call, name, isLocal, this.#context.names) : null;
    if (called === null) return NOTHING;
    const subject: Subject = { name: called.parameter, kind, isLocal: called.isLocal };
    const reader = new LiteralReader(this.#context, subject, this.#depth + 1);
    return called.body.flatMap((line) => reader.line(line, 0));
  }

  /** The text that the line is about: `x.content`, or a variable that is a text itself. */
  #isSubject(text: Expression): boolean {
    const { kind, name } = this.#subject;
    if (kind === 'text') return text.kind === 'name' && text.name === name;
    return text.kind === 'member' && text.name.name === 'content' && variableName(text.object) === name;
  }

  #argumentOf(call: Expression, name: string): Expression | null {
    return call.kind === 'call' && this.#calls(call, name, 1) ? (call.positional[0] ?? null) : null;
  }

  #calls(call: Call, name: string, count: number): boolean {
    return callsBuiltin(call, name, count, this.#subject.isLocal, this.#context.names);
  }

  /** A text, or the constant that stands for one. */
  #textOf(expression: Expression): string | null {
    if (expression.kind === 'literal') return typeof expression.value === 'string' ? expression.value : null;
    if (expression.kind !== 'name' || this.#subject.isLocal(expression.name)) return null;
    const value = this.#context.names.constant(expression.name);
    return value?.kind === 'literal' && typeof value.value === 'string' ? value.value : null;
  }
}

type Comprehension = Extract<Expression, { kind: 'comprehension' }>;

function isZero(expression: Expression): boolean {
  return expression.kind === 'literal' && expression.value === 0;
}

/** One side of `or` holds: one of the texts of the left occurs, or one of the right. */
function eitherOf(
  left: RequiredLiterals | undefined,
  right: RequiredLiterals | undefined,
): readonly RequiredLiterals[] {
  if (left === undefined || right === undefined) return NOTHING;
  const read = (): readonly Alternatives[] => {
    const [first] = left.alternatives;
    const [second] = right.alternatives;
    return first === undefined || second === undefined ? [] : [[...first, ...second]];
  };
  return [new RequiredLiterals(read, left.undecidedWithout ?? right.undecidedWithout)];
}
