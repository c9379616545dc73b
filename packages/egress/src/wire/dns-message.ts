/**
 * Questions and answers of DNS (RFC 1035, 4.1), as far as a name server needs them that knows addresses of IPv4 and nothing else. The
 * bytes of a question are the app's: every length in them is checked.
 */

export interface NameQuestion {
  readonly id: number;
  /** Lower case, without a dot at its end; at most 253 characters. */
  readonly name: string;
  readonly type: number;
  readonly isRecursive: boolean;
  /** Name, type and class as they stand in the message. */
  readonly bytes: Buffer;
}

/** Type of a record that holds an address of IPv4. */
export const TYPE_A = 1;

export type NameAnswer =
  | { readonly kind: 'address'; readonly address: string }
  /** The name is there, and has no record of the type. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown-name' }
  | { readonly kind: 'failure' };

const HEADER_BYTES = 12;
const CLASS_INTERNET = 1;
const LONGEST_LABEL = 63;
const LONGEST_NAME = 253;

/** Null: not exactly one question about a name in letters. */
export function readNameQuestion(message: Buffer): NameQuestion | null {
  if (message.length < HEADER_BYTES) return null;
  const flags = message.readUInt16BE(2);
  const isQuery = (flags & 0xf800) === 0; // no answer, and the usual operation
  if (!isQuery || message.readUInt16BE(4) !== 1) return null;
  const name = readName(message);
  if (name === null || name.end + 4 > message.length) return null;
  if (message.readUInt16BE(name.end + 2) !== CLASS_INTERNET) return null;
  return {
    id: message.readUInt16BE(0),
    name: name.text,
    type: message.readUInt16BE(name.end),
    isRecursive: (flags & 0x0100) !== 0,
    bytes: message.subarray(HEADER_BYTES, name.end + 4),
  };
}

function readName(message: Buffer): { readonly text: string; readonly end: number } | null {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; at < message.length; ) {
    const length = message[at] ?? 0;
    if (length === 0) {
      const text = labels.join('.').toLowerCase();
      return text.length > LONGEST_NAME ? null : { text, end: at + 1 };
    }
    // A longer one would be a pointer, which no question needs.
    if (length > LONGEST_LABEL || at + 1 + length > message.length) return null;
    const label = message.toString('latin1', at + 1, at + 1 + length);
    if (!/^[A-Za-z0-9_-]+$/.test(label)) return null;
    labels.push(label);
    at += 1 + length;
  }
  return null;
}

const [IS_ANSWER, RECURSION_DESIRED, RECURSION_AVAILABLE] = [0x8000, 0x0100, 0x0080];
const CODES = { address: 0, nothing: 0, failure: 2, 'unknown-name': 3 } as const;
/** An address is valid while the app runs. */
const SECONDS = 300;
/** Where the name of the question stands (RFC 1035, 4.1.4). */
const NAME_OF_QUESTION = 0xc00c;

export function nameAnswer(question: NameQuestion, answer: NameAnswer): Buffer {
  const record = answer.kind === 'address' ? addressRecord(answer.address) : Buffer.alloc(0);
  const header = Buffer.alloc(HEADER_BYTES);
  const recursion = RECURSION_AVAILABLE | (question.isRecursive ? RECURSION_DESIRED : 0);
  header.writeUInt16BE(question.id, 0);
  header.writeUInt16BE(IS_ANSWER | recursion | CODES[answer.kind], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(record.length > 0 ? 1 : 0, 6);
  return Buffer.concat([header, question.bytes, record]);
}

function addressRecord(address: string): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(NAME_OF_QUESTION, 0);
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(CLASS_INTERNET, 4);
  record.writeUInt32BE(SECONDS, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of address.split('.').entries()) record.writeUInt8(Number(part), 12 + index);
  return record;
}
