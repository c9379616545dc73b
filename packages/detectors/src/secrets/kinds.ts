/**
 * What secrets look like: one row a form. A row is tried only where one of its literals stands, and all its repetitions are
 * bounded, so that no text makes looking for it expensive. Forms are those that the issuers document or that their
 * published keys have; where a form has no fixed mark, the words around it must say what it is (`assignment`).
 */
import { wordList } from '../text/words.ts';
import {
  ageKey,
  basicCredentials,
  extendedPrivateKey,
  grafanaChecksum,
  jsonWebToken,
  registryCredentials,
  type SecretCheck,
  tokenChecksum,
} from './checks.ts';

export interface SecretForm {
  readonly kind: string;
  /** One of them is in each secret of this form, within `back` characters of its start. */
  readonly literals: readonly string[];
  readonly anyCase: boolean;
  /** Characters that may stand before the literal and belong to the secret. */
  readonly back: { readonly chars: RegExp; readonly most: number } | null;
  /** Sticky, from the start of the secret; its first group, if it has one, is the secret. */
  readonly pattern: RegExp;
  /** `free`: a secret may begin within a word; `word`: not behind a letter or digit; `token`: nor behind `_` or `-`. */
  readonly left: 'free' | 'word' | 'token';
  /** Bits a character that a secret has at least; what has less is a placeholder or a word. */
  readonly entropy: number;
  readonly check: SecretCheck | null;
  /** Reported whatever it looks like, as the seed language does. */
  readonly isSeed: boolean;
}

type Options = Partial<Pick<SecretForm, 'anyCase' | 'back' | 'left' | 'entropy' | 'check'>>;

const END = '(?![A-Za-z0-9])';
const HEX = '[a-f0-9]';
const ALNUM = '[A-Za-z0-9]';
const URLSAFE = '[A-Za-z0-9_-]';
const UUID = '[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}';
/** Random hexadecimal has 4 bits a character, and short samples of it about 3.5. */
const OF_HEX = 2.8;
/** Random letters and digits have nearly 6, and samples of 20 about 4. */
const OF_ALNUM = 3.2;

/** One of the literals, and what stands behind it. */
function form(kind: string, literals: readonly string[], body: string, options: Options = {}): SecretForm {
  const start = literals.map((one) => one.replace(/[.$+?|()[\]{}\\^*/]/g, '\\$&')).join('|');
  const entropy = /^\[a-f0-9\]/.test(body) ? OF_HEX : OF_ALNUM;
  return exact(kind, literals, `(?:${start})${body}${END}`, { entropy, ...options });
}

/** A form in which the literals need not come first. */
function exact(kind: string, literals: readonly string[], whole: string, options: Options = {}): SecretForm {
  const { anyCase = false, back = null, left = 'word', entropy = OF_ALNUM, check = null } = options;
  const pattern = new RegExp(whole, anyCase ? 'iy' : 'y');
  return { kind, literals, anyCase, back, pattern, left, entropy, check, isSeed: false };
}

/** A form of the seed language: what it reports is reported. */
function seed(kind: string, literals: readonly string[], whole: string, options: Options = {}): SecretForm {
  return { ...exact(kind, literals, whole, { ...options, left: 'free', entropy: 0 }), isSeed: true };
}

