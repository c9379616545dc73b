/**
 * Tokens to syntax tree, by recursive descent after the precedence table of the specification (2.6) for lines of
 * any length. A line that does not parse is reported and skipped, so that one run reports all errors of a file.
 *
 * Never throws; nesting and length of expressions are bounded.
 */
import {
  type BinaryOperator,
  childrenOf,
  type Definition,
  type EffectWord,
  type Expression,
  type Identifier,
  type Import,
  type Parameter,
  type Pattern,
  type PolicyTree,
  type RuleTree,
  type Unreadable,
} from './ast.ts';
import { type Code, Diagnostics } from './codes.ts';
import { commonIndentation, lex, lexExpression } from './lexer.ts';
import { joinSpans, Source, type Span } from './source.ts';
import type { Operator, StringToken, Token } from './token.ts';

/** Brackets and blocks inside each other; beyond it the tree could exhaust the stack of whoever walks it. */
const MAX_NESTING = 100;
/** Operators, members and calls in one chain: left-nested in the tree, so they count like nesting. */
const MAX_CHAIN = 400;
/** Of a tree: chains inside of brackets inside of chains, each within its own limit, would multiply. */
const MAX_HEIGHT = 600;
/** UTF-16 units of one policy. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** A text, read: the tree, the tokens that it was made of, and what the parser took some of them for. */
export interface Reading {
  readonly tree: PolicyTree;
  readonly tokens: readonly Token[];
  readonly roles: ReadonlyMap<Token, Role>;
}

/**
 * What a token turned out to be, where the token alone does not say:
 * `continued`: a line end that does not end the line; `prefix`: `-` or `+` before its operand; `suffix`: the
 * bracket of a call, an index or a list of parameters; `glued`: belongs to the name before it (`tool:a-b`, also `tool`,
 * `:` and `a` themselves); `named`: the `=` of a named argument; `logic`, `choice`, `clause`: words before which a long
 * line is best broken, `and`/`or`, `if`/`else` of a ternary, `for`/`if` of a comprehension; `definition`, `rule-name`:
 * the mark behind what a definition or a rule is called.
 */
export type Role =
  | 'continued'
  | 'prefix'
  | 'suffix'
  | 'glued'
  | 'named'
  | 'logic'
  | 'choice'
  | 'clause'
  | 'definition'
  | 'rule-name';

/**
 * Reads a policy. The tree holds every statement that could be read, whatever the diagnostics say; tokens and roles are
 * what it leaves out, for whoever writes the text anew.
 */
export function parseTokens(source: Source, diagnostics: Diagnostics): Reading {
  if (source.text.length > MAX_LENGTH) {
    diagnostics.error('POL005', { start: 0, end: 0 }, `the policy is longer than ${MAX_LENGTH} characters`);
    return { tree: { imports: [], definitions: [], rules: [] }, tokens: [], roles: new Map() };
  }
  const tokens = lex(source.text, diagnostics);
  const roles = new Map<Token, Role>();
  return { tree: new Parser(source, tokens, diagnostics, roles).policy(), tokens, roles };
}

/** Thrown and caught inside this file only: leaves the line that cannot be read. No `Error`: stacks cost time. */
class UnreadableLine {}

class Parser {
  readonly #source: Source;
  readonly #tokens: readonly Token[];
  readonly #diagnostics: Diagnostics;
  readonly #roles: Map<Token, Role>;
  #at = 0;
  #nesting = 0;
  /** Of the lines that were read. */
  readonly #heights = new WeakMap<Expression, number>();
  readonly #inParentheses = new WeakSet<Expression>();
  #imports: Import[] = [];
  /** Of the statement or line that is being read, its first token. */
  #lineAt = 0;
  readonly #unreadable = new Set<string>();

  constructor(
    source: Source,
    tokens: readonly Token[],
    diagnostics: Diagnostics,
    roles: Map<Token, Role> = new Map(),
  ) {
    this.#source = source;
    this.#tokens = tokens;
    this.#diagnostics = diagnostics;
    this.#roles = roles;
  }

  // ── statements ────────────────────────────────────────────────────────────────────────────────────────────

  policy(): PolicyTree {
    const definitions: Definition[] = [];
    const rules: RuleTree[] = [];
    while (this.#token().kind !== 'end') {
      const before = this.#at;
      this.#lineAt = before;
      const unreadable = this.#recover(() => this.#statement(definitions, rules));
      for (const name of unreadable?.mentioned ?? []) this.#unreadable.add(name);
      if (this.#at === before) this.#at++;
    }
    this.#swallowedNames();
    const tree = { imports: this.#imports, definitions, rules };
    return { ...tree, ...(this.#unreadable.size === 0 ? {} : { unreadable: this.#unreadable }) };
  }

  /** A text of several lines without its end holds all that stands below it. */
  #swallowedNames(): void {
    for (const { text } of this.#tokens.filter(isOpenText))
      for (const name of namesIn(text)) this.#unreadable.add(name);
  }

  /** Runs `read`; if the line cannot be read, skips it and the block that it opens, and returns what it was. */
  #recover(read: () => void): (Unreadable & Span) | null {
    const before = this.#at;
    const isRead = this.#attempt(() => {
      read();
      return true;
    });
    if (isRead !== null) return null;
    this.#skipLine();
    return this.#unreadableFrom(before);
  }

  /** What the tokens from `from` on say, as far as they are read or skipped. */
  #unreadableFrom(from: number): Unreadable & Span {
    const tokens = this.#tokens.slice(from, this.#at);
    const declared: { name: string; type: string | null }[] = [];
    const mentioned: string[] = [];
    for (const [index, token] of tokens.entries()) {
      const [before, next, second] = [tokens[index - 1], tokens[index + 1], tokens[index + 2]];
      if (token.kind === 'string' && !token.isClosed) mentioned.push(...namesIn(token.text));
      if (token.kind !== 'name' || (before !== undefined && isOperator(before, '.'))) continue;
      mentioned.push(token.text);
      if (next === undefined) continue;
      if (isOperator(next, ':=')) declared.push({ name: token.text, type: null });
      else if (before !== undefined && isOperator(before, '(') && isOperator(next, ':')) {
        declared.push({ name: token.text, type: second?.kind === 'name' ? second.text : null });
      }
    }
    const { start } = tokens[0] ?? this.#token();
    return { kind: 'invalid', declared, mentioned, start, end: tokens.at(-1)?.end ?? start };
  }

