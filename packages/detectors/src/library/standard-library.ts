/**
 * The functions that rules import, as the programs that load policies offer them: `invariant.detectors` and
 * `invariant.parsers` as the standard library names them, everything else under `cordon.detectors`. A detector's code is loaded when a rule
 * first asks it, because most starts need none.
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

type ParameterNames = readonly [string, ...string[]];

const DETECTORS: readonly DetectorSpec[] = [
  spec('pii', ['data', 'entities', 'threshold'], (call) => PII().pii(call), { entities: KINDS }),
  spec('secrets', ['data', 'threshold'], (call) => SECRETS().secrets(call)),
  spec('hidden_text', ['data', 'threshold'], (call) => HIDDEN_TEXT().hiddenText(call)),
  spec('unicode', ['data', 'categories'], (call) => HIDDEN_TEXT().unicode(call), {
    categories: new Set(CATEGORY_NAMES),
  }),
  spec('prompt_injection', ['data', 'model', 'threshold'], (call) =>
    PROMPT_INJECTION().promptInjection(call),
  ),
  spec('injection_spans', ['data', 'threshold'], (call) => PROMPT_INJECTION().spansAsValues(call)),
  spec('python_code', ['data', 'ipython_mode', 'threshold'], (call) => CODE().python(call)),
  spec('ipython_code', ['data', 'threshold'], (call) => CODE().ipython(call)),
  spec('semgrep', ['data', 'lang'], (call) => CODE().semgrep(call), { lang: new Set(['bash', 'python']) }),
  spec('javascript_code', ['data', 'threshold'], (call) => CODE().javascript(call)),
  spec('shell_code', ['data', 'threshold'], (call) => CODE().shell(call)),
  spec('sql_code', ['data', 'dialect', 'threshold'], (call) => CODE().sql(call), {
    dialect: new Set(['mssql', 'mysql', 'postgres', 'sqlite']),
  }),
  spec('links', ['data'], (call) => LINKS().links(call)),
  spec('html_code', ['data'], (call) => LINKS().htmlCode(call)),
  spec('link_exfiltration', ['data', 'private', 'threshold'], (call) => LINKS().linkExfiltration(call)),
  spec('copyright', ['data', 'threshold'], (call) => COMPARISON().copyright(call)),
  spec('fuzzy_contains', ['text', 'query', 'query_similarity_threshold', 'use_semantic'], (call) =>
    COMPARISON().fuzzyContains(call),
  ),
  spec('lexical_similarity', ['data', 'target'], (call) => COMPARISON().lexical(call)),
  spec('should_allow_rbac', ['data', 'scope', 'user', 'user_roles', 'role_grants'], (call) =>
    COMPARISON().shouldAllowRbac(call),
  ),
];

function spec(
  name: string,
  parameters: ParameterNames,
  run: DetectorSpec['run'],
  choices: DetectorSpec['choices'] & object = {},
): DetectorSpec {
  return { name, parameters, run, choices };
}

/** One that someone else answers: without `asking`, rules that use it are undecided with the reason. */
interface AskingSpec {
  readonly name: string;
  readonly parameters: ParameterNames;
  readonly run: (call: DetectorCall, asking: Asking) => Json | NoAnswer;
  /** Whether it answers this call itself, because nobody else can. */
  readonly computes: (call: DetectorCall, asking: Asking) => boolean;
}

const ASKING: readonly AskingSpec[] = [
  asks('llm', ['prompt', 'system_prompt', 'model', 'temperature', 'max_tokens'], (call, asking) =>
    QUESTIONS().llm(call, asking),
  ),
  asks(
    'llm_confirm',
    ['description', 'system_prompt', 'model', 'temperature', 'max_tokens'],
    (call, asking) => QUESTIONS().llmConfirm(call, asking),
  ),
  asks('is_similar', ['data', 'target', 'threshold'], (call, asking) => QUESTIONS().isSimilar(call, asking)),
  asks('embedding_similarity', ['data', 'target', 'mode'], (call, asking) =>
    QUESTIONS().embeddingSimilarity(call, asking),
  ),
  asks(
    'moderated',
    ['data', 'model', 'default_threshold', 'cat_thresholds', 'split'],
    (call, asking) => QUESTIONS().moderated(call, asking),
    ({ given }, { offers }) => given.model === 'cordon' || !offers.has('moderation'),
  ),
  asks(
    'topic',
    ['data', 'topics', 'threshold', 'model'],
    (call, asking) => TOPIC().topic(call, asking),
    ({ given }) => (given.model ?? null) === null,
  ),
  asks('ocr', ['images'], (call, asking) => QUESTIONS().ocr(call, asking)),
];

function asks(
  name: string,
  parameters: ParameterNames,
  run: AskingSpec['run'],
  computes: AskingSpec['computes'] = () => false,
): AskingSpec {
  return { name, parameters, run, computes };
}

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
      asksOutside: (call) => !computes(call, asking),
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