const CLOUD: readonly SecretForm[] = [
  seed(
    'AWS_ACCESS_KEY',
    ['A3T', 'ABIA', 'ACCA', 'AKIA', 'ASIA'],
    '(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}',
  ),
  seed(
    'AWS_ACCESS_KEY',
    ['aws'],
    'aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?[\'"]([0-9a-z/+]{40})[\'"]',
    { anyCase: true },
  ),
  exact(
    'AWS_ACCESS_KEY',
    ['secret_access_key', 'secretaccesskey', 'aws_secret_key', 'secret access key'],
    `(?:secret[_ ]?access[_ ]?key|aws_secret_key)["']?[ \\t]{0,8}(?:[=:]|=>|is)[ \\t]{0,8}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    { anyCase: true, left: 'free' },
  ),
  form(
    'AWS_SESSION_TOKEN',
    ['IQoJb3JpZ2lu', 'FwoGZXIvYXdz', 'FQoGZXIvYXdz'],
    '[A-Za-z0-9/+]{100,2000}={0,2}',
    { left: 'token' },
  ),
  form('AWS_BEDROCK_KEY', ['ABSKQmVkcm9ja0FQSUtleS'], '[A-Za-z0-9+/]{80,300}={0,2}'),
  seed('AZURE_STORAGE_KEY', ['AccountKey='], 'AccountKey=([A-Za-z0-9+/=]{88})'),
  exact('AZURE_CLIENT_SECRET', ['Q~'], `[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])`, {
    back: { chars: /[A-Za-z0-9_~.]/, most: 4 },
  }),
  exact('AZURE_SHARED_KEY', ['SharedAccessKey='], 'SharedAccessKey=([A-Za-z0-9+/]{43}=)'),
  exact('AZURE_SAS_TOKEN', ['sig='], `sig=([A-Za-z0-9+/]{43}=|(?:[A-Za-z0-9]|%2[BbFf]){43}%3[Dd])${END}`),
  exact('AZURE_DEVOPS_TOKEN', ['AZDO'], `${ALNUM}{76}AZDO${ALNUM}{4}${END}`, {
    back: { chars: /[A-Za-z0-9]/, most: 76 },
  }),
  exact('AZURE_KEY', ['JQQJ9'], `${ALNUM}{52}JQQJ9[9DH]${ALNUM}{26}(?:${ALNUM}{2}==)?${END}`, {
    back: { chars: /[A-Za-z0-9]/, most: 52 },
  }),
  form('GOOGLE_API_KEY', ['AIza'], `${URLSAFE}{35}(?!${URLSAFE})`),
  form('GOOGLE_OAUTH_SECRET', ['GOCSPX-'], `${URLSAFE}{28}`),
  form('GOOGLE_OAUTH_TOKEN', ['ya29.'], `${URLSAFE}{30,400}`, { left: 'token' }),
  form('GOOGLE_REFRESH_TOKEN', ['1//0'], `${URLSAFE}{40,250}`, { left: 'token' }),
  form('DIGITALOCEAN_TOKEN', ['dop_v1_', 'doo_v1_', 'dor_v1_'], `${HEX}{64}`),
  form('HEROKU_KEY', ['HRKU-'], `(?:${UUID}|${URLSAFE}{60})`),
  form('ALIBABA_ACCESS_KEY', ['LTAI'], `${ALNUM}{12,20}`),
  form('TENCENT_SECRET_ID', ['AKID'], `${ALNUM}{32}`),
  form('CLOUDFLARE_CA_KEY', ['v1.0-'], `${HEX}{24}-${HEX}{146}`),
  form('FLY_TOKEN', ['fo1_', 'fm1_', 'fm2_', 'fm1a_', 'fm1r_'], '[A-Za-z0-9+/_-]{43,800}={0,3}', {
    left: 'token',
  }),
  form('VERCEL_TOKEN', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], `${ALNUM}{24,64}`),
  form('NETLIFY_TOKEN', ['nfp_', 'nfc_', 'nfo_', 'nfu_', 'nfb_'], `${ALNUM}{36}`),
  form('SCALEWAY_KEY', ['SCW'], '[A-Z0-9]{17}', { entropy: 3 }),
  form('PULUMI_TOKEN', ['pul-'], `${HEX}{40}`),
  exact(
    'TERRAFORM_TOKEN',
    ['.atlasv1.'],
    `${ALNUM}{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,70}(?![A-Za-z0-9_=-])`,
    { back: { chars: /[A-Za-z0-9]/, most: 14 } },
  ),
  form('VAULT_TOKEN', ['hvs.', 'hvb.', 'hvr.'], `${URLSAFE}{24,300}`, { left: 'token' }),
  form(
    'DOPPLER_TOKEN',
    ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    `(?:[a-z0-9_-]{2,35}\\.)?${ALNUM}{40,44}`,
  ),
  form('DATABRICKS_TOKEN', ['dapi'], `${HEX}{32}(?:-\\d)?`),
];

const SOURCE_HOSTS: readonly SecretForm[] = [
  seed('GITHUB_TOKEN', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9_]{36}', {
    check: tokenChecksum,
  }),
  form('GITHUB_TOKEN', ['github_pat_'], `${ALNUM}{22}_${ALNUM}{59}`),
  form(
    'GITLAB_TOKEN',
    wordList('glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- GR1348941'),
    '[A-Za-z0-9_.-]{20,300}(?<=[A-Za-z0-9_-])',
    { left: 'token' },
  ),
  form('ATLASSIAN_TOKEN', ['ATATT3', 'ATCTT3'], '[A-Za-z0-9_=-]{150,260}', { left: 'token' }),
  form('BITBUCKET_TOKEN', ['ATBB'], `${ALNUM}{32}`),
  form('NPM_TOKEN', ['npm_'], `${ALNUM}{36}`, { check: tokenChecksum }),
  form('PYPI_TOKEN', ['pypi-AgEIcHlwaS5vcmc', 'pypi-AgENdGVzdC5weXBpLm9yZw'], `${URLSAFE}{50,1000}`, {
    left: 'token',
  }),
  form('RUBYGEMS_KEY', ['rubygems_'], `${HEX}{48}`),
  form('CRATES_TOKEN', ['cio'], `${ALNUM}{32}`, { entropy: 3.6 }),
  form('DOCKER_TOKEN', ['dckr_pat_', 'dckr_oat_'], `${URLSAFE}{27,32}`),
  form('NUGET_KEY', ['oy2'], '[a-z0-9]{43}'),
  form('CLOJARS_TOKEN', ['CLOJARS_'], '[a-z0-9]{60}'),
  form('ARTIFACTORY_KEY', ['AKCp'], `${ALNUM}{69}`),
  form('ARTIFACTORY_KEY', ['cmVmdGtu'], `${ALNUM}{56}`),
  form('SOURCEGRAPH_TOKEN', ['sgp_'], '(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}', { entropy: OF_HEX }),
  form('CIRCLECI_TOKEN', ['CCIPAT_', 'CCIPRJ_'], `${ALNUM}{22}_${HEX}{40}`),
  form('BUILDKITE_TOKEN', ['bkua_'], `${HEX}{40}`),
  form('SONAR_TOKEN', ['squ_', 'sqp_', 'sqa_'], `${HEX}{40}`),
  form('POSTMAN_KEY', ['PMAK-'], `${HEX}{24}-${HEX}{34}`),
  form('PREFECT_KEY', ['pnu_', 'pnb_'], `${ALNUM}{36}`),
  form('TAILSCALE_KEY', ['tskey-'], `(?:auth|api|client|scim|webhook)-${ALNUM}{8,24}-${ALNUM}{20,48}`),
];

const MODELS: readonly SecretForm[] = [
  form('OPENAI_API_KEY', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], `${URLSAFE}{40,220}`, {
    left: 'token',
  }),
  form('OPENAI_API_KEY', ['sk-'], `${ALNUM}{20}T3BlbkFJ${ALNUM}{20}`),
  form('OPENAI_API_KEY', ['sk-'], `${ALNUM}{48}`),
  form('DEEPSEEK_API_KEY', ['sk-'], `${HEX}{32}`),
  form('ANTHROPIC_API_KEY', ['sk-ant-'], `(?:api|admin|oat|ort|sid)\\d{2}-${URLSAFE}{80,140}`),
  form('OPENROUTER_API_KEY', ['sk-or-v1-'], `${HEX}{64}`),
  form('LANGFUSE_KEY', ['sk-lf-'], UUID, { entropy: OF_HEX }),
  form('GROQ_API_KEY', ['gsk_'], `${ALNUM}{52}`),
  form('HUGGINGFACE_TOKEN', ['hf_', 'api_org_'], `${ALNUM}{34}`),
  form('REPLICATE_TOKEN', ['r8_'], `${ALNUM}{37}`),
  form('PERPLEXITY_API_KEY', ['pplx-'], `${ALNUM}{48}`),
  form('XAI_API_KEY', ['xai-'], `${ALNUM}{80}`),
  form('CEREBRAS_API_KEY', ['csk-'], '[a-z0-9]{48}'),
  form('FIREWORKS_API_KEY', ['fw_'], `${ALNUM}{22,24}`, { entropy: 3.4 }),
  form('TOGETHER_API_KEY', ['tgp_v1_'], `${URLSAFE}{43}`),
  form('NVIDIA_API_KEY', ['nvapi-'], `${URLSAFE}{60,72}`),
  form('LANGSMITH_KEY', ['lsv2_'], `(?:pt|sk)_${HEX}{32}_${HEX}{10}`),
  form('ELEVENLABS_KEY', ['sk_'], `${HEX}{48}`),
  form('TAVILY_KEY', ['tvly-'], `(?:dev-|prod-)?${ALNUM}{32}`),
  form('PINECONE_KEY', ['pcsk_'], `${ALNUM}{5,6}_${ALNUM}{60,66}`),
  form('JINA_KEY', ['jina_'], `${HEX}{32}${URLSAFE}{28}`),
];

const CHAT_AND_MAIL: readonly SecretForm[] = [
  seed(
    'SLACK_TOKEN',
    ['xoxa-', 'xoxb-', 'xoxp-', 'xoxo-', 'xoxs-', 'xoxr-'],
    'xox[abposr]-(?:\\d{1,64}-){1,16}[a-z0-9]{1,512}',
    {
      anyCase: true,
    },
  ),
  seed(
    'SLACK_TOKEN',
    ['hooks.slack.com/services/t'],
    'hooks\\.slack\\.com/services/(T[a-z0-9_]{1,256}/B[a-z0-9_]{1,256}/[a-z0-9_]{1,512})',
    { anyCase: true },
  ),
  form('SLACK_TOKEN', ['xapp-', 'xoxe-', 'xoxe.'], '[A-Za-z0-9.-]{20,300}', { left: 'token' }),
  form(
    'DISCORD_TOKEN',
    ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'],
    `${ALNUM}{21,26}\\.${URLSAFE}{6}\\.${URLSAFE}{27,40}`,
    {
      left: 'token',
    },
  ),
  exact('DISCORD_WEBHOOK', ['/api/webhooks/'], `/api/webhooks/(\\d{17,20}/${URLSAFE}{60,80})`, {
    left: 'free',
  }),
  // `bot` stands before it in addresses.
  exact('TELEGRAM_TOKEN', [':AA'], `\\d{8,10}:AA${URLSAFE}{33}(?!${URLSAFE})`, {
    back: { chars: /\d/, most: 11 },
    left: 'free',
  }),
  exact(
    'TEAMS_WEBHOOK',
    ['.webhook.office.com/webhookb2/'],
    `\\.webhook\\.office\\.com/webhookb2/(${UUID}@${UUID}/IncomingWebhook/${HEX}{32}/${UUID})`,
    { left: 'free' },
  ),
  form('SENDGRID_KEY', ['SG.'], `${URLSAFE}{22}\\.${URLSAFE}{43}`),
  form('MAILGUN_KEY', ['key-'], `${HEX}{32}`),
  exact('MAILCHIMP_KEY', ['-us'], `${HEX}{32}-us\\d{1,2}${END}`, { back: { chars: /[a-f0-9]/, most: 33 } }),
  form('BREVO_KEY', ['xkeysib-', 'xsmtpsib-'], `${HEX}{64}-${ALNUM}{16}`),
  form('RESEND_KEY', ['re_'], `${ALNUM}{8}_${ALNUM}{24}`),
  form('TWILIO_KEY', ['SK'], `${HEX}{32}`),
];

const PAYMENT: readonly SecretForm[] = [
  form(
    'STRIPE_KEY',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_prod_', 'rk_prod_'],
    `${ALNUM}{16,247}`,
  ),
  form('STRIPE_WEBHOOK_SECRET', ['whsec_'], '[A-Za-z0-9+/]{32,64}={0,2}'),
  form('SQUARE_TOKEN', ['sq0csp-', 'sq0atp-'], `${URLSAFE}{22,43}`),
  form('SQUARE_TOKEN', ['EAAA'], `${URLSAFE}{60}`),
  form('BRAINTREE_TOKEN', ['access_token$'], `(?:production|sandbox)\\$[a-z0-9]{16}\\$${HEX}{32}`, {
    entropy: OF_HEX,
  }),
  form('SHOPIFY_TOKEN', ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shpua_'], '[a-fA-F0-9]{32}', {
    entropy: OF_HEX,
  }),
  form('PLAID_TOKEN', ['access-sandbox-', 'access-development-', 'access-production-'], UUID, {
    entropy: OF_HEX,
  }),
  form('FLUTTERWAVE_KEY', ['FLWSECK-', 'FLWSECK_TEST-'], `[a-fA-F0-9]{12,32}(?:-X)?`, { entropy: OF_HEX }),
  form('PADDLE_KEY', ['pdl_live_apikey_', 'pdl_sdbx_apikey_'], `[a-z0-9]{26}_${ALNUM}{22}_${ALNUM}{3}`),
  form('EASYPOST_KEY', ['EZAK', 'EZTK'], `${ALNUM}{54}`),
  form('SHIPPO_TOKEN', ['shippo_live_', 'shippo_test_'], `${HEX}{40}`),
  form('DUFFEL_TOKEN', ['duffel_live_', 'duffel_test_'], `${URLSAFE}{43}`),
];

const DATABASES: readonly SecretForm[] = [
  form('PLANETSCALE_TOKEN', ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], '[A-Za-z0-9_.=-]{32,64}'),
  form('SUPABASE_KEY', ['sbp_'], `${HEX}{40}`),
  form('SUPABASE_KEY', ['sb_secret_'], `${URLSAFE}{22,44}`),
  form('NEON_KEY', ['napi_'], '[a-z0-9]{60,70}'),
  form('AIVEN_PASSWORD', ['AVNS_'], `${URLSAFE}{18,24}`),
  form('CLICKHOUSE_KEY', ['4b1d'], `${ALNUM}{38}`, { entropy: 3.6 }),
];

const OPERATIONS: readonly SecretForm[] = [
  form('NEWRELIC_KEY', ['NRAK-'], '[A-Z0-9]{27}'),
  form('NEWRELIC_KEY', ['NRII-'], `${URLSAFE}{32}`),
  form('GRAFANA_TOKEN', ['glsa_'], `${ALNUM}{32}_[a-fA-F0-9]{8}`, { check: grafanaChecksum }),
  form('GRAFANA_TOKEN', ['glc_eyJ'], '[A-Za-z0-9+/]{32,400}={0,3}'),
  form('SENTRY_TOKEN', ['sntrys_eyJ'], '[A-Za-z0-9+/=_-]{80,400}', { left: 'token' }),
  form('SENTRY_TOKEN', ['sntryu_'], `${HEX}{64}`),
  form('DYNATRACE_TOKEN', ['dt0c01.', 'dt0s01.', 'dt0s16.'], '[A-Z0-9]{8,24}\\.[A-Z0-9]{64}'),
  form('POSTHOG_KEY', ['phx_'], `${ALNUM}{40,56}`),
  form('LAUNCHDARKLY_KEY', ['sdk-'], UUID, { entropy: OF_HEX }),
  form('ONEPASSWORD_TOKEN', ['ops_eyJ'], '[A-Za-z0-9+/]{200,1500}={0,3}', { left: 'token' }),
  form(
    'ONEPASSWORD_SECRET_KEY',
    ['A3-'],
    '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}',
  ),
];

const SERVICES: readonly SecretForm[] = [
  form('NOTION_TOKEN', ['ntn_'], `${ALNUM}{40,50}`),
  form('NOTION_TOKEN', ['secret_'], `${ALNUM}{43}`),
  form('LINEAR_KEY', ['lin_api_', 'lin_oauth_'], `${ALNUM}{40,64}`),
  form('AIRTABLE_TOKEN', ['pat'], `${ALNUM}{14}\\.${HEX}{64}`),
  form('ASANA_TOKEN', ['1/1', '2/1'], `\\d{15}(?:/\\d{16})?:${HEX}{32}`, { entropy: OF_HEX }),
  form('FIGMA_TOKEN', ['figd_'], `${URLSAFE}{40,44}`),
  form('README_KEY', ['rdme_'], '[a-z0-9]{70}'),
  form('HUBSPOT_TOKEN', ['pat-na', 'pat-eu'], `\\d{1,2}-${UUID}`, { entropy: OF_HEX }),
  form('DROPBOX_TOKEN', ['sl.'], '[A-Za-z0-9_-]{130,1500}', { left: 'token' }),
  form('CONTENTFUL_TOKEN', ['CFPAT-'], `${URLSAFE}{43}`),
  form('TYPEFORM_TOKEN', ['tfp_'], `${URLSAFE}{40,60}`),
  form('FRAMEIO_TOKEN', ['fio-u-'], `${URLSAFE}{64}`),
  form('MAPBOX_TOKEN', ['sk.eyJ'], `${URLSAFE}{60,200}\\.${URLSAFE}{22}`, { left: 'token' }),
  form('FACEBOOK_TOKEN', ['EAA'], `${ALNUM}{80,300}`),
  form('TWITTER_TOKEN', ['AAAAAAAAAAAAAAAAAAAAA'], '[A-Za-z0-9%]{30,140}', { left: 'token' }),
];

const CRYPTOGRAPHY: readonly SecretForm[] = [
  // Lines may be joined by `\\n` as JSON writes it; a header without its key is documentation. What is between never
  // holds the next header, so no part of a text is read for two of them.
  exact(
    'PRIVATE_KEY',
    ['-----BEGIN '],
    `-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,.() \\t\\r\\n\\\\]|-(?!----)){60,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?`,
    { left: 'free' },
  ),
  exact(
    'PRIVATE_KEY',
    ['PuTTY-User-Key-File-'],
    'PuTTY-User-Key-File-[23]: (?:[^P]|P(?!uTTY)){1,4000}?Private-Lines: \\d{1,3}\\r?\\n[A-Za-z0-9+/=\\r\\n]{40,8000}',
    { left: 'free' },
  ),
  form('PRIVATE_KEY', ['LS0tLS1CRUdJTi'], '[A-Za-z0-9+/]{100,40000}={0,2}', { left: 'token' }),
  form('AGE_SECRET_KEY', ['AGE-SECRET-KEY-1'], '[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}', { check: ageKey }),
  form('WALLET_PRIVATE_KEY', ['xprv', 'yprv', 'zprv', 'tprv'], '[1-9A-HJ-NP-Za-km-z]{107}', {
    check: extendedPrivateKey,
  }),
  form('JWT', ['eyJ'], `${URLSAFE}{8,4000}\\.eyJ${URLSAFE}{6,16000}\\.${URLSAFE}{16,2000}`, {
    left: 'token',
    check: jsonWebToken,
  }),
];

/** What stands for a password in documentation. */
const SPELT_OUT =
  '(?![$<{*%]|(?:my|your)?[-_]?(?:pass(?:word|wd|wort)?|pwd|secret|token|changeme|x{3,})(?:["\'\\s]|$))';
const OF_PASSWORD = 2;

/** As programs take them. */
const IN_COMMANDS: readonly SecretForm[] = [
  exact(
    'PASSWORD',
    ['curl ', 'wget '],
    `(?:curl|wget) [^\\n]{0,240}?(?:-u|--user)[ =]?["']?[A-Za-z0-9._@+-]{1,64}:${SPELT_OUT}([^\\s"':@/]{4,128})`,
    { entropy: OF_PASSWORD },
  ),
  exact('PASSWORD', ['sshpass -p'], `sshpass -p[ ]?["']?${SPELT_OUT}([^\\s"']{4,128})`, {
    entropy: OF_PASSWORD,
  }),
  exact(
    'PASSWORD',
    ['mysql', 'mariadb'],
    `(?:mysql|mariadb)(?:dump|admin|import)? [^\\n|;&]{0,160}?(?<= )-p["']?${SPELT_OUT}([^\\s"'-][^\\s"']{3,128})`,
    { entropy: OF_PASSWORD },
  ),
  // A line, or lines, of `.netrc`.
  exact(
    'PASSWORD',
    ['login '],
    `login[ \\t]{1,4}\\S{1,80}\\s{1,8}password[ \\t]{1,4}${SPELT_OUT}(?=\\S{0,127}[\\d!@#$%^&*])(\\S{4,128})`,
    { entropy: OF_PASSWORD },
  ),
  exact('BASIC_AUTH_HEADER', ['"auth"'], '"auth"\\s{0,4}:\\s{0,4}"([A-Za-z0-9+/]{8,400}={0,2})"', {
    left: 'free',
    check: registryCredentials,
    entropy: 2.5,
  }),
];

const IN_CONTEXT: readonly SecretForm[] = [
  exact('BASIC_AUTH_HEADER', ['basic '], 'basic[ \\t]{1,4}([A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9+/=])', {
    anyCase: true,
    check: basicCredentials,
    entropy: 2.5,
  }),
  exact(
    'BEARER_TOKEN',
    ['bearer '],
    'bearer[ \\t]{1,4}([A-Za-z0-9_~+/.-]{20,2000}={0,2})(?![A-Za-z0-9_~+/=-])',
    { anyCase: true, entropy: 3.4 },
  ),
];

/** Every form, those with a fixed mark first. */
export const FORMS: readonly SecretForm[] = [
  ...CLOUD,
  ...SOURCE_HOSTS,
  ...MODELS,
  ...CHAT_AND_MAIL,
  ...PAYMENT,
  ...DATABASES,
  ...OPERATIONS,
  ...SERVICES,
  ...CRYPTOGRAPHY,
  ...IN_COMMANDS,
  ...IN_CONTEXT,
];
