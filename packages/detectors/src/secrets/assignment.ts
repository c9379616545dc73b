/**
 * Passwords and keys without a fixed mark: the words before them say what they are, as in `password = "…"`,
 * `API_KEY: …`, `--token …`, `the password is …`. Such words stand everywhere in programs and documents, so what follows
 * must look like a secret, too: a password may be short, a key is long and random.
 */
import { type Finding, findingOf } from '../text/finding.ts';
import { matchAt, startBefore } from '../text/match.ts';
import { entropyOf, isPlaceholder } from './placeholder.ts';

type Promised = 'password' | 'key';

/** Words that announce a secret; ASCII ones are looked for in any case. */
const ANNOUNCING: Readonly<Record<string, Promised>> = {
  passw: 'password',
  passphrase: 'password',
  pass: 'password',
  pwd: 'password',
  rootpw: 'password',
  userpw: 'password',
  dbpw: 'password',
  kennwort: 'password',
  'mot de passe': 'password',
  contrase: 'password',
  senha: 'password',
  token: 'key',
  secret: 'key',
  key: 'key',
  credential: 'key',
};

export const ANNOUNCING_WORDS: readonly string[] = Object.keys(ANNOUNCING);

/** Words that no reading of ASCII finds. */
export const ANNOUNCING_ELSEWHERE: readonly string[] = ['пароль', '密码', '密碼', 'パスワード', '비밀번호'];

const NAME = /[A-Za-z0-9_.-]/;
/** Of the name before and behind the announcing word. */
const MOST_NAME = 40;
/** What completes the word, and what may stand behind it in a name. */
const REST =
  /^(?:ord|d|ort|ña|na|ñas|s)?(?:[_.-]?(?:key|value|val|base|string|str|plain|text|prod(?:uction)?|dev(?:elopment)?|test|live|staging|primary|old|new|secret|token|admin|root|user|db|\d{1,3})){0,2}$/i;
const NO_ANNOUNCEMENT =
  /(?:next|page|pagination|csrf|xsrf|continuation|sync|cursor|public|primary|foreign|sort|partition|cache|idempotency|etag|max|(?<!ad)min|num|reset|forgot|confirm_?no|show|hide|no|bypass|com|sur|tres|over|under|by|trans|encom|im|hash|stop|eos|bos|pad|mask|device|row|hot|short|map|object|s3|dict)[_.-]?$/i;
/** What a bare `key` needs before it. */
const KEY_OF =
  /(?:api|access|auth|secret|private|encryption|signing|master|account|shared|storage|admin|service|license|client|app|application|consumer|deploy|webhook|hmac|aes|crypt|session|jwt|root)[_. -]?$/i;