  /** What `read` returns; null: it met something that cannot be read, which it has reported. */
  #attempt<T>(read: () => T): T | null {
    const nesting = this.#nesting;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UnreadableLine)) throw error;
      this.#nesting = nesting;
      return null;
    }
  }

  /** To the block that this line opens; false: it opens none, and the line is behind us. */
  #skipToBlock(): boolean {
    for (;;) {
      const { kind } = this.#token();
      if (kind === 'indent') return true;
      if (kind === 'end' || kind === 'dedent') return false;
      this.#at++;
      if (kind === 'newline') return false;
    }
  }

  #skipLine(): void {
    let depth = 0;
    for (;;) {
      const token = this.#token();
      if (token.kind === 'end' || (token.kind === 'dedent' && depth === 0)) return;
      this.#at++;
      if (token.kind === 'indent') depth++;
      if (token.kind === 'dedent' && --depth === 0) return;
      if (token.kind === 'newline' && depth === 0) return;
    }
  }

  #statement(definitions: Definition[], rules: RuleTree[]): void {
    const token = this.#token();
    const next = this.#token(1);
    if (token.kind === 'newline' || token.kind === 'dedent') {
      this.#at++;
      return;
    }
    if (token.kind === 'indent')
      this.#fail('POL003', this.#token(1), 'this line is indented without a block above');
    if (token.kind !== 'name') return this.#notAStatement(token);
    if (isAnyWord(token, 'import', 'from') && next.kind === 'name') {
      this.#import();
      this.#endOfLine();
    } else if (isWord(token, 'rule') && next.kind === 'name') this.#namedRule(rules);
    else if (isEffect(token) && (next.kind === 'string' || next.kind === 'name')) this.#rule(null, rules);
    else if (isEffect(token) && startsValue(next, this.#token(2))) this.#fail('POL003', next, NO_MESSAGE);
    else if (isWord(token, 'def') && next.kind === 'name') {
      const span = joinSpans(token, next);
      this.#fail('POL007', span, '`def` is not supported', 'write a predicate: `name(x: T) := …`');
    } else if (isAnyOperator(next, ':=', ':', '(')) definitions.push(this.#definition());
    else if (isOperator(next, '=')) {
      this.#fail(
        'POL006',
        joinSpans(token, next),
        'this line is not a statement',
        'write `:=` to name a value',
      );
    } else this.#notAStatement(token);
  }

  /** One report for all lines up to the next statement: who put one in the wrong place put them all there. */
  #notAStatement(token: Token): void {
    const before = this.#at;
    const isDeeper = indentation(this.#source.text, token) !== '';
    this.#attempt(() =>
      this.#fail(
        'POL006',
        token,
        `${describe(token)} does not begin a statement`,
        isDeeper
          ? 'a line of a rule is indented as deep as the lines above it, with the same tabs or spaces'
          : 'a policy consists of imports, `raise "…" if:` rules and `name(x: T) := …` definitions',
      ),
    );
    do this.#skipLine();
    while (this.#isStray());
    for (const name of this.#unreadableFrom(before).mentioned) this.#unreadable.add(name);
  }

  /** Whether a line follows that begins no statement. */
  #isStray(): boolean {
    const token = this.#token();
    return (
      token.kind !== 'end' && token.kind !== 'dedent' && token.kind !== 'newline' && !this.#isStatement()
    );
  }

  /** `at`: how many tokens further on. */
  #isStatement(at = 0): boolean {
    const [token, next] = [this.#token(at), this.#token(at + 1)];
    if (token.kind === 'indent') return true;
    if (token.kind !== 'name') return false;
    if (isAnyWord(token, 'import', 'from', 'rule', 'def')) return next.kind === 'name';
    if (isEffect(token)) return next.kind === 'string' || next.kind === 'name';
    if (isAnyOperator(next, ':=', '=')) return true;
    // A call is a line of a rule, unless what it ends with defines it.
    if (!isOperator(next, '(')) return isOperator(next, ':');
    for (let ahead = at + 1, depth = 0; ; ahead++) {
      const part = this.#token(ahead);
      if (part.kind === 'newline' || part.kind === 'indent' || part.kind === 'end') return false;
      if (isOperator(part, '(')) depth++;
      if (isOperator(part, ')') && --depth === 0) {
        const marker = this.#token(ahead + 1);
        return isOperator(marker, ':=') || (isOperator(marker, ':') && !isAnyWord(token, 'count', 'forall'));
      }
    }
  }

  #import(): void {
    const start = this.#next();
    const module = this.#moduleName();
    if (isWord(start, 'import')) {
      const alias = this.#takeWord('as') ? this.#identifier('a name') : null;
      if (alias === null && module.name.includes('.')) {
        this.#diagnostics.error(
          'POL003',
          module,
          `\`import ${module.name}\` needs a name`,
          `write \`import ${module.name} as …\``,
        );
      }
      const span = { start: start.start, end: (alias ?? module).end };
      this.#imports.push({ module: module.name, name: null, alias: (alias ?? module).name, ...span });
      return;
    }
    this.#expectWord('import');
    const inParentheses = this.#takeOperator('(');
    do {
      if (inParentheses && isOperator(this.#token(), ')')) break;
      const name = this.#identifier('the name of a function');
      const alias = this.#takeWord('as') ? this.#identifier('a name') : name;
      const span = { start: name.start, end: alias.end };
      this.#imports.push({ module: module.name, name: name.name, alias: alias.name, ...span });
    } while (this.#takeOperator(','));
    if (inParentheses) this.#expectOperator(')');
  }

  #moduleName(): Identifier {
    const first = this.#identifier('the name of a module');
    let name = first.name;
    let end = first.end;
    while (this.#takeOperator('.')) {
      const part = this.#identifier('the name of a module');
      name += `.${part.name}`;
      end = part.end;
    }
    return { name, start: first.start, end };
  }

  /** `rule no-mail-exfiltration:` before a rule, or with the rule as its block. */
  #namedRule(rules: RuleTree[]): void {
    this.#next();
    const name = this.#gluedName(this.#identifier('the name of the rule'), '-', '.', '/');
    this.#mark(this.#expectOperator(':'), 'rule-name');
    const isBlock = this.#token().kind === 'indent';
    if (isBlock || this.#token().kind === 'newline') this.#at++;
    if (!isEffect(this.#token())) {
      this.#fail('POL003', this.#token(), 'a rule was expected here', 'write `raise "…" if:` below its name');
    }
    this.#rule(name, rules);
    if (isBlock) this.#expectKind('dedent', 'the end of the rule');
  }

  /** The name that begins with `first`: words, numbers and `joiners`, without a space between them. */
  #gluedName(first: Span, ...joiners: readonly Operator[]): Identifier {
    let { end } = first;
    for (;;) {
      const token = this.#token();
      const isPart = token.kind === 'name' || token.kind === 'number' || isAnyOperator(token, ...joiners);
      if (!isPart || token.start !== end) break;
      end = token.end;
      this.#mark(token, 'glued');
      this.#at++;
    }
    return { name: this.#source.text.slice(first.start, end), start: first.start, end };
  }

  /** A head that cannot be read is one problem; its block may hold others. */
  #rule(name: Identifier | null, rules: RuleTree[]): void {
    const { start } = this.#token();
    const before = this.#at;
    const effect = this.#token();
    let head = this.#attempt(() => this.#ruleHead());
    if (head === null) {
      if (!this.#skipToBlock()) return;
      const message = this.#unreadableFrom(before);
      head = { effect: isEffect(effect) ? effect.text : 'raise', message, whenUndecided: 'deny' };
    }
    const body = this.#token().kind === 'indent' ? this.#block() : this.#flatBlock();
    rules.push({ name, ...head, body, start, end: this.#token(-1).end });
  }

  /** The lines of a rule that stand no deeper than its head: one mistake, and the lines are read all the same. */
  #flatBlock(): readonly Expression[] {
    const missing = this.#attempt(() => this.#block());
    const lines: Expression[] = [];
    if (this.#token().kind === 'newline') this.#at++;
    while (this.#isStray()) this.#recoverLine(lines);
    return missing ?? lines;
  }

  #ruleHead(): Pick<RuleTree, 'effect' | 'message' | 'whenUndecided'> {
    const effect = this.#next();
    if (!isEffect(effect)) throw new UnreadableLine();
    const from = this.#at;
    const message = this.#bounded(this.#ruleMessage(), from);
    this.#expectWord('if');
    const whenUndecided = this.#whenUndecided();
    this.#expectOperator(':');
    return { effect: effect.text, message, whenUndecided };
  }

  #ruleMessage(): Expression {
    const token = this.#token();
    if (token.kind === 'string' && token.isMultiline && token.isClosed) {
      this.#diagnostics.error(
        'POL003',
        token,
        'the message of a rule is one line',
        'write it in one pair of quotes',
      );
    }
    const message = this.#postfix();
    if (message.kind === 'literal' && typeof message.value !== 'string')
      this.#diagnostics.error('POL003', message, NO_MESSAGE);
    if (message.kind !== 'quantifier') return message;
    this.#fail('POL003', message, 'a message was expected here, not a block');
  }

  #whenUndecided(): 'deny' | 'allow' {
    if (!isOperator(this.#token(), '(') || !isWord(this.#token(1), 'undecided')) return 'deny';
    this.#at += 2;
    this.#expectOperator(':');
    const word = this.#identifier('`allow` or `deny`');
    this.#expectOperator(')');
    if (word.name === 'allow' || word.name === 'deny') return word.name;
    this.#diagnostics.error('POL003', word, '`allow` or `deny` was expected here');
    return 'deny';
  }

  #definition(): Definition {
    const name = this.#identifier('a name');
    const parameters = isOperator(this.#token(), '(') ? this.#parameters() : null;
    const marker = this.#mark(this.#token(), 'definition');
    if (!isAnyOperator(marker, ':=', ':')) {
      this.#fail(
        'POL006',
        joinSpans(name, marker),
        'this line is not a statement',
        'a definition is `name := …`',
      );
    }
    this.#at++;
    const isBlock = this.#token().kind === 'indent' || isOperator(marker, ':');
    const from = this.#at;
    const body = isBlock ? this.#block() : [this.#bounded(this.#line(), from)];
    if (!isBlock) this.#endOfLine(body[0]);
    return { name, parameters, body, start: name.start, end: body.at(-1)?.end ?? name.end };
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    const open = this.#mark(this.#expectOperator('('), 'suffix');
    this.#upTo(')', open.start, () => {
      const { name, start, end } = this.#identifier('a parameter');
      const type = this.#takeOperator(':') ? this.#identifier('a type') : null;
      parameters.push({ name, type: type?.name ?? null, start, end: type?.end ?? end });
    });
    return parameters;
  }

  // ── blocks and lines ──────────────────────────────────────────────────────────────────────────────────────

  #block(): readonly Expression[] {
    if (this.#token().kind !== 'indent') {
      this.#fail(
        'POL004',
        this.#token(-1),
        'a block was expected here',
        'indent the lines below, deeper than the line with the `:`',
      );
    }
    return this.#nested(() => {
      const head = this.#token(-1);
      this.#at++;
      const lines: Expression[] = [];
      while (this.#token().kind !== 'dedent' && this.#token().kind !== 'end') {
        const before = this.#at;
        this.#recoverLine(lines);
        if (this.#at === before) this.#at++;
      }
      if (this.#token().kind === 'dedent') this.#at++;
      if (lines.length === 0) {
        this.#fail(
          'POL004',
          head,
          'this block holds imports and no line',
          'move them to the top of the file',
        );
      }
      return lines;
    });
  }

  #recoverLine(lines: Expression[]): void {
    const outer = this.#lineAt;
    this.#lineAt = this.#at;
    const unreadable = this.#recover(() => this.#blockLine(lines));
    if (unreadable !== null) lines.push(unreadable);
    this.#lineAt = outer;
  }

  #blockLine(lines: Expression[]): void {
    const token = this.#token();
    if (token.kind === 'newline') this.#at++;
    else if (isAnyWord(token, 'import', 'from') && this.#token(1).kind === 'name') {
      this.#import();
      this.#endOfLine();
    } else {
      const line = this.#line();
      this.#endOfLine(line);
      lines.push(this.#bounded(line, this.#lineAt));
    }
  }

  #line(): Expression {
    const token = this.#token();
    if (token.kind !== 'name' || !isOperator(this.#token(1), ':=')) return this.#expression();
    this.#at += 2;
    const value = this.#expression();
    return { kind: 'assignment', variable: identifierOf(token), value, start: token.start, end: value.end };
  }

  /** The line, unless it has too many parts in parts. `from`: its first token. */
  #bounded(line: Expression, from: number): Expression {
    const height = this.#heightOf(line);
    this.#heights.set(line, height);
    if (height <= MAX_HEIGHT) return line;
    this.#diagnostics.error(
      'POL005',
      line,
      `the line has parts in parts more than ${MAX_HEIGHT} deep`,
      'name parts of it',
    );
    return this.#unreadableFrom(from);
  }

  /** Without recursion: the height is what is being tested. The lines of its blocks were measured before. */
  #heightOf(line: Expression): number {
    let height = 0;
    const open = [{ part: line, depth: 1 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { part, depth } = next;
      height = Math.max(height, depth);
      for (const child of childrenOf(part)) open.push({ part: child, depth: depth + 1 });
      if (part.kind !== 'quantifier') continue;
      for (const inner of part.body) height = Math.max(height, depth + (this.#heights.get(inner) ?? 0));
    }
    return height;
  }

  /** A line ends with its line, or with the block of a quantifier. */
  #endOfLine(line?: Expression): void {
    if (this.#token(-1).kind === 'dedent' || this.#token().kind === 'end') return;
    const token = this.#token();
    if (token.kind === 'newline') this.#at++;
    else if (isOperator(token, '=')) {
      this.#fail('POL003', token, '`=` does not compare', 'use `==` to compare, `:=` to name a value');
    } else if (indentation(this.#source.text, token) !== null) {
      this.#fail(
        'POL003',
        token,
        'this line is indented deeper than the one that it stands below, so it continues that one',
        'indent the lines of a block alike',
      );
    } else if (token.kind === 'indent') {
      this.#fail('POL003', this.#token(-1), 'only `forall:`, `count(…):` and definitions have a block');
    } else
      this.#fail(
        'POL003',
        token,
        `the end of the line was expected before ${describe(token)}`,
        this.#foreignOperator(token, line) ?? hintFor(token),
      );
  }

  /** Words that other languages have between two values. */
  #foreignOperator(token: Token, line: Expression | undefined): string | undefined {
    const word = token.kind === 'name' ? token.text : '';
    const before = this.#token(-1);
    if (isAnyWord(before, 'if', 'when', 'where')) {
      return 'each line of a rule is a condition of its own: write it without a word before it';
    }
    if (isAnyWord(before, 'and', 'or', 'not', 'AND', 'OR', 'NOT', 'exists', 'any', 'all')) {
      return before.text === before.text.toLowerCase() ? undefined : `write \`${before.text.toLowerCase()}\``;
    }
    const lower = word.toLowerCase();
    if (lower === 'and' || lower === 'or') return `write \`${lower}\``;
    if (lower === 'equals' || lower === 'eq') return 'write `==`';
    if (lower === 'then') return 'a rule acts when all of its lines hold; it needs no `then`';
    if (line === undefined) return undefined;
    const left = this.#shown(lastOperand(line)) ?? 'x';
    const right = this.#shown(this.#restOfLine()) ?? '"…"';
    if (CONTAINS.has(lower)) return `write \`${right} in ${left}\``;
    if (lower === 'startswith') return `write \`match(${right}, ${left})\`, which looks at the beginning`;
    if (lower === 'matches' || lower === 'like') return `write \`any(find(${right}, ${left}))\``;
    return undefined;
  }

  /** What stands behind the next token, to the end of its line. */
  #restOfLine(): Span {
    const { end: start } = this.#token();
    let end = start;
    for (let ahead = 1; ahead <= MAX_SHOWN; ahead++) {
      const token = this.#token(ahead);
      const isOver = token.kind === 'newline' || token.kind === 'indent' || token.kind === 'dedent';
      if (isOver || token.kind === 'end') break;
      end = token.end;
    }
    return { start, end };
  }

  /** A short piece of the text for help that shows the line as it should be; null: too long, or nothing. */
  #shown({ start, end }: Span): string | null {
    const text = end - start > MAX_SHOWN ? '' : this.#source.text.slice(start, end).trim();
    return text === '' || /[\n`]/.test(text) ? null : text;
  }

  // ── expressions, from loose to tight ──────────────────────────────────────────────────────────────────────

  #expression(): Expression {
    return this.#nested(() => this.#ternary());
  }

  #ternary(): Expression {
    const then = this.#logic();
    if (!isWord(this.#token(), 'if') || this.#isBehindBlock()) return then;
    this.#mark(this.#next(), 'choice');
    const condition = this.#logic();
    this.#skipNewlineBefore('else');
    this.#mark(this.#token(), 'choice');
    this.#expectWord('else');
    const otherwise = this.#expression();
    if (this.#isCompound(then) || this.#isCompound(otherwise)) {
      this.#diagnostics.warning(
        'POL054',
        joinSpans(then, otherwise),
        'other implementations group this `if`/`else` differently',
        'put the parts into parentheses',
      );
    }
    return { kind: 'ternary', condition, then, otherwise, start: then.start, end: otherwise.end };
  }

  #logic(): Expression {
    return this.#chain(
      () => this.#comparison(),
      () => {
        const word = this.#continuing(JUNCTIONS);
        if (word !== null) this.#mark(this.#token(-1), 'logic');
        return word;
      },
      (word, left, right) => this.#joined(word, left, right),
    );
  }

  #joined(operator: 'and' | 'or', left: Expression, right: Expression): Expression {
    if (left.kind === 'logic' && left.operator !== operator && !this.#isInParentheses(left)) {
      this.#diagnostics.warning(
        'POL052',
        joinSpans(left, right),
        '`and` and `or` bind equally, so this line is read from left to right',
        'put the parts into parentheses',
      );
    }
    return { kind: 'logic', operator, left, right, start: left.start, end: right.end };
  }

  #comparison(): Expression {
    return this.#chain(
      () => this.#arithmetic(0),
      (left) => this.#comparisonOperator(left),
      (operator, left, right) => this.#compared(operator, left, right),
    );
  }

  /** Operands of one level of precedence, joined from left to right. */
  #chain<O>(
    operand: () => Expression,
    operatorBehind: (left: Expression) => O | null,
    join: (operator: O, left: Expression, right: Expression) => Expression,
  ): Expression {
    let left = operand();
    for (let links = 1; ; links++) {
      const operator = operatorBehind(left);
      if (operator === null) return left;
      this.#countLink(links, left);
      this.#skipNewline();
      left = join(operator, left, operand());
    }
  }

  #compared(operator: BinaryOperator, left: Expression, right: Expression): Expression {
    const span = { start: left.start, end: right.end };
    if (left.kind === 'declaration' && operator === 'in' && left.within === null) {
      return { ...left, within: right, ...span };
    }
    if (left.kind === 'unary' && left.operator === 'not' && !this.#isInParentheses(left)) {
      this.#diagnostics.warning(
        'POL051',
        span,
        `\`not\` binds tighter than \`${operator}\`, so only its left side is negated`,
        `write \`not (${this.#shown(left.operand) ?? '…'} ${operator} ${this.#shown(right) ?? '…'})\``,
      );
    }
    return { kind: 'binary', operator, left, right, ...span };
  }

  #comparisonOperator(left: Span): BinaryOperator | null {
    const symbol = this.#continuing(COMPARISONS);
    if (symbol !== null) return symbol;
    this.#skipNewlineBefore('is', 'in', 'contains_only');
    const token = this.#token();
    if (this.#isBehindBlock()) return null;
    if (isWord(token, 'is')) {
      this.#at++;
      return this.#takeWord('not') ? 'is not' : 'is';
    }
    if (isWord(token, 'not') && isWord(this.#token(1), 'in')) {
      this.#at++;
      const right = this.#shown(this.#restOfLine()) ?? '…';
      this.#at--;
      this.#fail(
        'POL003',
        joinSpans(token, this.#token(1)),
        '`not in` is not an operator',
        `write \`not (${this.#shown(left) ?? '…'} in ${right})\``,
      );
    }
    // No line begins with `before`: there it is a name.
    if (!isWord(token, 'in') && !isWord(token, 'contains_only') && !isWord(token, 'before')) return null;
    this.#at++;
    return token.text;
  }

  /** Sums of products of powers of what one sign stands before: `level` is the place in `ARITHMETIC`. */
  #arithmetic(level: number): Expression {
    const operators = ARITHMETIC[level];
    if (operators === undefined) return this.#unary();
    return this.#chain(
      () => this.#arithmetic(level + 1),
      () => this.#continuing<ArithmeticOperator>(operators),
      (operator, left, right) => ({ kind: 'binary', operator, left, right, ...joinSpans(left, right) }),
    );
  }

  #unary(): Expression {
    const token = this.#token();
    const isNot = isWord(token, 'not') && this.#startsOperand(this.#token(1));
    if (!isNot && !isOperator(token, '-') && !isOperator(token, '+')) return this.#postfix();
    const operator = isNot ? 'not' : isOperator(token, '-') ? '-' : '+';
    if (!isNot) this.#mark(token, 'prefix');
    return this.#nested(() => {
      this.#at++;
      const operand = this.#unary();
      return { kind: 'unary', operator, operand, start: token.start, end: operand.end };
    });
  }

  /** `not` is a name when nothing that it could negate follows. */
  #startsOperand(token: Token): boolean {
    if (token.kind === 'name')
      return !isAnyWord(token, 'is', 'in', 'and', 'or', 'contains_only', 'if', 'else', 'for');
    if (token.kind === 'operator') return isAnyOperator(token, '(', '[', '{', '-', '+');
    return token.kind === 'number' || token.kind === 'string';
  }

  #postfix(): Expression {
    let expression = this.#atom();
    for (let links = 0; ; ) {
      const operator = this.#continuing(MEMBER) ?? this.#takeSuffix();
      if (operator === null) break;
      this.#countLink(++links, expression);
      if (operator !== '.') this.#mark(this.#token(-1), 'suffix');
      expression = this.#suffix(operator, expression);
    }
    return isOperator(this.#token(), ':') && this.#token(1).kind === 'indent'
      ? this.#quantifier(expression)
      : expression;
  }

  #suffix(operator: '.' | '(' | '[', object: Expression): Expression {
    if (operator === '.') {
      const name = this.#identifier('the name of a field');
      return { kind: 'member', object, name, start: object.start, end: name.end };
    }
    if (operator === '[') {
      const open = this.#token(-1).start;
      const index = this.#expression();
      const { end } = this.#close(']', open);
      return { kind: 'index', object, index, start: object.start, end };
    }
    return this.#call(object);
  }

  #call(callee: Expression): Expression {
    const open = this.#token(-1).start;
    const positional: Expression[] = [];
    const named: { name: Identifier; value: Expression }[] = [];
    const end = this.#upTo(')', open, () => {
      const token = this.#token();
      if (token.kind === 'name' && isOperator(this.#token(1), '=')) {
        this.#mark(this.#token(1), 'named');
        this.#at += 2;
        named.push({ name: identifierOf(token), value: this.#expression() });
        return;
      }
      const value = this.#expression();
      if (named.length > 0) {
        this.#diagnostics.error('POL003', value, 'arguments without a name stand before those with one');
      }
      positional.push(value);
    });
    return { kind: 'call', callee, positional, named, start: callee.start, end };
  }

  #quantifier(head: Expression): Expression {
    const callee = head.kind === 'call' ? head.callee : head;
    if (callee.kind !== 'name') {
      this.#fail('POL003', head, 'only `forall:` and `count(…):` have a block');
    }
    this.#at++;
    const body = this.#block();
    const positional = head.kind === 'call' ? head.positional : [];
    const named = head.kind === 'call' ? head.named : [];
    const end = body.at(-1)?.end ?? head.end;
    const { name, start } = callee;
    const called = { name, start, end: callee.end };
    return { kind: 'quantifier', callee: called, positional, named, body, start: head.start, end };
  }

  // ── atoms ─────────────────────────────────────────────────────────────────────────────────────────────────

  #atom(): Expression {
    const token = this.#token();
    const span = { start: token.start, end: token.end };
    switch (token.kind) {
      case 'number':
        this.#at++;
        return { kind: 'literal', value: token.value, ...span };
      case 'string':
        this.#at++;
        return token.prefix === 'f' ? this.#format(token) : { kind: 'literal', value: token.value, ...span };
      case 'name':
        if (
          token.text === 'tool' &&
          isOperator(this.#token(1), ':') &&
          this.#startsToolName(this.#token(2))
        ) {
          return this.#toolPattern();
        }
        this.#at++;
        if (token.text === 'None') return { kind: 'literal', value: null, ...span };
        if (token.text === 'True') return { kind: 'literal', value: true, ...span };
        if (token.text === 'False') return { kind: 'literal', value: false, ...span };
        return { kind: 'name', name: token.text, ...span };
      case 'operator':
        if (token.text === '(') return this.#parentheses();
        if (token.text === '[') return this.#list();
        if (token.text === '{') return this.#object();
        if (token.text === '*') this.#outsidePattern(token, 'a wildcard');
        break;
      case 'value-reference':
        this.#outsidePattern(token, 'a value reference');
        break;
      default:
        break;
    }
    this.#fail('POL003', token, `a value was expected, not ${describe(token)}`, hintFor(token));
  }

  #outsidePattern(token: Token, what: string): never {
    this.#fail('POL009', token, `${what} stands outside of a tool pattern`, 'use it inside `tool:name({…})`');
  }

  #parentheses(): Expression {
    const open = this.#next();
    if (this.#startsDeclaration()) return this.#declaration(open.start);
    const inner = this.#nested(() => this.#line());
    if (isOperator(this.#token(), ',')) {
      this.#fail('POL008', this.#token(), 'only one value may stand in parentheses', 'write `tuple([a, b])`');
    }
    const { end } = this.#close(')', open.start);
    const bracketed = { ...inner, start: open.start, end };
    this.#inParentheses.add(bracketed);
    return bracketed;
  }

  /** `(tool:mail)` is a pattern in parentheses, unless what follows the colon is a type and then the end. */
  #startsDeclaration(): boolean {
    const [name, colon, type, close] = [this.#token(), this.#token(1), this.#token(2), this.#token(3)];
    if (name.kind !== 'name' || !isOperator(colon, ':')) return false;
    const isPattern = name.text === 'tool' && this.#startsToolName(type);
    return !isPattern || (type.kind === 'name' && /^[A-Z]/.test(type.text) && isOperator(close, ')'));
  }

  #declaration(start: number): Expression {
    const variable = this.#identifier('a variable');
    this.#expectOperator(':');
    const type = this.#identifier('a type');
    const { end } = this.#expectOperator(')');
    return { kind: 'declaration', variable, type, within: null, start, end };
  }

  #list(): Expression {
    const start = this.#next().start;
    if (isOperator(this.#token(), ']')) return { kind: 'list', items: [], start, end: this.#next().end };
    const first = this.#expression();
    if (isWord(this.#token(), 'for')) return this.#comprehension(start, first);
    const items = [first];
    const end = this.#takeOperator(',')
      ? this.#upTo(']', start, () => void items.push(this.#expression()))
      : this.#close(']', start).end;
    return { kind: 'list', items, start, end };
  }

  #comprehension(start: number, element: Expression): Expression {
    this.#mark(this.#next(), 'clause');
    const variable = this.#identifier('a variable');
    this.#expectWord('in');
    const iterable = this.#logic();
    let condition: Expression | null = null;
    if (isWord(this.#token(), 'if')) {
      this.#mark(this.#next(), 'clause');
      condition = this.#expression();
    }
    const { end } = this.#close(']', start);
    return { kind: 'comprehension', element, variable, iterable, condition, start, end };
  }

  #object(): Expression {
    const start = this.#next().start;
    const entries: { key: string; value: Expression }[] = [];
    const end = this.#upTo('}', start, () => {
      entries.push({ key: this.#key(), value: this.#expression() });
    });
    return { kind: 'object', entries, start, end };
  }

  /** Reads what stands in a bracket, parted by commas, and returns where the bracket ends. */
  #upTo(bracket: ')' | ']' | '}', start: number, read: () => void): number {
    while (!isOperator(this.#token(), bracket)) {
      read();
      if (!this.#takeOperator(',')) break;
    }
    return this.#close(bracket, start).end;
  }

  #key(): string {
    const token = this.#next();
    if (token.kind !== 'name' && token.kind !== 'string') {
      this.#fail('POL003', token, `a key was expected, not ${describe(token)}`, 'keys are names or strings');
    }
    this.#expectOperator(':');
    return token.kind === 'string' ? token.value : token.text;
  }

  /** The holes of `f"…{x}…"`. The text between them is taken as it is written, like that of any string. */
  #format(token: StringToken): Expression {
    const quotes = token.isMultiline ? 3 : 1;
    const start = token.start + 1 + quotes;
    const end = token.end - quotes;
    // Cut off, so that no search for a brace, a quote or a line end runs on through the rest of a long text.
    const text = this.#source.text.slice(0, end);
    const margin = token.isMultiline ? commonIndentation(text.slice(start)) : 0;
    const parts: (string | Expression)[] = [];
    let literal = '';
    for (let at = token.isMultiline ? lineContent(text, start, margin) : start; at < end; at++) {
      const character = text[at] ?? '';
      if (character === '\n' && token.isMultiline) {
        literal += '\n';
        at = lineContent(text, at + 1, margin) - 1;
        continue;
      }
      const isDoubled = (character === '{' || character === '}') && text[at + 1] === character;
      if (isDoubled) at++;
      if (character !== '{' || isDoubled) {
        literal += character;
        continue;
      }
      const close = text.indexOf('}', at);
      const hole = { start: at + 1, end: close < 0 ? end : close };
      if (close < 0 || text.slice(hole.start, hole.end).trim() === '') {
        this.#fail(
          'POL003',
          { start: at, end: hole.end },
          'the braces hold no value',
          'write `{{` for a brace',
        );
      }
      parts.push(unescaped(literal, token), this.#hole(hole));
      literal = '';
      at = hole.end;
    }
    parts.push(unescaped(literal, token));
    return { kind: 'format', parts, start: token.start, end: token.end };
  }

  #hole(span: Span): Expression {
    return this.#nested(() => {
      const inner = new Parser(
        this.#source,
        lexExpression(this.#source.text, span, this.#diagnostics),
        this.#diagnostics,
      );
      inner.#nesting = this.#nesting;
      const expression = inner.#expression();
      if (isOperator(inner.#token(), ':'))
        inner.#fail(
          'POL003',
          inner.#token(),
          'a value in braces has no format behind it',
          'write `"{:.2f}".format(value)`',
        );
      if (inner.#token().kind !== 'end') inner.#endOfLine();
      return expression;
    });
  }

  // ── tool patterns ─────────────────────────────────────────────────────────────────────────────────────────

  #startsToolName(token: Token): boolean {
    return token.kind === 'name' || token.kind === 'string' || isAnyOperator(token, '*', '**');
  }

  #toolPattern(): Expression {
    const start = this.#next().start;
    this.#mark(this.#expectOperator(':'), 'glued');
    const tool = this.#toolName();
    if (!isOperator(this.#token(), '('))
      return { kind: 'tool-pattern', tool, arguments: null, start, end: tool.end };
    const open = this.#mark(this.#next(), 'suffix');
    const pattern = isOperator(this.#token(), ')') ? null : this.#toolArguments();
    const { end } = this.#close(')', open.start);
    return { kind: 'tool-pattern', tool, arguments: pattern, start, end };
  }

  #toolArguments(): Pattern {
    if (this.#token().kind === 'name' && isOperator(this.#token(1), '=')) {
      this.#fail(
        'POL019',
        this.#token(),
        'a tool pattern has no named arguments',
        'write `tool:name({key: value})`',
      );
    }
    const pattern = this.#pattern();
    if (this.#takeOperator(',') && !isOperator(this.#token(), ')')) {
      this.#fail(
        'POL019',
        this.#token(),
        'a tool pattern has one argument',
        'write `tool:name({key: value, …})`',
      );
    }
    return pattern;
  }

  /** A quoted name, or names, `-`, `.`, `/` and `*` without a space between them. */
  #toolName(): Identifier {
    const first = this.#mark(this.#next(), 'glued');
    if (first.kind === 'string') return { name: first.value, start: first.start, end: first.end };
    return this.#gluedName(first, '-', '.', '/', '*', '**');
  }

  #pattern(): Pattern {
    return this.#nested(() => {
      const token = this.#token();
      const span = { start: token.start, end: token.end };
      if (isOperator(token, '*')) {
        this.#at++;
        return { kind: 'any', ...span };
      }
      if (token.kind === 'value-reference') {
        this.#at++;
        return { kind: 'value-reference', name: token.text.slice(1, -1), ...span };
      }
      if (isOperator(token, '{')) return this.#objectPattern();
      if (isOperator(token, '[')) return this.#listPattern();
      const value = this.#expression();
      return { kind: 'value', value, start: value.start, end: value.end };
    });
  }

  #objectPattern(): Pattern {
    const start = this.#next().start;
    const entries: { key: string; pattern: Pattern }[] = [];
    const end = this.#upTo('}', start, () => {
      entries.push({ key: this.#key(), pattern: this.#pattern() });
    });
    return { kind: 'object', entries, start, end };
  }

  #listPattern(): Pattern {
    const start = this.#next().start;
    const items: Pattern[] = [];
    const end = this.#upTo(']', start, () => void items.push(this.#pattern()));
    return { kind: 'list', items, start, end };
  }

  // ── tokens ────────────────────────────────────────────────────────────────────────────────────────────────

  #token(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1) ?? END;
  }

  #next(): Token {
    const token = this.#token();
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** Takes an operator or `and`/`or`, also at the start of the next line, which it then continues. */
  #continuing<O extends Operator | 'and' | 'or'>(operators: ReadonlyMap<string, O>): O | null {
    const newline = this.#token();
    const isNextLine = newline.kind === 'newline';
    const token = isNextLine ? this.#token(1) : newline;
    if (token.kind !== 'operator' && token.kind !== 'name') return null;
    const found = operators.get(token.text);
    if (found === undefined) return null;
    // It defines a word that is also an operator.
    if (isNextLine && this.#isStatement(1)) return null;
    // A line that begins with one of these may be a separate line.
    const isOwnLine = isNextLine || this.#isBehindBlock();
    if (isOwnLine && isAnyOperator(token, '+', '-', '*')) return null;
    if (isNextLine) this.#mark(newline, 'continued');
    this.#at += isNextLine ? 2 : 1;
    return found;
  }

  /** The block of a quantifier has just ended: what follows stands on the next line. */
  #isBehindBlock(): boolean {
    return this.#token(-1).kind === 'dedent';
  }

  /** A line that begins with one of these words and a value behind it continues the line before, unless it defines the word. */
  #skipNewlineBefore(...words: readonly string[]): void {
    if (this.#token().kind !== 'newline' || !isAnyWord(this.#token(1), ...words)) return;
    if (!this.#startsOperand(this.#token(2)) || this.#isStatement(1)) return;
    this.#mark(this.#next(), 'continued');
  }

  /** Behind an operator the line continues. */
  #skipNewline(): void {
    if (this.#token().kind === 'newline') this.#mark(this.#next(), 'continued');
  }

  #mark(token: Token, role: Role): Token {
    this.#roles.set(token, role);
    return token;
  }

  #takeSuffix(): '(' | '[' | null {
    if (this.#takeOperator('(')) return '(';
    return this.#takeOperator('[') ? '[' : null;
  }

  #takeOperator(operator: Operator): boolean {
    if (!isOperator(this.#token(), operator)) return false;
    this.#at++;
    return true;
  }

  #takeWord(word: string): boolean {
    if (!isWord(this.#token(), word)) return false;
    this.#at++;
    return true;
  }

  #expectOperator(operator: Operator): Token {
    const token = this.#token();
    if (isOperator(token, operator)) return this.#next();
    this.#missing(`\`${operator}\``, hintFor(token));
  }

  /** The end of what a bracket began; where it is missing, says which bracket that is, if it is far off. */
  #close(bracket: ')' | ']' | '}', start: number): Token {
    const token = this.#token();
    if (isOperator(token, bracket)) return this.#next();
    const line = this.#source.range({ start, end: start }).line;
    const isFar = this.#source.range(token).line !== line;
    this.#missing(`\`${bracket}\``, isFar ? `it closes the bracket of line ${line}` : hintFor(token));
  }

  #expectWord(word: string): void {
    if (!this.#takeWord(word)) this.#missing(`\`${word}\``);
  }

  /** What should have come next; if the line is over, it belongs to its end and not to the next one. */
  #missing(what: string, help?: string): never {
    const token = this.#token();
    const previous = this.#token(-1);
    const isLineOver =
      token.kind === 'end' ||
      token.kind === 'newline' ||
      token.kind === 'indent' ||
      this.#source.text.slice(previous.end, token.start).includes('\n');
    if (isLineOver && this.#at > 0) {
      this.#fail('POL003', previous, `${what} was expected behind ${describe(previous)}`, help);
    }
    this.#fail('POL003', token, `${what} was expected before ${describe(token)}`, help);
  }

  #expectKind(kind: Token['kind'], what: string): void {
    if (this.#token().kind !== kind) this.#fail('POL003', this.#token(), `${what} was expected here`);
    this.#at++;
  }

  #identifier(what: string): Identifier {
    const token = this.#token();
    if (token.kind !== 'name') this.#fail('POL003', token, `${what} was expected, not ${describe(token)}`);
    this.#at++;
    return identifierOf(token);
  }

  #nested<T>(read: () => T): T {
    if (this.#nesting >= MAX_NESTING) {
      this.#fail(
        'POL005',
        this.#token(),
        `the text is nested more than ${MAX_NESTING} deep`,
        'name parts of it',
      );
    }
    this.#nesting++;
    const result = read();
    this.#nesting--;
    return result;
  }

  #countLink(links: number, span: Span): void {
    if (links > MAX_CHAIN) {
      this.#fail('POL005', span, `the line joins more than ${MAX_CHAIN} parts`, 'write several lines');
    }
  }

  #isInParentheses(expression: Expression): boolean {
    return this.#inParentheses.has(expression);
  }

  #isCompound(expression: Expression): boolean {
    const isOperation =
      expression.kind === 'binary' ||
      expression.kind === 'logic' ||
      expression.kind === 'unary' ||
      expression.kind === 'ternary';
    return isOperation && !this.#isInParentheses(expression);
  }

  #fail(code: Code, span: Span, message: string, help?: string): never {
    // What the lexer has reported makes trouble here as well; one report is enough.
    const isReported = isBroken(this.#token()) || isBroken(this.#token(-1));
    const mixed = isReported ? null : this.#mixedIndentation();
    if (mixed !== null) {
      this.#diagnostics.error(
        'POL003',
        mixed,
        'the lines of this block are indented with tabs and with spaces, so this one seems to continue the one above',
        'indent all lines of a block alike, with spaces or with tabs',
      );
    } else if (!isReported) {
      this.#diagnostics.error(code, { start: span.start, end: span.end }, message, help);
    }
    throw new UnreadableLine();
  }

  /** A token that continues the line which is being read, in a line whose indentation only looks like that of the first. */
  #mixedIndentation(): Token | null {
    const first = this.#tokens[this.#lineAt];
    const own = first === undefined ? null : indentation(this.#source.text, first);
    if (own === null || own === '') return null;
    for (let at = this.#lineAt + 1; at <= this.#at; at++) {
      const token = this.#tokens[at];
      if (token === undefined || token.kind === 'indent' || token.kind === 'newline') return null;
      const other = indentation(this.#source.text, token);
      if (other !== null && !other.startsWith(own)) return token;
    }
    return null;
  }
}

