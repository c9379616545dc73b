/** A secret on its way: put into one header, for its own hosts only, and taken out of whatever comes back. */
import { failed, ok, type Result } from '@cordon/core';

/** A credential whose secret was read for one request. */
export interface ReadyCredential {
  /** Lower case. */
  readonly header: string;
  readonly value: string;
  readonly secret: string;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
const PLACE = '${secret}';

/** Shorter ones could not be told from other text when they come back. */
const SHORTEST_SECRET = 8;
const LONGEST_SECRET = 4096;

/** `format` holds `${secret}` once. Refused: what is no header value, or too short to be masked. */
export function readyCredential(
  header: string,
  format: string,
  secret: string,
): Result<ReadyCredential, string> {
  if (secret.length < SHORTEST_SECRET || secret.length > LONGEST_SECRET)
    return failed(`the secret does not have ${SHORTEST_SECRET} to ${LONGEST_SECRET} characters`);
  // Attack: a line break in a secret would begin another header.
  if (!/^[\x20-\x7e]+$/.test(secret)) return failed('the secret holds a character that no header can');
  return ok({ header, value: format.replace(PLACE, () => secret), secret });
}

const MASK = '[secret]';

/**
 * `bytes` without the secret: as it is, as a URL, JSON, HTML, hexadecimal or Base64 would spell it. A server that knows it
 * and means to give it away can spell it in other ways.
 */
export function masked(bytes: Buffer, { secret, value }: ReadyCredential): Buffer {
  let text = bytes.toString('latin1');
  for (const spelling of [...spellings(value), ...spellings(secret)])
    if (text.includes(spelling)) text = text.replaceAll(spelling, MASK);
  return Buffer.from(text, 'latin1');
}

function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'latin1');
  const percent = encodeURIComponent(secret);
  const unicode = [..."<>&+=/'"].reduce(
    (text, character) =>
      text.replaceAll(character, `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
    JSON.stringify(secret).slice(1, -1),
  );
  const all = [
    secret,
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    unicode,
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Spellings(bytes),
  ];
  // The longest first: a part of a spelling may be another.
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** Inside of other bytes it can stand at three places of Base64; the characters at the edges hold other bits, too. */
function base64Spellings(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor(((before + bytes.length) * 8) / 6);
    const inner = whole.slice(from, to);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
