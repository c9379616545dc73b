/**
 * Classic BPF as seccomp runs it: the few instructions that a filter needs, and their encoding as
 * `struct sock_filter` (linux/filter.h). What a filter allows is decided in `seccomp.ts`.
 */

/** One instruction; `jt` and `jf` count the instructions to skip when the comparison holds or fails. */
export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** Instruction codes: class | size or operation | source (linux/bpf_common.h). */
export const CODE = {
  /** A = 32-bit word of `struct seccomp_data` at byte offset k. */
  load: 0x20,
  /** A = A & k */
  and: 0x54,
  jumpEqual: 0x15,
  /** Unsigned A > k */
  jumpGreater: 0x25,
  /** Unsigned A >= k */
  jumpNotLess: 0x35,
  /** A & k != 0 */
  jumpBits: 0x45,
  return: 0x06,
} as const;

/** Byte offsets in `struct seccomp_data` (linux/seccomp.h). */
export const OFFSET = { nr: 0, arch: 4 } as const;

/** The low 32 bits of an argument; both architectures are little-endian. */
export function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

export function load(offset: number): Instruction {
  return { code: CODE.load, jt: 0, jf: 0, k: offset };
}

export function and(mask: number): Instruction {
  return { code: CODE.and, jt: 0, jf: 0, k: mask };
}

export function answer(action: number): Instruction {
  return { code: CODE.return, jt: 0, jf: 0, k: action };
}

type Comparison = 'jumpEqual' | 'jumpGreater' | 'jumpNotLess' | 'jumpBits';

/** `body` runs when the comparison holds and is skipped when it fails. */
export function when(comparison: Comparison, k: number, body: readonly Instruction[]): Instruction[] {
  return [jump(comparison, k, 0, body.length), ...body];
}

/** `body` runs when the comparison fails and is skipped when it holds. */
export function unless(comparison: Comparison, k: number, body: readonly Instruction[]): Instruction[] {
  return [jump(comparison, k, body.length, 0), ...body];
}

/** `refusal` runs unless A is one of `values`. */
export function unlessOneOf(values: readonly number[], refusal: Instruction): Instruction[] {
  return [...values.map((value, index) => jump('jumpEqual', value, values.length - index, 0)), refusal];
}

/** Throws when a jump is longer than its eight bits: that is a mistake in the filter's construction. */
function jump(comparison: Comparison, k: number, jt: number, jf: number): Instruction {
  if (jt > 255 || jf > 255) throw new RangeError('a BPF jump skips at most 255 instructions');
  return { code: CODE[comparison], jt, jf, k };
}

/** Bytes of the program, eight per instruction, as `bwrap --seccomp` reads them. Throws above the kernel's 4,096. */
export function encode(program: readonly Instruction[]): Buffer {
  if (program.length > 4096) throw new RangeError('a BPF program has at most 4096 instructions');
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  });
  return bytes;
}
