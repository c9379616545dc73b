/**
 * Syntax tree to text, in the canonical form that `format` gives to a file: the inverse of `parse`.
 *
 * INVARIANT (printed text reads back): for every tree that `parse` gives without an error, `parse(print(tree))` is that
 * tree but for the spans. A tree that no text stands for (a block inside of brackets, a string that no quotes can hold)
 * is printed as nearly as possible.
 *
 * No decision depends on it.
 */
import {
  type BinaryOperator,
  type Call,
  type Definition,
  dedent,
  type Expression,
  type Import,
  type Parameter,
  type Pattern,
  type PolicyTree,
  parseText,
  type RuleTree,
} from '@cordon/policy';
import { canonicalText, isSameTree } from './formatter.ts';

/** The whole policy: imports first, then definitions and rules in the order of their spans. Throws for no tree of `parse`. */
export function print(tree: PolicyTree): string {
  const statements = [
    ...tree.definitions.map((definition) => ({ kind: 'definition' as const, node: definition })),
    ...tree.rules.map((rule) => ({ kind: 'rule' as const, node: rule })),
  ].toSorted((a, b) => a.node.start - b.node.start);
  const texts = [...importLines(tree.imports)];
  for (const [index, { kind, node }] of statements.entries()) {
    if (kind === 'rule') {
      texts.push(`\n${rule(node)}\n`);
      continue;
    }
    const next = statements[index + 1];
    texts.push(definition(node, next?.kind === 'definition' ? next.node.name.name : null));
  }
  return canonicalText(texts.map((text) => `${text}\n`).join(''));
}

/** One expression, e.g. to show it in a report, on one line unless it holds a block. Throws for no tree of `parse`. */
export function printExpression(expression: Expression): string {
  return new Lines(0).line(expression);
}

function* importLines(imports: readonly Import[]): Generator<string, void> {
  let open: { module: string; names: string[] } | null = null;
  for (const { module, name, alias } of imports) {
    if (open !== null && (name === null || open.module !== module)) {
      yield `from ${open.module} import ${open.names.join(', ')}`;
      open = null;
    }
    if (name === null) {
      yield `import ${module}${alias === module ? '' : ` as ${alias}`}`;
      continue;
    }
    open ??= { module, names: [] };
    open.names.push(alias === name ? name : `${name} as ${alias}`);
  }
  if (open !== null) yield `from ${open.module} import ${open.names.join(', ')}`;
}

function rule({ name, effect, message, whenUndecided, body }: RuleTree): string {
  const title = name === null ? '' : `rule ${name.name}:\n`;
  const undecided = whenUndecided === 'allow' ? ' (undecided: allow)' : '';
  return `${title}${effect} ${new Lines(0).message(message)} if${undecided}:${new Lines(0).block(body)}`;
}

function definition({ name, parameters, body }: Definition, nextName: string | null): string {
  const head = `${name.name}${parameters === null ? '' : `(${parameters.map(parameter).join(', ')})`} :=`;
  const [line] = body;
  // A line that begins with `and` would continue the one before it, also if it defines a name that is spelt so.
  const isContinued = nextName === 'and' || nextName === 'or';
  const isBlock = body.length !== 1 || line === undefined || line.kind === 'assignment' || isContinued;
  if (isBlock || hasBlock(line)) return `\n${head}${new Lines(0).block(body)}\n`;
  return `${head} ${new Lines(0).line(line)}`;
}

function parameter({ name, type }: Parameter): string {
  return type === null ? name : `${name}: ${type}`;
}

/** From loose to tight, as the parser's methods call each other (specification 2.6). */
const LEVEL = {
  line: -1,
  choice: 0,
  logic: 1,
  comparison: 2,
  sum: 3,
  product: 4,
  power: 5,
  unary: 6,
  postfix: 7,
  atom: 8,
} as const;

type Level = number;

/** All other operators compare. */
const ARITHMETIC: Readonly<Partial<Record<BinaryOperator, Level>>> = {
  '+': LEVEL.sum,
  '-': LEVEL.sum,
  '*': LEVEL.product,
  '/': LEVEL.product,
  '%': LEVEL.product,
  '**': LEVEL.power,
};

function levelOfOperator(operator: BinaryOperator): Level {
  return ARITHMETIC[operator] ?? LEVEL.comparison;
}

