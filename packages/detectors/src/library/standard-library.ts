/**
 * The functions that rules import, as the programs that load policies offer them: `invariant.detectors` and
 * `invariant.parsers` as the standard library names them, everything else under `cordon.detectors`. A detector's code is loaded when a rule
 * first asks it, because most starts need none. Ring 1.
 */

import type { Json } from '@cordon/core';
import {
  type Detector,
  type DetectorCall,
  type DetectorSpec,
  defineDetector,
  NEEDS_PARSER,
  type NoAnswer,
  type TextQuestions,
} from '@cordon/policy';
import { type Asking, NOBODY_ANSWERS } from '../asking/asking.ts';
import type * as Questions from '../asking/rule.ts';
import type * as Code from '../code/rule.ts';
import type * as Comparison from '../comparison/rule.ts';
import { CATEGORY_NAMES } from '../hidden-text/category-names.ts';
import type * as HiddenText from '../hidden-text/rule.ts';
import type * as Links from '../links/rule.ts';
import { predicatesOf } from '../own/predicates.ts';
import { KINDS } from '../pii/kinds.ts';
import type * as Pii from '../pii/rule.ts';
import type * as PromptInjection from '../prompt-injection/rule.ts';
import type * as Secrets from '../secrets/rule.ts';
import { onDemand, withoutParsers } from '../text/on-demand.ts';
import type * as Topic from '../topic/rule.ts';

const CODE = onDemand<typeof Code>('../code/rule.ts');
const COMPARISON = onDemand<typeof Comparison>('../comparison/rule.ts');
const HIDDEN_TEXT = onDemand<typeof HiddenText>('../hidden-text/rule.ts');
const LINKS = onDemand<typeof Links>('../links/rule.ts');
const PII = onDemand<typeof Pii>('../pii/rule.ts');
const PROMPT_INJECTION = onDemand<typeof PromptInjection>('../prompt-injection/rule.ts');
const QUESTIONS = onDemand<typeof Questions>('../asking/rule.ts');
const SECRETS = onDemand<typeof Secrets>('../secrets/rule.ts');
const TOPIC = onDemand<typeof Topic>('../topic/rule.ts');

const DETECTORS: readonly DetectorSpec[] = [
  {
    name: 'pii',
    parameters: ['data', 'entities', 'threshold'],
    choices: { entities: KINDS },
    run: (call) => PII().pii(call),
  },
  {
    name: 'secrets',
    parameters: ['data', 'threshold'],
    run: (call) => SECRETS().secrets(call),
  },
  {
    name: 'hidden_text',
    parameters: ['data', 'threshold'],
    run: (call) => HIDDEN_TEXT().hiddenText(call),
  },
  {
    name: 'unicode',
    parameters: ['data', 'categories'],
    choices: { categories: new Set(CATEGORY_NAMES) },
    run: (call) => HIDDEN_TEXT().unicode(call),
  },
  {
    name: 'prompt_injection',
    parameters: ['data', 'model', 'threshold'],
    run: (call) => PROMPT_INJECTION().promptInjection(call),
  },
  {
    name: 'injection_spans',
    parameters: ['data', 'threshold'],
    run: (call) => PROMPT_INJECTION().spansAsValues(call),
  },
  {
    name: 'python_code',
    parameters: ['data', 'ipython_mode', 'threshold'],
    run: (call) => CODE().python(call),
  },
  {
    name: 'ipython_code',
    parameters: ['data', 'threshold'],
    run: (call) => CODE().ipython(call),
  },
  {
    name: 'semgrep',
    parameters: ['data', 'lang'],
    choices: { lang: new Set(['bash', 'python']) },
    run: (call) => CODE().semgrep(call),
  },
  {
    name: 'javascript_code',
    parameters: ['data', 'threshold'],
    run: (call) => CODE().javascript(call),
  },
  {
    name: 'shell_code',
    parameters: ['data', 'threshold'],
    run: (call) => CODE().shell(call),
  },
  {
    name: 'sql_code',
    parameters: ['data', 'dialect', 'threshold'],
    choices: { dialect: new Set(['mssql', 'mysql', 'postgres', 'sqlite']) },
    run: (call) => CODE().sql(call),
  },
  {
    name: 'links',
    parameters: ['data'],
    run: (call) => LINKS().links(call),
  },
  {
    name: 'html_code',
    parameters: ['data'],
    run: (call) => LINKS().htmlCode(call),
  },
  {
    name: 'link_exfiltration',
    parameters: ['data', 'private', 'threshold'],
    run: (call) => LINKS().linkExfiltration(call),
  },
  {
    name: 'copyright',
    parameters: ['data', 'threshold'],
    run: (call) => COMPARISON().copyright(call),
  },
  {
    name: 'fuzzy_contains',
    parameters: ['text', 'query', 'query_similarity_threshold', 'use_semantic'],
    run: (call) => COMPARISON().fuzzyContains(call),
  },
  {
    name: 'lexical_similarity',
    parameters: ['data', 'target'],
    run: (call) => COMPARISON().lexical(call),
  },
  {
    name: 'should_allow_rbac',
    parameters: ['data', 'scope', 'user', 'user_roles', 'role_grants'],
    run: (call) => COMPARISON().shouldAllowRbac(call),
  },
];

