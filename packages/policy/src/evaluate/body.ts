/**
 * A compiled body, the lines of a rule, predicate or quantifier, and what it is evaluated with: types only.
 */

import type { Place } from '../events/provenance.ts';
import type { Origins } from '../origin/origin.ts';
import type { Expression } from '../syntax/ast.ts';
import type { Span } from '../syntax/source.ts';
import type { EventObject, Occurrence } from '../values/event-object.ts';
import type { Evidence, Located } from '../values/evidence.ts';
import type { Undecided, Value } from '../values/value.ts';
import type { JoinKey } from './join-key.ts';
import type { RequiredLiterals } from './required-literals.ts';

/** One activation of a rule or predicate: the values of its names, and what it looks at. */
export interface Frame {
  readonly slots: Value[];
  /** What the variables are bound to, by slot. */
  readonly bindings: (Binding | undefined)[];
  readonly context: EvalContext;
  /** Where the predicate was called: its parameters stand where the arguments do. */
  readonly site: CallSite | null;
  /** Predicates that call predicates; bounded, because a rule can call itself for ever. */
  readonly depth: number;
}

export interface CallSite {
  readonly frame: Frame;
  readonly locate: readonly Locate[];
  readonly anchors: readonly Anchor[];
}

/** The newest event that the names in an expression stand for or were read from; null: none. */
export type Anchor = (frame: Frame) => EventObject | null;

/** Where the value of an expression stands in the trace; null: it was computed. */
export type Locate = (frame: Frame) => Located | null;

export interface EvalContext {
  /** What variables of predicates and quantifiers range over, in the order of the trace. */
  domain(domain: Domain): readonly (readonly Binding[])[];
  /** Those of a domain whose side of one of its `keys` may equal a value. */
  matching(domain: Domain, key: number, value: JoinKey): readonly Piece<Binding>[];
  /** Those of a domain of events that were visible where an event arose. */
  visibleAt(domain: Domain, place: Place): readonly Piece<Binding>[];
  /** How many objects a domain has, and how many of them pass its conditions for certain. */
  tally(domain: Domain): Tally;
  readonly input: Value;
  /** What was seen, for rules that ask where a value came from; null: none does. */
  readonly origins: Origins | null;
  /**
   * How many assignments the `count` lines of a rule have found: tells whether new events changed what it counts.
   * What is counted inside of predicates and quantifiers is not part of it.
   */
  counted: number;
  /** Why the current branch holds, so far. Empty where no explanation is asked for. */
  readonly trail: Evidence[];
  /** Whether explanations are asked for: a monitor that only decides needs none. */
  readonly explains: boolean;
  readonly work: Work;
}

/** What evaluation has cost, whatever the machine. */
export interface Work {
  /** How many objects were tried for variables. */
  tried: number;
}

export type Evaluate = (frame: Frame) => Value;

/** Objects of the trace that conditions on one variable, which need nothing else, let through. */
export interface Domain {
  readonly type: string;
  readonly slot: number;
  readonly filter: readonly Step[];
  /** What lines compare by `==`: a side about the object alone, and one that is known before it. */
  readonly keys: readonly DomainKey[];
  /**
   * Events that are known before it, and that come behind it by lines `x -> y` or `x before y`, directly or over other
   * events.
   */
  readonly before: readonly Later[];
}

/** An event that comes behind another by lines of a body: its slot. */
export interface Later {
  readonly slot: number;
  /** Whether the other was visible where it arose: a way of `->` leads there; else one with `before` does. */
  readonly hasSeen: boolean;
}

export interface DomainKey {
  readonly own: Evaluate;
  readonly other: Evaluate;
}

export interface Tally {
  readonly certain: number;
  readonly possible: number;
}

export interface BodyVariable {
  readonly name: string;
  readonly slot: number;
  readonly type: string;
  /** `(x: T) in within`; null: it ranges over the trace. */
  readonly within: Evaluate | null;
  readonly locateWithin: Locate | null;
  /** Whether `within` has the same value for an assignment while the trace grows. */
  readonly isStable: boolean;
  /** In predicates and quantifiers, what it ranges over of the trace. */
  readonly domain: Domain | null;
  /** Variables, by index, that `within` needs. */
  readonly needs: ReadonlySet<number>;
  readonly span: Span;
}

export interface Step {
  /** Null: a condition. Else the slot that the value of an assignment goes to. */
  readonly slot: number | null;
  /** Where the value of an assignment stands. */
  readonly locate: Locate;
  readonly evaluate: Evaluate;
  /** Variables of the body, by index, that it needs, also through assignments. */
  readonly needs: ReadonlySet<number>;
  /** `a -> b` between two variables of the body, by index. */
  readonly flow: Order | null;
  /** `a before b`. */
  readonly earlier: Order | null;
  /** `a ~> b`, which is looked up like a join. */
  readonly next: Order | null;
  /** `a == b` between parts of two variables of the body, or `a ~> b` between their places. */
  readonly join: { readonly sides: readonly [JoinSide, JoinSide] } | null;
  /** Where the line holds only of a call, or an output of a call, of one of some tools: their names, maybe with `*`. */
  readonly tools: ReadonlySet<string> | null;
  /** What the line asks of the texts of the one variable that it needs; all of it is met where the line holds. */
  readonly required: readonly RequiredLiterals[];
  /** `count(min=1)` and more: at least one assignment of its block holds or is undecided where the line is not refuted. */
  readonly some: Body | null;
  /** Whether its value for an assignment stays the same while the trace grows. */
  readonly isStable: boolean;
  readonly span: Span;
  readonly tree: Expression;
}

/** Of two variables, by index: the event of the one comes before that of the other. */
export interface Order {
  readonly from: number;
  readonly to: number;
}

export interface JoinSide {
  readonly variable: number;
  readonly evaluate: Evaluate;
}

export interface Body {
  readonly variables: readonly BodyVariable[];
  /** Assignments stand before the steps that use them. */
  readonly steps: readonly Step[];
  /** Where counting its assignments is counting the objects of a domain. */
  readonly counted: Domain | null;
}

export type Binding = Occurrence &
  Partial<Candidate> & {
    /** Where an element of a value that the rule names stands. */
    readonly at?: Located | null;
  };

export interface OpenLine {
  readonly why: Undecided;
  readonly span: Span;
}

/** An object that passes the conditions on one variable, with what was noticed while it was looked at. */
export interface Candidate extends Occurrence {
  /** A line about it that is undecided. */
  readonly open?: OpenLine | null;
  /** Where all assignments are listed: a line that is undecided in each of them that holds it. */
  readonly outlook?: OpenLine | null;
  /** What the variables that are decided together with this one are bound to, by index. */
  readonly behind?: ReadonlyMap<number, Binding> | null;
  /** Where `open` waits for an answer: the lines about it once more, in a frame in which it is bound. */
  readonly again?: ((frame: Frame) => OpenLine | null | 'refuted') | null;
  /** Its number among the candidates of the variable. */
  readonly order: number;
  readonly evidence: readonly Evidence[];
  /** For each join of the rule that has a side about this variable, what that side compares. */
  readonly keys: readonly JoinKey[];
}

/** A piece whose length is known before anything of it is looked at. */
export interface Piece<T> extends Iterable<T> {
  readonly length: number;
}
