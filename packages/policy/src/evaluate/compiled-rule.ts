/** A rule as it is evaluated: its lines as functions, and what they look at. */
import type { EffectWord } from '../syntax/ast.ts';
import type { Source, Span } from '../syntax/source.ts';
import type { Body, Domain, Evaluate } from './body.ts';

export interface CompiledRule {
  /** Where its spans are offsets. */
  readonly source: Source;
  /** Its name, or `rule-` and its number from 1. */
  readonly id: string;
  /** From 0, in the order of the text. */
  readonly number: number;
  readonly effect: EffectWord;
  readonly whenUndecided: 'deny' | 'allow';
  readonly body: Body;
  /** How many slots a frame of it has. */
  readonly slots: number;
  /** Computes what the rule says about an assignment; for analysis, as it may hold protected values. */
  readonly message: Evaluate;
  /** The part of the message that its author wrote as text: safe to show to anybody. */
  readonly staticMessage: string;
  /** The tools whose calls the policy may look at behind tool outputs; null: those of all tools. */
  readonly linkedCalls: ReadonlySet<string> | null;
  /** Types of events that can change what predicates and quantifiers of the rule say of older ones. */
  readonly rangesOver: ReadonlySet<string>;
  /** What predicates and quantifiers of the policy range over. */
  readonly domains: readonly Domain[];
  /** Whether the policy asks where values came from, so that what was seen has to be kept. */
  readonly asksOrigin: boolean;
  readonly span: Span;
}