const FOLLOWED =
  /["'`\]\\)]{0,3}(?:[ \t](?:for|of|to|on|für|zum|zur|von|pour|du|de|para|del|per|voor)(?:[ \t][\p{L}\p{N}_.'’-]{1,20}){1,4}?(?=:|[ \t](?:is|was|lautet|ist|est|es|è)[ \t]))?[ \t]{0,8}(?::[ \t]?(?:str|string|String|&str|SecretStr|Optional\[str\])[ \t]?=|:=|=>|={1,3}|[:：]|,(?=[ \t]?["'])|>|(?:is|are|was|lautet|ist|est|es|é|è|to|это)[ \t]*:?(?=[ \t]))[ \t]{0,8}/uy;
const OPTION_FOLLOWED = /[ \t]{1,4}/y;

const VALUE =
  /\\"([^"\\\r\n]{1,300})\\"|"([^"\r\n]{1,300})"|'([^'\r\n]{1,300})'|`([^`\r\n]{1,300})`|([^\s"'`<>,;&(){}[\]\\|]{4,300})/y;

/** What stands behind an announcing word that ends before `end`; null: no secret. */
export function assignedSecret(text: string, word: string, end: number): Finding | null {
  const promised = ANNOUNCING[word] ?? 'password';
  const start = end - word.length;
  const nameStart = startBefore(text, start, NAME, MOST_NAME);
  const nameEnd = overName(text, end);
  const before = text.slice(nameStart, start);
  if (!announces(word, before, text.slice(end, nameEnd), text, start)) return null;
  // `--token …`, and `the API key …` of a sentence.
  const isBare = before.startsWith('--') || (word === 'key' && before === '' && nameEnd === end);
  const value = valueBehind(text, nameEnd, isBare);
  if (value === null) return null;
  const isSecret = promised === 'password' ? looksLikePassword(value) : looksLikeKey(value, word);
  if (!isSecret) return null;
  const kind = promised === 'password' ? 'PASSWORD' : 'GENERIC_SECRET';
  const stretch = { start: value.start, end: value.start + value.text.length };
  return findingOf(kind, stretch, 0.7, `the word before it announces a ${promised}`);
}

function announces(word: string, before: string, behind: string, text: string, start: number): boolean {
  if (NO_ANNOUNCEMENT.test(before)) return false;
  // In CamelCase a new word begins with a capital; `compass` holds no password.
  const joined = /[A-Za-z]$/.test(before) && !/[A-Z]/.test(text[start] ?? '') && /[a-z]$/.test(before);
  if (joined && !/(?:api|access|auth|db|my|root|admin|user|client|sql)$/.test(before)) return false;
  if (word === 'key' && !KEY_OF.test(text.slice(Math.max(0, start - 12), start))) return false;
  if (word === 'passw' && !/^(?:ord|d|ort)/i.test(behind)) return false;
  if (word === 'pass' && /^(?:w|p)/i.test(behind)) return false;
  if (word === 'contrase' && !/^(?:ñ|n)a/i.test(text.slice(start + word.length, start + word.length + 2)))
    return false;
  return REST.test(behind);
}

interface Value {
  readonly text: string;
  readonly start: number;
  readonly isQuoted: boolean;
}

function valueBehind(text: string, at: number, isBare: boolean): Value | null {
  const between =
    matchAt(FOLLOWED, text, at)?.[0] ?? (isBare ? matchAt(OPTION_FOLLOWED, text, at)?.[0] : undefined);
  if (between === undefined) return null;
  let behind = at + between.length;
  // `b'…'` are bytes, in Python.
  if (/^b['"]/.test(text.slice(behind, behind + 2))) behind += 1;
  const match = matchAt(VALUE, text, behind);
  if (match === null) return null;
  const [whole, escaped, ...rest] = match;
  const quoted = escaped ?? rest.slice(0, 3).find((one) => one !== undefined);
  if (quoted !== undefined)
    return { text: quoted, start: behind + (escaped === undefined ? 1 : 2), isQuoted: true };
  // A sentence or a list ends behind the value.
  return { text: whole.replace(/[.:]+$/, ''), start: behind, isQuoted: false };
}

// ── what a value looks like ─────────────────────────────────────────────────────────────────────────────────────

const NO_VALUE =
  /^(?:null|none|nil|true|false|undefined|string|str|text|required|optional|hidden|password|passwd|secret|token|bearer|basic|oauth2?|jwt|hs256|rs256|sha\d{1,3}|md5|argon2(?:id)?|bcrypt|scrypt|pbkdf2|base64|utf-?8|aes-?\d{3}(?:-[a-z]{3})?|ed25519|x509|v\d|type|name|value|string\d?|int\d{2}|username|keyring|prompt)$/i;

function isReference({ text, isQuoted }: Value): boolean {
  if (/^[$%@{<]/.test(text) && /[{}<>%]|^\$[A-Za-z_(]/.test(text)) return true;
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(text)) return true;
  if (/^(?:https?|file|env|vault|ref|arn|op|keychain|ssm|secretsmanager|projects):/i.test(text)) return true;
  if (/^(?:\.{0,2}|~)\/[\w./-]+$/.test(text) && (text.match(/\//g)?.length ?? 0) > 1) return true;
  if (/^\$(?:2[aby]|argon2|5|6|scrypt|pbkdf2)[a-z0-9-]*\$/.test(text)) return true;
  return !isQuoted && /^[A-Za-z_]\w*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_]\w*)+!?$/.test(text);
}

function looksLikePassword(value: Value): boolean {
  const { text } = value;
  if (text.length < 6 || text.length > 128 || /\s/.test(text)) return false;
  if (NO_VALUE.test(text) || isReference(value) || isPlaceholder(text) || entropyOf(text) < 2) return false;
  const hasLetter = /\p{L}/u.test(text);
  if (/\d/.test(text))
    return hasLetter ? !/^[a-z]+[-_][a-z]+[-_]?\d?$/.test(text) : /^\d{6,}$/.test(text) && !isDate(text);
  return hasLetter && /[!@#$%^&*?+~§€]/.test(text) && !/^[*?!.]|[*]$/.test(text);
}

function isDate(digits: string): boolean {
  return /^(?:19|20)\d{6}$|^\d{10}$|^\d{13}$/.test(digits);
}

const LEAST_KEY = 16;

function looksLikeKey(value: Value, word: string): boolean {
  const { text } = value;
  if (word === 'secret' && text.length >= 8 && text.length < LEAST_KEY)
    return value.isQuoted && looksLikePassword(value);
  if (text.length < LEAST_KEY || text.length > 300 || /\s/.test(text)) return false;
  if (NO_VALUE.test(text) || isReference(value) || isPlaceholder(text)) return false;
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text) || areWords(text)) return false;
  return entropyOf(text) >= (/^[a-f0-9-]+$/i.test(text) ? 2.8 : 3.2);
}

/** Words joined by something, with a number here and there: names of things, paths, versions. */
function areWords(text: string): boolean {
  const parts = text.split(/[-_./:@]/);
  const words = parts.filter((part) => /^(?:[A-Za-z]?[a-z]*|[A-Z]+|\d{1,4}|v\d+)$/.test(part));
  return parts.length > 1 && words.length >= parts.length - 1 && parts.every((part) => part.length < 16);
}

function overName(text: string, end: number): number {
  let at = end;
  while (at < text.length && at - end < MOST_NAME && /[A-Za-z0-9_.ñ-]/.test(text[at] ?? '')) at += 1;
  // A full stop or hyphen at the end belongs to the sentence.
  while (at > end && /[.-]/.test(text[at - 1] ?? '')) at -= 1;
  return at;
}
