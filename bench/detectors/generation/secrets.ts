/**
 * Writes `texts/secrets.jsonl`: made-up secrets of every kind in the places where they turn up, and texts that look as if they held
 * one. `node bench/detectors/generation/secrets.ts`. No secret is anybody's: all are drawn by a seed.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Labelled, writeLabelled } from '../labelled.ts';
import { Chance, filled, type Part, wanted } from './writing.ts';

const chance = new Chance(20_260_606);

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const ALNUM = DIGITS + UPPER + LOWER;
const URLSAFE = `${ALNUM}_-`;
const BASE64 = `${ALNUM}+/`;

const hex = (length: number) => chance.text(HEX, length);
const alnum = (length: number) => chance.text(ALNUM, length);
const small = (length: number) => chance.text(LOWER + DIGITS, length);
const big = (length: number) => chance.text(UPPER + DIGITS, length);
/** Never ends in a mark that a sentence may have, too. */
const safe = (length: number) => chance.text(URLSAFE, length - 1) + alnum(1);
const base64 = (length: number) => chance.text(BASE64, length);
const uuid = () => [8, 4, 4, 4, 12].map(hex).join('-');
const digits = (length: number) => chance.text('123456789', 1) + chance.text(DIGITS, length - 1);

function withCrc(prefix: string): string {
  const random = alnum(30);
  let [rest, check] = [crc32(random), ''];
  for (; rest > 0; rest = Math.floor(rest / 62)) check = `${(DIGITS + UPPER + LOWER)[rest % 62]}${check}`;
  return `${prefix}${random}${check.padStart(6, '0')}`;
}

function grafana(): string {
  const start = `glsa_${alnum(32)}`;
  return `${start}_${crc32(start).toString(16).padStart(8, '0')}`;
}

function jwt(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: digits(10), name: alnum(8), iat: 1_700_000_000 + chance.whole(0, 9_999_999) };
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${safe(43)}`;
}

function pem(label: string, join = '\n'): string {
  const lines = Array.from({ length: 12 }, () => base64(64));
  return [`-----BEGIN ${label}-----`, ...lines, `${base64(42)}==`, `-----END ${label}-----`].join(join);
}

function extendedKey(): string {
  const bytes = Buffer.from(
    `0488ade4${hex(26).replace(/./g, (one) => one)}${hex(64)}00${hex(64)}`.slice(0, 156),
    'hex',
  );
  const twice = createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest();
  let value = BigInt(`0x${Buffer.concat([bytes, twice.subarray(0, 4)]).toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n)
    text = `${'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[Number(value % 58n)]}${text}`;
  return text;
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