/** Names that mean something else where an expression may begin or continue; in parentheses they are names. */
const WORDS: ReadonlySet<string> = new Set([
  ...['and', 'or', 'not', 'is', 'in', 'contains_only'],
  ...['if', 'else', 'for', 'import', 'from'],
]);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What stands behind `tool:` without quotes. */
const TOOL_NAME = /^[A-Za-z_*][A-Za-z0-9_.\-/*]*$/;

type Quote = '"' | "'";

/** Prints the lines of a block, or one line; `depth` is how deep the block is in which they stand. */
class Lines {
  readonly #depth: number;
  /** Inside of a hole of an f-string: the quote that would end it. */
  readonly #forbidden: Quote | null;

  constructor(depth: number, forbidden: Quote | null = null) {
    this.#depth = depth;
    this.#forbidden = forbidden;
  }

  block(body: readonly Expression[]): string {
    const inner = new Lines(this.#depth + 1);
    return body.map((line) => `${inner.#newline()}${inner.line(line)}`).join('');
  }

  line(expression: Expression): string {
    if (expression.kind !== 'assignment') return this.#at(LEVEL.choice, expression);
    return `${expression.variable.name} := ${this.#at(LEVEL.choice, expression.value)}`;
  }

  /** Of a rule: begins with a string or a name, whatever the name is. */
  message(expression: Expression): string {
    switch (expression.kind) {
      case 'name':
        return expression.name;
      case 'member':
        return `${this.message(expression.object)}.${expression.name.name}`;
      case 'index':
        return `${this.message(expression.object)}[${this.#at(LEVEL.choice, expression.index)}]`;
      case 'call':
        return `${this.message(expression.callee)}(${this.#arguments(expression)})`;
      default:
        return this.#at(LEVEL.postfix, expression);
    }
  }

  #newline(): string {
    return `\n${'    '.repeat(this.#depth)}`;
  }

  /** In parentheses if it groups more loosely than its place asks for. */
  #at(least: Level, expression: Expression): string {
    const text = this.#text(expression);
    return levelOf(expression) >= least ? text : this.#parenthesized(expression, text);
  }

  #parenthesized(expression: Expression, text = this.#text(expression)): string {
    // No bracket can hold a block.
    return hasBlock(expression) ? text : `(${text})`;
  }

  #text(expression: Expression): string {
    switch (expression.kind) {
      case 'literal':
        return this.#literal(expression.value);
      case 'format':
        return this.#format(expression);
      case 'name':
        return WORDS.has(expression.name) ? `(${expression.name})` : expression.name;
      case 'member':
        return `${this.#object(expression.object)}.${expression.name.name}`;
      case 'index':
        return `${this.#object(expression.object)}[${this.#at(LEVEL.choice, expression.index)}]`;
      case 'call':
        return `${this.#object(expression.callee)}(${this.#arguments(expression)})`;
      case 'binary':
        return this.#binary(expression);
      case 'logic': {
        const left = this.#isMixed(expression)
          ? this.#parenthesized(expression.left)
          : this.#at(LEVEL.logic, expression.left);
        const right = this.#at(LEVEL.comparison, expression.right);
        return `${left}${this.#gapAfter(expression.left)}${expression.operator} ${right}`;
      }
      case 'unary': {
        const operand = this.#at(LEVEL.unary, expression.operand);
        return expression.operator === 'not' ? `not ${operand}` : `${expression.operator}${operand}`;
      }
      case 'ternary':
        return this.#ternary(expression);
      case 'list':
        return `[${expression.items.map((item) => this.#at(LEVEL.choice, item)).join(', ')}]`;
      case 'object':
        return `{${expression.entries
          .map(({ key, value }) => `${this.#key(key)}: ${this.#at(LEVEL.choice, value)}`)
          .join(', ')}}`;
      case 'comprehension': {
        const element = this.#at(LEVEL.choice, expression.element);
        const iterable = this.#at(LEVEL.logic, expression.iterable);
        const { condition } = expression;
        const filter = condition === null ? '' : ` if ${this.#at(LEVEL.choice, condition)}`;
        return `[${element} for ${expression.variable.name} in ${iterable}${filter}]`;
      }
      case 'declaration': {
        const declared = `(${expression.variable.name}: ${expression.type.name})`;
        return expression.within === null
          ? declared
          : `${declared} in ${this.#at(LEVEL.sum, expression.within)}`;
      }
      case 'assignment':
        return this.line(expression);
      case 'tool-pattern':
        return this.#toolPattern(expression);
      case 'quantifier': {
        const { callee, positional, named } = expression;
        const hasArguments = positional.length > 0 || named.length > 0;
        const given = hasArguments ? `(${this.#arguments(expression)})` : '';
        return `${callee.name}${given}:${this.block(expression.body)}`;
      }
      case 'invalid':
        return 'None';
    }
  }

  /** Where a line continues behind a block, it continues below it. */
  #gapAfter(expression: Expression): string {
    return endsInBlock(expression) ? this.#newline() : ' ';
  }

  /** `and` and `or` bind equally; a reader should not have to know. */
  #isMixed({ left, operator }: Expression & { kind: 'logic' }): boolean {
    return left.kind === 'logic' && left.operator !== operator;
  }

  #binary(expression: Expression & { kind: 'binary' }): string {
    const { operator, left, right } = expression;
    const level = levelOfOperator(operator);
    // `not a == b` is `(not a) == b`, which few expect.
    const isMisleading = level === LEVEL.comparison && left.kind === 'unary' && left.operator === 'not';
    const before = isMisleading ? this.#parenthesized(left) : this.#at(level, left);
    // All operators group from the left.
    const after = this.#at(level + 1, right);
    // `a is not b` is another operator.
    const shown = operator === 'is' && after.startsWith('not ') ? this.#parenthesized(right) : after;
    return `${before}${this.#gapAfter(left)}${operator} ${shown}`;
  }

  /** Other readers of the language let the parts of a ternary end early, so those that are operations are bracketed. */
  #ternary({ condition, then, otherwise }: Expression & { kind: 'ternary' }): string {
    const first = isOperation(then) ? this.#parenthesized(then) : this.#at(LEVEL.logic, then);
    const second = this.#at(LEVEL.logic, condition);
    const third = isOperation(otherwise) ? this.#parenthesized(otherwise) : this.#at(LEVEL.choice, otherwise);
    return `${first} if ${second} else ${third}`;
  }

  /** What a `.`, `[` or `(` may follow. */
  #object(expression: Expression): string {
    if (expression.kind === 'literal' && typeof expression.value === 'number')
      return `(${this.#text(expression)})`;
    if (expression.kind !== 'tool-pattern') return this.#at(LEVEL.postfix, expression);
    // `(tool:Mail)` would declare a variable named `tool`.
    const { arguments: pattern, tool } = expression;
    return pattern === null ? `(tool:${this.#quoted(tool.name)})` : `(${this.#text(expression)})`;
  }

  #arguments({ positional, named }: Pick<Call, 'positional' | 'named'>): string {
    const unnamed = positional.map((value) => this.#at(LEVEL.choice, value));
    const withNames = named.map(({ name, value }) => `${name.name}=${this.#at(LEVEL.choice, value)}`);
    return [...unnamed, ...withNames].join(', ');
  }

  #toolPattern({ tool, arguments: pattern }: Expression & { kind: 'tool-pattern' }): string {
    const name = TOOL_NAME.test(tool.name) ? tool.name : this.#quoted(tool.name);
    return `tool:${name}${pattern === null ? '' : `(${this.#pattern(pattern)})`}`;
  }

  #pattern(pattern: Pattern): string {
    switch (pattern.kind) {
      case 'any':
        return '*';
      case 'value-reference':
        return `<${pattern.name}>`;
      case 'object':
        return `{${pattern.entries
          .map(({ key, pattern: inner }) => `${this.#key(key)}: ${this.#pattern(inner)}`)
          .join(', ')}}`;
      case 'list':
        return `[${pattern.items.map((item) => this.#pattern(item)).join(', ')}]`;
      case 'value': {
        const text = this.#at(LEVEL.choice, pattern.value);
        // A value that begins with a bracket would be read as a pattern of that shape.
        return /^[[{]/.test(text) ? `(${text})` : text;
      }
    }
  }

  #key(key: string): string {
    return NAME.test(key) ? key : this.#quoted(key);
  }

  #literal(value: null | boolean | number | string): string {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    if (typeof value === 'string') return this.#quoted(value);
    // A number too large to be one is written so that it is again.
    return Number.isFinite(value) ? String(value) : '1e999';
  }

  #quoted(value: string): string {
    const quotes: readonly Quote[] = ['"', "'"];
    const allowed = quotes.filter((quote) => quote !== this.#forbidden);
    const single = allowed.map((quote) => inQuotes(value, quote)).find((text) => text !== null);
    const triple = allowed.map((quote) => inTripleQuotes(value, quote)).find((text) => text !== null);
    return single ?? triple ?? `"""${value}"""`;
  }

  /** The first kind of quotes in which it reads back: holes cannot hold the quote that surrounds them. */
  #format(expression: Expression & { kind: 'format' }): string {
    const forms = (['"', "'", '"""', "'''"] as const).filter((quotes) => quotes[0] !== this.#forbidden);
    const texts = forms.map((quotes) => this.#formatIn(quotes, expression));
    return texts.find((text) => readsAs(text, expression)) ?? texts[0] ?? '""';
  }

  #formatIn(quotes: '"' | "'" | '"""' | "'''", { parts }: Expression & { kind: 'format' }): string {
    const quote: Quote = quotes.startsWith('"') ? '"' : "'";
    const holes = new Lines(this.#depth, quote);
    const inner = parts.map((part) => {
      if (typeof part !== 'string') return `{${holes.#at(LEVEL.choice, part)}}`;
      const text = part.replaceAll('{', '{{').replaceAll('}', '}}');
      return quotes.length === 1 ? text.replaceAll(quote, `\\${quote}`) : text;
    });
    return `f${quotes}${inner.join('')}${quotes}`;
  }
}

function levelOf(expression: Expression): Level {
  switch (expression.kind) {
    case 'assignment':
      return LEVEL.line;
    case 'ternary':
      return LEVEL.choice;
    case 'logic':
      return LEVEL.logic;
    case 'binary':
      return levelOfOperator(expression.operator);
    case 'unary':
      return LEVEL.unary;
    case 'member':
    case 'index':
    case 'call':
    case 'quantifier':
      return LEVEL.postfix;
    case 'declaration':
      return expression.within === null ? LEVEL.atom : LEVEL.comparison;
    case 'literal':
      return typeof expression.value === 'number' && expression.value < 0 ? LEVEL.unary : LEVEL.atom;
    case 'format':
    case 'name':
    case 'list':
    case 'object':
    case 'comprehension':
    case 'tool-pattern':
    case 'invalid':
      return LEVEL.atom;
  }
}

function isOperation({ kind }: Expression): boolean {
  return kind === 'binary' || kind === 'logic' || kind === 'unary' || kind === 'ternary';
}

/** The parts that are in the line itself and not inside of another bracket. */
function openParts(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'binary':
    case 'logic':
      return [expression.left, expression.right];
    case 'unary':
      return [expression.operand];
    case 'ternary':
      return [expression.then, expression.condition, expression.otherwise];
    case 'assignment':
      return [expression.value];
    case 'declaration':
      return expression.within === null ? [] : [expression.within];
    default:
      return [];
  }
}

function hasBlock(expression: Expression): boolean {
  const left = [expression];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part.kind === 'quantifier') return true;
    left.push(...openParts(part));
  }
  return false;
}