/** Operators of one level of precedence, by how they are written. */
function byText<const O extends Operator | 'and' | 'or'>(...operators: readonly O[]): ReadonlyMap<string, O> {
  return new Map(operators.map((operator) => [operator, operator]));
}

const JUNCTIONS = byText('and', 'or');
const COMPARISONS = byText('==', '!=', '<', '>', '<=', '>=', '->', '~>');
/** From loose to tight. */
const ARITHMETIC = [byText('+', '-'), byText('*', '/', '%'), byText('**')] as const;
const MEMBER = byText('.');
type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '**';

const END: Token = { kind: 'end', text: '', start: 0, end: 0 };

/** UTF-16 units of the text, and tokens, that help quotes at most. */
const MAX_SHOWN = 60;

/** Asks whether the right side stands in the left one. */
const CONTAINS: ReadonlySet<string> = new Set(['contains', 'includes', 'include', 'has']);

/** What stands at the end of a line of several conditions. */
function lastOperand(line: Expression): Expression {
  let last = line;
  for (;;) {
    if (last.kind === 'logic') last = last.right;
    else if (last.kind === 'assignment') last = last.value;
    else if (last.kind === 'unary' && last.operator === 'not') last = last.operand;
    else return last;
  }
}

/** The white space before the first token of a line; null: another token stands before it. */
function indentation(text: string, { start }: Span): string | null {
  let at = start;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--;
  return at === 0 || text[at - 1] === '\n' ? text.slice(at, start) : null;
}

function namesIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
}

type NameToken = Extract<Token, { kind: 'name' }>;

function identifierOf({ text, start, end }: NameToken): Identifier {
  return { name: text, start, end };
}

function isWord<W extends string>(token: Token, word: W): token is NameToken & { text: W } {
  return token.kind === 'name' && token.text === word;
}

function isAnyWord<W extends string>(token: Token, ...words: readonly W[]): token is NameToken & { text: W } {
  return token.kind === 'name' && words.some((word) => word === token.text);
}

function isEffect(token: Token): token is NameToken & { text: EffectWord } {
  return isAnyWord(token, 'raise', 'ask', 'warn');
}

const NO_MESSAGE = 'the message of a rule is a text, a name or a call';

/** What cannot be the message of a rule, and begins no definition of a name like `raise` either. */
function startsValue(token: Token, next: Token): boolean {
  if (isOperator(token, '(')) return next.kind === 'string' || next.kind === 'number';
  return token.kind === 'number' || isAnyOperator(token, '[', '{', '-', '+');
}

function isOperator(token: Token, operator: Operator): boolean {
  return token.kind === 'operator' && token.text === operator;
}

function isAnyOperator(token: Token, ...operators: readonly Operator[]): boolean {
  return token.kind === 'operator' && operators.includes(token.text);
}

