/**
 * OpenAI's guardrails, those that need no model: secret keys, personal data and addresses by pattern, over the texts of a
 * call's arguments, as tool guardrails are run. They see one text and no history; those against prompt injection and
 * jailbreaks ask a model and cannot be run here.
 */
import type { ToolCallEvent } from '@cordon/policy';
import { peerModule } from '../packages.ts';
import type { Judge, Peer, PeerEngine, PeerRule } from '../peer.ts';
import { identifyingNames, isWrite, scalarsOf } from './history.ts';

interface Guardrails {
  runGuardrails(text: string, bundle: Bundle): Promise<readonly { readonly tripwireTriggered: boolean }[]>;
}

interface Bundle {
  readonly version: 1;
  readonly stageName: string;
  readonly guardrails: readonly { readonly name: string; readonly config: object }[];
}

const NO_HISTORY = { kind: 'none', missing: 'a guard sees one text and no history' } as const;

export const OPENAI_GUARDRAILS: Peer = {
  id: 'openai-guardrails',
  name: '`@openai/guardrails` 0.2.1, without a model',
  says: {
    'link-preview': NO_HISTORY,
    'leaked-secret': { kind: 'policy' },
    'pickled-model': NO_HISTORY,
    'mail-after-pii': NO_HISTORY,
    'write-after-output': NO_HISTORY,
    'unnamed-recipient': NO_HISTORY,
    'kept-recipient': NO_HISTORY,
    instructions: { kind: 'none', missing: 'its guard against injection asks a model' },
    contents: { kind: 'policy' },
  },
  load: loaded,
};

/** The kinds of the pack `personal-data` that it knows. */
const NUMBERS = [
  'CREDIT_CARD',
  'IBAN_CODE',
  'US_SSN',
  'US_ITIN',
  'US_PASSPORT',
  'UK_NHS',
  'UK_NINO',
  'ES_NIF',
  'ES_NIE',
  'IT_FISCAL_CODE',
  'PL_PESEL',
  'FI_PERSONAL_IDENTITY_CODE',
  'IN_AADHAAR',
  'IN_PAN',
  'KR_RRN',
  'SG_NRIC_FIN',
  'AU_TFN',
];

const PERSONAL_DATA = {
  name: 'Contains PII',
  config: { entities: NUMBERS, block: true, detect_encoded_pii: true },
};

const BUNDLES: Partial<Record<PeerRule, Bundle>> = {
  'leaked-secret': bundle({
    name: 'Secret Keys',
    config: { threshold: 'balanced', custom_regex: ['sk-.*'] },
  }),
  contents: bundle({ name: 'Secret Keys', config: { threshold: 'balanced' } }, PERSONAL_DATA),
};

function bundle(...guardrails: Bundle['guardrails']): Bundle {
  return { version: 1, stageName: 'output', guardrails };
}

async function loaded(): Promise<PeerEngine | null> {
  const guardrails = await peerModule<Guardrails>('@openai/guardrails');
  if (guardrails === null) return null;
  return { isAsDeployed: true, open: (rule) => new GuardrailJudge(guardrails, rule) };
}

class GuardrailJudge implements Judge {
  readonly #guardrails: Guardrails;
  readonly #rule: PeerRule;

  constructor(guardrails: Guardrails, rule: PeerRule) {
    this.#guardrails = guardrails;
    this.#rule = rule;
  }

  hear(): void {}

  async stops(call: ToolCallEvent): Promise<boolean> {
    const bundle = BUNDLES[this.#rule];
    if (bundle === undefined || !this.#concerns(call)) return false;
    const left = new Set(this.#rule === 'contents' ? identifyingNames(call) : []);
    const texts = Object.entries(call.arguments).flatMap(([name, value]) =>
      left.has(name) ? [] : scalarsOf(value),
    );
    for (const text of texts) {
      if (text.trim() === '') continue;
      const results = await this.#guardrails.runGuardrails(text, bundle);
      if (results.some(({ tripwireTriggered }) => tripwireTriggered)) return true;
    }
    return false;
  }

  /** Which tools a guard is hung on is said beside it. */
  #concerns(call: ToolCallEvent): boolean {
    if (this.#rule === 'leaked-secret') return call.name === 'github_push';
    return isWrite(call) && call.tool?.outward !== false;
  }
}
