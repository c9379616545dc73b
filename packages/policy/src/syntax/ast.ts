/**
 * The syntax tree: what stands in the text, before any name is resolved. Plain frozen-by-type data; every node
 * has the span of the text that it came from. And which parts each expression has, for whoever walks it.
 */
import type { Span } from './source.ts';

export interface PolicyTree {
  readonly imports: readonly Import[];
  readonly definitions: readonly Definition[];
  readonly rules: readonly RuleTree[];
  /** What statements that could not be read may have named or used. */
  readonly unreadable?: ReadonlySet<string>;
}

export interface Import extends Span {
  readonly module: string;
  /** Null: the module itself, under `alias`. */
  readonly name: string | null;
  readonly alias: string;
}

/** A constant (no parameters) or a predicate. */
export interface Definition extends Span {
  readonly name: Identifier;
  /** Null: a constant. */
  readonly parameters: readonly Parameter[] | null;
  readonly body: readonly Expression[];
}

export interface Parameter extends Span {
  readonly name: string;
  /** Null: any value (an addition to the seed language). */
  readonly type: string | null;
}

export interface Identifier extends Span {
  readonly name: string;
}

/** What a rule does when its body holds: forbid, ask the user, or record. */
export type EffectWord = 'raise' | 'ask' | 'warn';

export interface RuleTree extends Span {
  readonly name: Identifier | null;
  readonly effect: EffectWord;
  readonly message: Expression;
  /** What enforcement makes of a body that cannot be evaluated. */
  readonly whenUndecided: 'deny' | 'allow';
  readonly body: readonly Expression[];
}

/** Between two events: `a` was visible where `b` arose, stands directly before it in its context, happened earlier in the session. */
export type OrderOperator = '->' | '~>' | 'before';

export type BinaryOperator =
  | OrderOperator
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | 'is'
  | 'is not'
  | 'in'
  | 'contains_only'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**';

export type Expression = Span &
  (
    | { readonly kind: 'literal'; readonly value: null | boolean | number | string }
    | { readonly kind: 'format'; readonly parts: readonly (string | Expression)[] }
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'member'; readonly object: Expression; readonly name: Identifier }
    | { readonly kind: 'index'; readonly object: Expression; readonly index: Expression }
    | Call
    | {
        readonly kind: 'binary';
        readonly operator: BinaryOperator;
        readonly left: Expression;
        readonly right: Expression;
      }
    | {
        readonly kind: 'logic';
        readonly operator: 'and' | 'or';
        readonly left: Expression;
        readonly right: Expression;
      }
    | { readonly kind: 'unary'; readonly operator: 'not' | '-' | '+'; readonly operand: Expression }
    | {
        readonly kind: 'ternary';
        readonly condition: Expression;
        readonly then: Expression;
        readonly otherwise: Expression;
      }
    | { readonly kind: 'list'; readonly items: readonly Expression[] }
    | {
        readonly kind: 'object';
        readonly entries: readonly { readonly key: string; readonly value: Expression }[];
      }
    | Comprehension
    | Declaration
    /** A line, or a condition in parentheses, which is true: `(x := 5) and x == y`. */
    | { readonly kind: 'assignment'; readonly variable: Identifier; readonly value: Expression }
    | ToolPattern
    | Quantifier
    | Unreadable
  );

/** What could not be parsed; reported already. Whatever stands in it is not reported a second time elsewhere. */
export interface Unreadable {
  readonly kind: 'invalid';
  /** Variables that it seems to declare; without a type: any. */
  readonly declared: readonly { readonly name: string; readonly type: string | null }[];
  /** Every name in it, but for fields. */
  readonly mentioned: readonly string[];
}

export interface Call {
  readonly kind: 'call';
  readonly callee: Expression;
  readonly positional: readonly Expression[];
  readonly named: readonly { readonly name: Identifier; readonly value: Expression }[];
}

export interface Comprehension {
  readonly kind: 'comprehension';
  readonly element: Expression;
  readonly variable: Identifier;
  readonly iterable: Expression;
  readonly condition: Expression | null;
}

/** `(x: T)`, ranging over the trace, or `(x: T) in within`, ranging over a value. */
export interface Declaration {
  readonly kind: 'declaration';
  readonly variable: Identifier;
  readonly type: Identifier;
  readonly within: Expression | null;
}

export interface ToolPattern {
  readonly kind: 'tool-pattern';
  /** May hold `*`, which stands for any characters. */
  readonly tool: Identifier;
  /** Null: any arguments. */
  readonly arguments: Pattern | null;
}

/** `forall:` or `count(min=…):` with a block. */
export interface Quantifier {
  readonly kind: 'quantifier';
  readonly callee: Identifier;
  readonly positional: readonly Expression[];
  readonly named: readonly { readonly name: Identifier; readonly value: Expression }[];
  readonly body: readonly Expression[];
}

export type Pattern = PatternOf<Expression, Span>;

/** A pattern of expressions, or of their values; `Place` is what else each part has. */
export type PatternOf<Value, Place = unknown> = Place &
  (
    | { readonly kind: 'any' }
    | { readonly kind: 'value-reference'; readonly name: string }
    | {
        readonly kind: 'object';
        readonly entries: readonly { readonly key: string; readonly pattern: PatternOf<Value, Place> }[];
      }
    | { readonly kind: 'list'; readonly items: readonly PatternOf<Value, Place>[] }
    /** Compared: a string also as a regular expression. */
    | { readonly kind: 'value'; readonly value: Value }
  );

/** The direct parts of an expression, without the blocks of quantifiers. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'name':
    case 'invalid':
      return [];
    case 'format':
      return expression.parts.filter((part) => typeof part !== 'string');
    case 'member':
      return [expression.object];
    case 'index':
      return [expression.object, expression.index];
    case 'call':
      return [
        expression.callee,
        ...expression.positional,
        ...expression.named.map((argument) => argument.value),
      ];
    case 'binary':
    case 'logic':
      return [expression.left, expression.right];
    case 'unary':
      return [expression.operand];
    case 'ternary':
      return [expression.condition, expression.then, expression.otherwise];
    case 'list':
      return expression.items;
    case 'object':
      return expression.entries.map((entry) => entry.value);
    case 'comprehension':
      return expression.condition === null
        ? [expression.iterable, expression.element]
        : [expression.iterable, expression.element, expression.condition];
    case 'declaration':
      return expression.within === null ? [] : [expression.within];
    case 'assignment':
      return [expression.value];
    case 'tool-pattern':
      return expression.arguments === null ? [] : patternValues(expression.arguments);
    case 'quantifier':
      return [...expression.positional, ...expression.named.map((argument) => argument.value)];
  }
}

/** The expressions inside a tool pattern. */
export function patternValues(pattern: Pattern): readonly Expression[] {
  switch (pattern.kind) {
    case 'any':
    case 'value-reference':
      return [];
    case 'object':
      return pattern.entries.flatMap((entry) => patternValues(entry.pattern));
    case 'list':
      return pattern.items.flatMap(patternValues);
    case 'value':
      return [pattern.value];
  }
}