function ageKey(): string {
  const data = Array.from({ length: 52 }, () => chance.whole(0, 31));
  const prefix = [...'age-secret-key-'].map((one) => one.charCodeAt(0));
  const expanded = [...prefix.map((unit) => unit >> 5), 0, ...prefix.map((unit) => unit & 31)];
  const polymod = (values: readonly number[]): number => {
    let check = 1;
    for (const value of values) {
      const top = check >>> 25;
      check = ((check & 0x1ffffff) << 5) ^ value;
      for (const [bit, by] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries())
        if ((top >>> bit) & 1) check ^= by;
    }
    return check >>> 0;
  };
  const rest = polymod([...expanded, ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const sum = Array.from({ length: 6 }, (_, at) => (rest >>> (5 * (5 - at))) & 31);
  return `AGE-SECRET-KEY-1${[...data, ...sum].map((one) => BECH32[one]).join('')}`.toUpperCase();
}

/** Secrets that carry a mark of their own. */
const MARKED: Readonly<Record<string, () => string>> = {
  AWS_ACCESS_KEY: () => `${chance.one(['AKIA', 'ASIA', 'ABIA', 'ACCA'])}${chance.text(`${UPPER}234567`, 16)}`,
  AWS_SESSION_TOKEN: () => `IQoJb3JpZ2lu${base64(280)}==`,
  AWS_BEDROCK_KEY: () => `ABSKQmVkcm9ja0FQSUtleS${base64(110)}=`,
  AZURE_CLIENT_SECRET: () => `${alnum(3)}${chance.whole(1, 9)}Q~${chance.text(`${ALNUM}_.-`, 33)}${alnum(1)}`,
  AZURE_DEVOPS_TOKEN: () => `${alnum(76)}AZDO${alnum(4)}`,
  AZURE_KEY: () => `${alnum(52)}JQQJ99${alnum(26)}`,
  GOOGLE_API_KEY: () => `AIzaSy${safe(33)}`,
  GOOGLE_OAUTH_SECRET: () => `GOCSPX-${safe(28)}`,
  GOOGLE_OAUTH_TOKEN: () => `ya29.a0${safe(160)}`,
  GOOGLE_REFRESH_TOKEN: () => `1//0${chance.whole(1, 9)}${safe(60)}`,
  DIGITALOCEAN_TOKEN: () => `dop_v1_${hex(64)}`,
  HEROKU_KEY: () => `HRKU-${uuid()}`,
  ALIBABA_ACCESS_KEY: () => `LTAI5t${alnum(18)}`,
  TENCENT_SECRET_ID: () => `AKID${alnum(32)}`,
  CLOUDFLARE_CA_KEY: () => `v1.0-${hex(24)}-${hex(146)}`,
  FLY_TOKEN: () => `fo1_${safe(43)}`,
  VERCEL_TOKEN: () => `vcp_${alnum(56)}`,
  NETLIFY_TOKEN: () => `nfp_${alnum(36)}`,
  SCALEWAY_KEY: () => `SCW${big(17)}`,
  PULUMI_TOKEN: () => `pul-${hex(40)}`,
  TERRAFORM_TOKEN: () => `${alnum(14)}.atlasv1.${alnum(67)}`,
  VAULT_TOKEN: () => `hvs.${safe(95)}`,
  DOPPLER_TOKEN: () => `dp.pt.${alnum(43)}`,
  DATABRICKS_TOKEN: () => `dapi${hex(32)}`,
  GITHUB_TOKEN: () =>
    chance.one([withCrc('ghp_'), withCrc('gho_'), withCrc('ghs_'), `github_pat_${alnum(22)}_${alnum(59)}`]),
  GITLAB_TOKEN: () =>
    chance.one([
      `glpat-${safe(20)}`,
      `gldt-${safe(20)}`,
      `glrt-${safe(20)}`,
      `glpat-${safe(27)}.01.${small(9)}`,
    ]),
  ATLASSIAN_TOKEN: () => `ATATT3xFfGF0${safe(170)}=${big(8)}`,
  BITBUCKET_TOKEN: () => `ATBB${alnum(32)}`,
  NPM_TOKEN: () => withCrc('npm_'),
  PYPI_TOKEN: () => `pypi-AgEIcHlwaS5vcmc${safe(130)}`,
  RUBYGEMS_KEY: () => `rubygems_${hex(48)}`,
  CRATES_TOKEN: () => `cio${alnum(32)}`,
  DOCKER_TOKEN: () => `dckr_pat_${safe(27)}`,
  NUGET_KEY: () => `oy2${small(43)}`,
  CLOJARS_TOKEN: () => `CLOJARS_${small(60)}`,
  ARTIFACTORY_KEY: () => `AKCp${alnum(69)}`,
  SOURCEGRAPH_TOKEN: () => `sgp_${hex(16)}_${hex(40)}`,
  CIRCLECI_TOKEN: () => `CCIPAT_${alnum(22)}_${hex(40)}`,
  BUILDKITE_TOKEN: () => `bkua_${hex(40)}`,
  SONAR_TOKEN: () => `squ_${hex(40)}`,
  POSTMAN_KEY: () => `PMAK-${hex(24)}-${hex(34)}`,
  PREFECT_KEY: () => `pnu_${alnum(36)}`,
  TAILSCALE_KEY: () => `tskey-auth-${alnum(17)}-${alnum(32)}`,
  OPENAI_API_KEY: () =>
    chance.one([`sk-proj-${safe(74)}T3BlbkFJ${safe(74)}`, `sk-${alnum(20)}T3BlbkFJ${alnum(20)}`]),
  DEEPSEEK_API_KEY: () => `sk-${hex(32)}`,
  ANTHROPIC_API_KEY: () => `sk-ant-api03-${safe(93)}AA`,
  OPENROUTER_API_KEY: () => `sk-or-v1-${hex(64)}`,
  LANGFUSE_KEY: () => `sk-lf-${uuid()}`,
  GROQ_API_KEY: () => `gsk_${alnum(52)}`,
  HUGGINGFACE_TOKEN: () => `hf_${chance.text(LOWER + UPPER, 34)}`,
  REPLICATE_TOKEN: () => `r8_${alnum(37)}`,
  PERPLEXITY_API_KEY: () => `pplx-${alnum(48)}`,
  XAI_API_KEY: () => `xai-${alnum(80)}`,
  CEREBRAS_API_KEY: () => `csk-${small(48)}`,
  FIREWORKS_API_KEY: () => `fw_${alnum(24)}`,
  TOGETHER_API_KEY: () => `tgp_v1_${safe(43)}`,
  NVIDIA_API_KEY: () => `nvapi-${safe(64)}`,
  LANGSMITH_KEY: () => `lsv2_pt_${hex(32)}_${hex(10)}`,
  ELEVENLABS_KEY: () => `sk_${hex(48)}`,
  TAVILY_KEY: () => `tvly-dev-${alnum(32)}`,
  PINECONE_KEY: () => `pcsk_${alnum(5)}_${alnum(63)}`,
  JINA_KEY: () => `jina_${hex(32)}${safe(28)}`,
  SLACK_TOKEN: () =>
    chance.one([
      `xoxb-${digits(12)}-${digits(13)}-${alnum(24)}`,
      `xoxp-${digits(11)}-${digits(12)}-${digits(12)}-${hex(32)}`,
      `xapp-1-A${big(10)}-${digits(13)}-${hex(64)}`,
    ]),
  DISCORD_TOKEN: () => `${Buffer.from(digits(18)).toString('base64url')}.${alnum(6)}.${safe(38)}`,
  TELEGRAM_TOKEN: () => `${digits(10)}:AA${safe(33)}`,
  SENDGRID_KEY: () => `SG.${safe(22)}.${safe(43)}`,
  MAILGUN_KEY: () => `key-${hex(32)}`,
  MAILCHIMP_KEY: () => `${hex(32)}-us${chance.whole(1, 21)}`,
  BREVO_KEY: () => `xkeysib-${hex(64)}-${alnum(16)}`,
  RESEND_KEY: () => `re_${alnum(8)}_${alnum(24)}`,
  TWILIO_KEY: () => `SK${hex(32)}`,
  STRIPE_KEY: () => `${chance.one(['sk_live_', 'sk_test_', 'rk_live_'])}${alnum(chance.one([24, 99]))}`,
  STRIPE_WEBHOOK_SECRET: () => `whsec_${alnum(32)}`,
  SQUARE_TOKEN: () => chance.one([`sq0csp-${safe(43)}`, `EAAA${safe(60)}`]),
  BRAINTREE_TOKEN: () => `access_token$production$${small(16)}$${hex(32)}`,
  SHOPIFY_TOKEN: () => `shpat_${hex(32)}`,
  PLAID_TOKEN: () => `access-production-${uuid()}`,
  FLUTTERWAVE_KEY: () => `FLWSECK-${hex(32)}-X`,
  PADDLE_KEY: () => `pdl_live_apikey_${small(26)}_${alnum(22)}_${alnum(3)}`,
  EASYPOST_KEY: () => `EZAK${alnum(54)}`,
  SHIPPO_TOKEN: () => `shippo_live_${hex(40)}`,
  DUFFEL_TOKEN: () => `duffel_live_${safe(43)}`,
  PLANETSCALE_TOKEN: () => `pscale_tkn_${safe(43)}`,
  SUPABASE_KEY: () => chance.one([`sbp_${hex(40)}`, `sb_secret_${alnum(22)}_${alnum(8)}`]),
  NEON_KEY: () => `napi_${small(64)}`,
  AIVEN_PASSWORD: () => `AVNS_${safe(19)}`,
  CLICKHOUSE_KEY: () => `4b1d${alnum(38)}`,
  NEWRELIC_KEY: () => `NRAK-${big(27)}`,
  GRAFANA_TOKEN: grafana,
  SENTRY_TOKEN: () => `sntryu_${hex(64)}`,
  DYNATRACE_TOKEN: () => `dt0c01.${chance.text(`${UPPER}234567`, 24)}.${chance.text(`${UPPER}234567`, 64)}`,
  POSTHOG_KEY: () => `phx_${alnum(43)}`,
  LAUNCHDARKLY_KEY: () => `sdk-${uuid()}`,
  ONEPASSWORD_TOKEN: () => `ops_eyJ${base64(600).replace(/[+/]/g, 'A')}`,
  ONEPASSWORD_SECRET_KEY: () => `A3-${[6, 6, 5, 5, 5, 5].map(big).join('-')}`,
  NOTION_TOKEN: () => `ntn_${digits(11)}${alnum(35)}`,
  LINEAR_KEY: () => `lin_api_${alnum(40)}`,
  AIRTABLE_TOKEN: () => `pat${alnum(14)}.${hex(64)}`,
  ASANA_TOKEN: () => `1/1${digits(15)}:${hex(32)}`,
  FIGMA_TOKEN: () => `figd_${safe(40)}`,
  README_KEY: () => `rdme_${small(70)}`,
  HUBSPOT_TOKEN: () => `pat-na1-${uuid()}`,
  DROPBOX_TOKEN: () => `sl.${safe(140)}`,
  CONTENTFUL_TOKEN: () => `CFPAT-${safe(43)}`,
  TYPEFORM_TOKEN: () => `tfp_${safe(44)}`,
  FRAMEIO_TOKEN: () => `fio-u-${safe(64)}`,
  MAPBOX_TOKEN: () => `sk.eyJ${alnum(80)}.${alnum(22)}`,
  FACEBOOK_TOKEN: () => `EAA${alnum(170)}`,
  TWITTER_TOKEN: () => `AAAAAAAAAAAAAAAAAAAAA${alnum(90)}`,
  AGE_SECRET_KEY: ageKey,
  WALLET_PRIVATE_KEY: extendedKey,
  JWT: jwt,
};

/** Where secrets turn up: files, logs, mails and tool outputs. */
const PLACES: readonly string[] = [
  'export SERVICE_CREDENTIAL_1={}\n',
  'const client = new Client({ auth: "{}" });',
  "client = Client('{}')  # remove before the release",
  '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"current value: {}"}]}}',
  'curl -s https://api.example.org/v2/items -H "X-Auth: {}" | jq .',
  '2026-03-04T11:22:33Z WARN request rejected, sent `{}` twice',
  'Hi Mira, here it is again, please delete this mail afterwards: {}. See you on Monday!',
  'Hallo zusammen, der neue Schlüssel für die Umgebung lautet {}, bitte nicht weitergeben.',
  'Bonjour, voici la valeur à mettre dans le fichier : {}\nMerci !',
  'Hola, usa esto por ahora: {} y avísame si falla.',
  'これを使ってください：{}。よろしくお願いします。',
  'https://hooks.example.net/run?auth={}&mode=fast',
  'ENV BUILD_AUTH={}\nRUN ./build.sh\n',
  'services:\n  worker:\n    environment:\n      AUTH: {}\n      MODE: fast\n',
  '| name | value |\n|---|---|\n| staging | `{}` |\n',
  '-    auth: "old"\n+    auth: "{}"\n',
  '<setting name="auth" value="{}"/>',
  '"env": {"AUTH": "{}", "PORT": "8080"}',
  "INSERT INTO settings (name, value) VALUES ('auth', '{}');",
  'auth\t{}\tactive\n',
];

/** Passwords as people and programs choose them. */
const password = (): string =>
  chance.one([
    () =>
      `${chance.one(['Sommer', 'Winter', 'Dragon', 'Berlin', 'Falcon', 'monkey', 'Lisboa'])}${chance.whole(10, 2099)}${chance.one(['!', '#', '$', '!!', '?'])}`,
    () => `${chance.text(LOWER, 4)}${chance.text('!@#%^*', 1)}${chance.text(UPPER, 2)}${digits(3)}`,
    () => alnum(14),
    () => `${chance.text(LOWER, 6)}${digits(2)}`,
    () => `${small(6)}-${small(6)}-${small(6)}1`,
    () => `Tr0ub4dor&${digits(1)}`,
    () => `${chance.one(['P@ssw0rd', 'Adm1n', 'l3tme1n', 'qu3rtz'])}${digits(3)}`,
  ])();

const PASSWORD_PLACES: readonly string[] = [
  'password = "{}"\n',
  'DB_PASSWORD={}\n',
  "    'PASSWORD': '{}',\n",
  '{"username": "mira", "password": "{}", "remember": true}',
  'mysql --user=root --password={} shop',
  'The wifi is "guest" and the password is {}\n',
  'Ihr neues Passwort lautet {} und gilt ab sofort.',
  'Votre mot de passe : {}\n',
  'La contraseña es {} para todos.',
  'A senha é: {}\n',
  'логин: mira, пароль: {}\n',
  '用户名 mira 密码：{}\n',
  'spring.datasource.password={}\n',
  '  password: {}\n  user: app\n',
  '<password>{}</password>',
  'Server=db.example.org;Database=shop;User Id=sa;Password={};Encrypt=true',
  'const passphrase = `{}`;',
  'String pwd = "{}";',
  'login("mira", password="{}")',
  '{\\"user\\":\\"mira\\",\\"password\\":\\"{}\\"}',
  'PGPASSWORD={} psql -h db.example.org',
  'password: str = "{}"',
];

const KEY_PLACES: readonly string[] = [
  'API_KEY={}\n',
  'apiKey: "{}",',
  'client_secret = "{}"\n',
  '{"access_token":"{}","token_type":"bearer","expires_in":3600}',
  'SECRET_KEY_BASE={}\n',
  'x-api-key: {}\r\n',
  '--api-key {} --verbose',
  "auth_token => '{}',",
  'encryption_key: {}\n',
  'const sessionSecret = "{}";',
  'DATADOG_API_KEY: {}\n',
  'refresh_token={}&grant_type=refresh_token',
];

const key = (): string =>
  chance.one([
    () => hex(32),
    () => hex(40),
    () => alnum(32),
    () => safe(43),
    () => `${base64(43)}=`,
    () => alnum(24),
  ])();

function addresses(): readonly Labelled[] {
  const secret = () => chance.one([alnum(12), `${small(8)}!${digits(2)}`, `p${hex(20)}`]);
  const frames: readonly (readonly [string, string])[] = [
    ['CONNECTION_STRING', 'DATABASE_URL=postgres://shop:{}@db.example.org:5432/shop'],
    ['CONNECTION_STRING', 'mongodb+srv://admin:{}@cluster0.example.net/?retryWrites=true'],
    ['CONNECTION_STRING', 'redis://:{}@cache.example.org:6379/0'],
    ['CONNECTION_STRING', 'create_engine("mysql+pymysql://root:{}@localhost/test")'],
    ['CONNECTION_STRING', 'broker: amqp://worker:{}@10.1.2.3:5672//'],
    ['BASIC_AUTH_URL', 'git clone https://mira:{}@git.example.org/shop.git'],
    ['BASIC_AUTH_URL', 'proxy=http://proxyuser:{}@proxy.example.org:3128'],
    ['BASIC_AUTH_URL', 'The feed is at ftp://backup:{}@files.example.org/daily, login included.'],
    ['BASIC_AUTH_URL', 'index-url = https://__token__:{}@packages.example.org/simple/'],
  ];
  return frames.map(([kind, frame]) => filled('an address with a password', frame, wanted(kind, secret())));
}

function special(): readonly Labelled[] {
  const storage = `${base64(86)}==`;
  const aws = base64(40).replace(/[+]/g, 'x');
  return [
    filled(
      'connection string',
      'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net',
      wanted('AZURE_STORAGE_KEY', storage),
    ),
    filled(
      'service bus',
      'Endpoint=sb://shop.example.net/;SharedAccessKeyName=Root;SharedAccessKey={}',
      wanted('AZURE_SHARED_KEY', `${base64(43)}=`),
    ),
    filled(
      'signed address',
      'https://shop.blob.example.net/c/b?sv=2024-11-04&se=2026-01-01&sp=r&sig={}',
      wanted('AZURE_SAS_TOKEN', `${alnum(43)}%3D`),
    ),
    filled('AWS, quoted', 'aws_secret_access_key = "{}"', wanted('AWS_ACCESS_KEY', aws)),
    filled(
      'AWS, not quoted',
      '[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n',
      wanted('AWS_ACCESS_KEY', MARKED.AWS_ACCESS_KEY?.() ?? ''),
      wanted('AWS_ACCESS_KEY', alnum(40)),
    ),
    filled(
      'AWS, JSON',
      '{"AccessKeyId":"{}","SecretAccessKey":"{}"}',
      wanted('AWS_ACCESS_KEY', MARKED.AWS_ACCESS_KEY?.() ?? ''),
      wanted('AWS_ACCESS_KEY', alnum(40)),
    ),
    filled(
      'webhook',
      'post to https://hooks.slack.com/services/{} please',
      wanted('SLACK_TOKEN', `T${big(9)}/B${big(9)}/${alnum(24)}`),
    ),
    filled(
      'webhook',
      'https://discord.com/api/webhooks/{}',
      wanted('DISCORD_WEBHOOK', `${digits(19)}/${safe(68)}`),
    ),
    filled(
      'webhook',
      'https://shop.webhook.office.com/webhookb2/{}',
      wanted('TEAMS_WEBHOOK', `${uuid()}@${uuid()}/IncomingWebhook/${hex(32)}/${uuid()}`),
    ),
    filled(
      'header',
      'Authorization: Basic {}\r\nAccept: */*\r\n',
      wanted('BASIC_AUTH_HEADER', Buffer.from(`mira:${password()}`).toString('base64')),
    ),
    filled(
      'header',
      'curl -H "Authorization: Bearer {}" https://api.example.org',
      wanted('BEARER_TOKEN', alnum(40)),
    ),
    place('header', "headers = {'Authorization': 'Bearer {}'}", wanted('BEARER_TOKEN', hex(48))),
    ...[
      'RSA PRIVATE KEY',
      'PRIVATE KEY',
      'OPENSSH PRIVATE KEY',
      'EC PRIVATE KEY',
      'ENCRYPTED PRIVATE KEY',
      'PGP PRIVATE KEY BLOCK',
    ].map((label) => filled('key file', 'cat id_key\n{}\n$ ', wanted('PRIVATE_KEY', pem(label)))),
    filled(
      'service account',
      '{"type":"service_account","private_key":"{}\\n","client_id":"1"}',
      wanted('PRIVATE_KEY', pem('PRIVATE KEY', '\\n')),
    ),
    filled(
      'kubernetes',
      'users:\n- user:\n    client-key-data: {}\n',
      wanted('PRIVATE_KEY', Buffer.from(pem('RSA PRIVATE KEY')).toString('base64')),
    ),
  ];
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: texts of other programs
const MADE_UP: readonly string[] = [
  'api_key = "YOUR_API_KEY"',
  'export GITHUB_TOKEN=<your token here>',
  'token: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'password = "********"',
  'password: ${DB_PASSWORD}',
  'password: {{ .Values.db.password }}',
  'password = os.environ["DB_PASSWORD"]',
  'const password = process.env.DB_PASSWORD;',
  'password = get_secret("db/password")',
  'stripe.api_key = "sk_test_your_key_goes_here"',
  'DATABASE_URL=postgres://user:password@localhost/db',
  'https://user:pass@host.example.org/',
  'postgres://${USER}:${PASSWORD}@db/shop',
  'AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
  'npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'glpat-xxxxxxxxxxxxxxxxxxxx',
  'hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'Authorization: Bearer <token>',
  'Authorization: Bearer $TOKEN',
  'Authorization: Bearer {access_token}',
  'headers: { Authorization: `Bearer ${token}` }',
  'SG.xxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'password: string;',
  'interface Login { username: string; password: string }',
  'def login(user: str, password: str) -> bool:',
  '"password": {"type": "string", "minLength": 8}',
  'label.password = Password',
  '"passwordPlaceholder": "Enter your password",',
  'Passwort: erforderlich',
  'The password is required and must have 8 characters.',
  'Your password is too short',
  'My password is not working, can you help me reset it?',
  'Le mot de passe est incorrect',
  'La contraseña es obligatoria',
  'Enter token: ',
  'The token is invalid or has expired.',
  'The secret is that there is no secret.',
  'max_tokens: 4096',
  '"usage":{"prompt_tokens":1824,"completion_tokens":211,"total_tokens":2035}',
  'token_type = "bearer"',
  '{"nextPageToken":"CAUQAA9hZ2Vfc2l6ZT01MCZwYWdlPTI"}',
  'continuation_token=eyJvZmZzZXQiOjUwLCJsaW1pdCI6NTB9',
  '<input type="hidden" name="csrf_token" value="">',
  'csrf_token = "f3a9c1d27b6e4805a1c3e5f709b2d4e6"',
  'key = "primary_key_of_the_customers_table"',
  'sort_key: "created_at_desc_2024"',
  'public_key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1"',
  'cache_key = "user:1234:profile:v2"',
  'for key in sorted(mapping.keys()): print(key, mapping[key])',
  'keyboard: qwerty1234layout',
  'password_hash = "$2b$12$KIXQ4vG1bYw8q1Zb8uVZ8eJH7mUjZ1oFqR6uYw0p8v2a3s4d5f6g7"',
  'passwordResetUrl: "https://example.org/reset/step2"',
  'secretName: shop-tls-2024',
  'secretRef: arn:aws:secretsmanager:eu-west-1:111122223333:secret:shop-db',
  'secret = vault.read("secret/data/shop")["password"]',
  'TOKEN_FILE=/run/secrets/api_token_v2',
  'password_file: /etc/shop/db_password_2024.txt',
  'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
  'compass: N42W17, bypass: lane4b',
  'passenger: A4-22B confirmed',
  'Passport control opens at 06:30, gate B42.',
  'The pass rate is 93.4% this year; last year the pass was 88%.',
  'secretary: m.lindqvist2@example.org',
  'grep -rn "AKIA" src/ | wc -l',
  'regex: gh[pousr]_[A-Za-z0-9]{36}',
  'Tokens start with ghp_, gho_ or github_pat_ and keys with sk-ant-.',
  'We use hvs. and s. prefixes, e.g. `hvs.<random>`',
  '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
  'The file starts with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.',
  'eyJ is how base64 of {" begins, e.g. eyJhbGciOi... in tokens',
  'pk_live_ keys are public; sk_live_ keys are not',
  'tskey-auth-… is issued once',
  'machine-to-machine-token-exchange-2024-overview.md',
  'dapi is short for data api, dop_v1 is a prefix',
  'AccountKey=<key>;EndpointSuffix=core.windows.net',
  'sv=2024-11-04&sig=REDACTED',
  'password=hunter2'.replace('hunter2', '[FILTERED]'),
  '"secret": "[redacted]"',
  'token = request.headers["Authorization"].split(" ")[1]',
  'if token.kind == TokenKind.IDENTIFIER2: return parse_name(token)',
  'auth: { type: "oauth2", tokenUrl: "https://auth.example.org/v2/token" }',
  'apiKeyAuth: { in: header, name: X-API-Key-V2 }',
  'credentials: "same-origin"',
  'credentials: include',
  'git config credential.helper store',
  'password_policy: min8_upper1_digit1',
  'sshpass -f /etc/backup.pw ssh host',
  'key: ctrl+shift+f12',
  'ssh_key_name = "deploy-2024-europe-west"',
  'license_key: str = Field(..., min_length=16)',
  'The API key is stored in 1Password under shop/prod.',
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: texts of other programs

/** Random texts that are no secrets: identifiers, digests, addresses, encoded pictures. */
function lookalikes(): readonly (readonly Labelled[])[] {
  const sri = () => `sha512-${base64(86)}==`;
  const frames: readonly (readonly [string, () => string])[] = [
    ['commit {}', () => hex(40)],
    ['"integrity": "{}",', sri],
    ['id: {}', uuid],
    ['etag: "{}"', () => hex(32)],
    ['sha256:{}', () => hex(64)],
    ['data:image/png;base64,{}', () => `iVBORw0KGgo${base64(200)}`],
    ['https://cdn.example.org/assets/app.{}.js', () => hex(20)],
    ['trace_id={}', () => hex(32)],
    ['order_id: ord_{}', () => alnum(24)],
    ['customer: cus_{}', () => alnum(14)],
    ['pk_live_{}', () => alnum(24)],
    ['AC{}', () => hex(32)],
    ['https://docs.example.org/d/{}/edit', () => safe(44)],
    ['https://video.example.org/watch?v={}', () => safe(11)],
    ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} mira@laptop', () => base64(43)],
    ['-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----', () => base64(64)],
    ['-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----', () => base64(64)],
    ['session started: {}', () => uuid()],
    ['0x{}', () => hex(40)],
    ['bc1q{}', () => small(38)],
    ['message-id: <{}@mail.example.org>', () => small(30)],
    ['arn:aws:iam::{}:role/deploy', () => digits(12)],
    ['var a="{}";function b(c){ return a+c }', () => alnum(60)],
    ['xpub{}', () => chance.text('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 107)],
    ['fingerprint SHA256:{}', () => base64(43)],
    ['{}', () => base64(76)],
    ['version 1.0-{}', () => hex(12)],
    ['{} is the order number', () => digits(16)],
  ];
  return frames.map(([frame, value]) => [0, 1, 2].map(() => filled('random, and no secret', frame, value())));
}

function positives(): readonly (readonly Labelled[])[] {
  const marked = Object.entries(MARKED).map(([kind, value]) =>
    [0, 1].map(() => place('a key with a mark of its own', chance.one(PLACES), wanted(kind, value()))),
  );
  const passwords = PASSWORD_PLACES.map((frame) =>
    [0, 1].map(() => place('an announced password', frame, wanted('PASSWORD', password()))),
  );
  const keys = KEY_PLACES.map((frame) =>
    [0, 1].map(() => place('an announced key', frame, wanted('GENERIC_SECRET', key()))),
  );
  return [...marked, ...passwords, ...keys, ...[...addresses(), ...special()].map((one) => [one])];
}

/** Frames have braces of their own; the place is the last `{}`. */
function place(note: string, frame: string, value: Part): Labelled {
  const at = frame.lastIndexOf('{}');
  return filled(note, '{}{}{}', frame.slice(0, at), value, frame.slice(at + 2));
}

const AROUND = ['{}', '# settings\n{}\n', 'see below:\n\n    {}\n\nand tell me.'];

const negatives: readonly (readonly Labelled[])[] = [
  ...MADE_UP.map((text) =>
    AROUND.map(
      (around): Labelled => ({
        text: around.replace('{}', () => text),
        findings: [],
        note: 'made up, a reference, or a word',
      }),
    ),
  ),
  ...lookalikes(),
];

writeLabelled('secrets', chance.shuffled([...positives(), ...negatives]));