function endsInBlock(expression: Expression): boolean {
  let last: Expression | undefined = expression;
  while (last !== undefined && last.kind !== 'quantifier') last = openParts(last).at(-1);
  return last !== undefined;
}

/** The string on one line; null: it cannot be written so, because no escape but that of the quote is processed. */
function inQuotes(value: string, quote: Quote): string | null {
  const content = value.replaceAll(quote, `\\${quote}`);
  return isClosedBy(content, quote) ? `${quote}${content}${quote}` : null;
}

/** Whether a quote behind `content` ends it, and none inside: a backslash takes the next character with it. */
function isClosedBy(content: string, quote: Quote): boolean {
  for (let at = 0; at < content.length; at++) {
    if (content[at] === '\n' || content[at] === quote) return false;
    if (content[at] === '\\' && content[at + 1] !== '\n') at++;
    if (at === content.length) return false;
  }
  return true;
}

/** In three quotes, where nothing is an escape and the common indentation goes. */
function inTripleQuotes(value: string, quote: Quote): string | null {
  const triple = quote.repeat(3);
  const isPossible = !value.includes(triple) && !value.endsWith(quote) && dedent(value) === value;
  return isPossible ? triple + value + triple : null;
}

function readsAs(text: string, expression: Expression): boolean {
  const { tree, diagnostics } = parseText(`x := ${text}\n`);
  const [read] = tree.definitions[0]?.body ?? [];
  return !diagnostics.hasErrors() && read !== undefined && isSameTree(read, expression);
}