/** A string without end, after which all that it swallowed is missing, or characters of no token. */
function isBroken(token: Token): boolean {
  return token.kind === 'unknown' || (token.kind === 'string' && !token.isClosed);
}

function isOpenText(token: Token): boolean {
  return token.kind === 'string' && token.isMultiline && !token.isClosed;
}

function unescaped(text: string, token: StringToken): string {
  const quote = token.text.at(-1) ?? '"';
  return token.isMultiline ? text : text.replaceAll(`\\${quote}`, quote);
}

/** Where the content of a line of a multi-line string begins: behind the margin, or at the end of a blank line. */
function lineContent(text: string, from: number, margin: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  if (text[at] === undefined || text[at] === '\n') return at;
  if (text[at] === '\r' && (text[at + 1] === undefined || text[at + 1] === '\n')) return at + 1;
  return from + margin;
}

function describe(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end of the text';
    case 'newline':
      return 'the end of the line';
    case 'indent':
      return 'a deeper line';
    case 'dedent':
      return 'the end of the block';
    default:
      return `\`${token.text.length <= 40 ? token.text : `${token.text.slice(0, 40)}…`}\``;
  }
}

/** What authors who think in Python most often mean. */
function hintFor(token: Token): string | undefined {
  if (isOperator(token, '=')) return 'use `==` to compare, `:=` to name a value';
  if (isOperator(token, ':')) return 'a slice or a block is not possible here';
  return undefined;
}

/** One text, read: for callers that want the tree alone. */
export function parseText(text: string): { tree: PolicyTree; diagnostics: Diagnostics } {
  const source = new Source('policy.gr', text);
  const diagnostics = new Diagnostics(source);
  return { tree: parseTokens(source, diagnostics).tree, diagnostics };
}