/** Those that someone else answers: without `asking`, rules that use them are undecided with the reason. */
const ASKING: readonly {
  readonly name: string;
  readonly parameters: readonly [string, ...string[]];
  readonly run: (call: DetectorCall, asking: Asking) => Json | NoAnswer;
  /** Whether it answers this call itself, because nobody else can; absent: it never does. */
  readonly computes?: (call: DetectorCall, asking: Asking) => boolean;
}[] = [
  {
    name: 'llm',
    parameters: ['prompt', 'system_prompt', 'model', 'temperature', 'max_tokens'],
    run: (call, asking) => QUESTIONS().llm(call, asking),
  },
  {
    name: 'llm_confirm',
    parameters: ['description', 'system_prompt', 'model', 'temperature', 'max_tokens'],
    run: (call, asking) => QUESTIONS().llmConfirm(call, asking),
  },
  {
    name: 'is_similar',
    parameters: ['data', 'target', 'threshold'],
    run: (call, asking) => QUESTIONS().isSimilar(call, asking),
  },
  {
    name: 'embedding_similarity',
    parameters: ['data', 'target', 'mode'],
    run: (call, asking) => QUESTIONS().embeddingSimilarity(call, asking),
  },
  {
    name: 'moderated',
    parameters: ['data', 'model', 'default_threshold', 'cat_thresholds', 'split'],
    run: (call, asking) => QUESTIONS().moderated(call, asking),
    computes: ({ given }, { offers }) => given.model === 'cordon' || !offers.has('moderation'),
  },
  {
    name: 'topic',
    parameters: ['data', 'topics', 'threshold', 'model'],
    run: (call, asking) => TOPIC().topic(call, asking),
    computes: ({ given }) => (given.model ?? null) === null,
  },
  {
    name: 'ocr',
    parameters: ['images'],
    run: (call, asking) => QUESTIONS().ocr(call, asking),
  },
];

/** What a module of the user's may not name its functions: its own would stand in for ours, unseen. */
export const STANDARD_NAMES: ReadonlySet<string> = new Set([...DETECTORS, ...ASKING].map(({ name }) => name));

/**
 * All detectors, and the predicates of the user's modules: given to `loadPolicy`, its rules can import them by name.
 * @param asking who answers those that a model or a service answers
 * @param textQuestions where texts are looked at that are long, or need a third-party parser; absent: in the process that decides, at once
 * @param parsers whether third-party parsers may read texts in this process; where they may not, a call that needs one says so
 */
export function standardDetectors(
  asking: Asking = NOBODY_ANSWERS,
  textQuestions: TextQuestions | null = null,
  parsers: 'here' | 'elsewhere' = textQuestions === null ? 'here' : 'elsewhere',
): readonly Detector[] {
  const asked = ASKING.map(
    ({ name, parameters, run, computes }): DetectorSpec => ({
      name,
      parameters,
      run: (call) => run(call, asking),
      asksOutside: (call) => computes === undefined || !computes(call, asking),
    }),
  );
  const confined = ({ run, ...spec }: DetectorSpec): DetectorSpec => ({
    ...spec,
    run: (call) => withoutParsers<ReturnType<typeof run>>(() => run(call), NEEDS_PARSER),
  });
  const offered = [...DETECTORS, ...asked];
  return [
    ...(parsers === 'here' ? offered : offered.map(confined)).map((spec) =>
      defineDetector(spec, textQuestions),
    ),
    ...(asking.own ?? []).flatMap((module) => predicatesOf(module, asking)),
  ];
}
