/**
 * An assembler for programs of a few dozen steps, and the static ELF file around them: what must run inside a sandbox
 * and cannot be Node, on machines that need not have a compiler. A step means the same on both architectures.
 */
import type { Architecture } from './seccomp.ts';
import { SYSCALLS, type SyscallName } from './syscall-numbers.ts';

/** Bytes of memory that a program has on its stack; steps name places in it by their offset. */
const MEMORY = 1024;

/** What a system call is given. */
export type Argument =
  | number
  /** The 8 bytes at this offset of the memory. */
  | { readonly at: number }
  /** The address of this offset of the memory. */
  | { readonly memory: number }
  /** The address of this offset of the constant data. */
  | { readonly data: number }
  /** The program's first argument, the list that begins with it, and the list of its environment. */
  | 'first-argument'
  | 'arguments'
  | 'environment'
  /** Of the step before; only as the first argument. */
  | 'result';

/** One step. Steps have one register, the result: of the last call, or of the last load. */
export type Step =
  | { readonly do: 'call'; readonly name: SyscallName; readonly args: readonly Argument[] }
  /** result = the 8 bytes at the offset */
  | { readonly do: 'load'; readonly at: number }
  /** result = one byte at the offset, and of it the bits of `mask` */
  | { readonly do: 'load-byte'; readonly at: number; readonly mask: number }
  /** the 8 bytes at the offset = result */
  | { readonly do: 'store'; readonly at: number }
  /** the 4 bytes at the offset = value */
  | { readonly do: 'set'; readonly at: number; readonly value: number }
  | { readonly do: 'add'; readonly value: number }
  /** result = -result */
  | { readonly do: 'negate' }
  | { readonly do: 'label'; readonly name: string }
  | { readonly do: 'go'; readonly to: string; readonly when: Condition };

export type Condition =
  | 'always'
  | 'negative'
  | 'zero'
  | 'not-zero'
  /** The result equals this number, or the 8 bytes at the offset. */
  | { readonly equals: number | { readonly at: number } };

const ADDRESS = 0x40_0000;
const HEADERS = 64 + 56;
/** `e_machine` (elf.h). */
const MACHINE: Readonly<Record<Architecture, number>> = { x64: 62, arm64: 183 };

/** A static executable that takes the steps; `data` is constant. */
export function program(
  steps: readonly Step[],
  architecture: Architecture,
  data: Buffer = Buffer.alloc(0),
): Buffer {
  const encode = architecture === 'x64' ? x64 : arm64;
  // The data come first, so that their addresses do not depend on the code's length.
  const start = HEADERS + align(data.length);
  const places = new Map<string, number>();
  const assemble = (): Buffer => {
    const parts: Uint8Array[] = [Uint8Array.from(encode.begin)];
    let at = encode.begin.length;
    for (const step of steps) {
      if (step.do === 'label') places.set(step.name, at);
      const bytes = Uint8Array.from(encode.step(step, at, places));
      parts.push(bytes);
      at += bytes.length;
    }
    return Buffer.concat(parts);
  };
  assemble(); // finds the labels; no step's length depends on where they are
  const code = assemble();
  const file = Buffer.alloc(start + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // 64 bits, little-endian
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(MACHINE[architecture], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(ADDRESS + start), 24); // entry
  file.writeBigUInt64LE(64n, 32); // program headers
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, 64); // PT_LOAD
  file.writeUInt32LE(5, 68); // readable, executable
  file.writeBigUInt64LE(BigInt(ADDRESS), 80);
  file.writeBigUInt64LE(BigInt(ADDRESS), 88);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(0x1000n, 112);
  data.copy(file, HEADERS);
  file.set(code, start);
  return file;
}

/** Where the data lie in a program's memory: for pointers among them. */
export const DATA_ADDRESS = ADDRESS + HEADERS;

function align(length: number): number {
  return Math.ceil(length / 8) * 8;
}

type Places = ReadonlyMap<string, number>;

interface Encoder {
  /** Keeps where the arguments are, and makes room for the memory. */
  readonly begin: readonly number[];
  readonly step: (step: Step, at: number, places: Places) => readonly number[];
}

function word(value: number): readonly number[] {
  return [value, value >>> 8, value >>> 16, value >>> 24].map((byte) => byte & 0xff);
}

/** Result: rax. rbp: the stack as the kernel made it. rbx: the memory. (Intel, Software Developer's Manual, volume 2) */
const x64: Encoder = {
  begin: [
    ...[0x48, 0x89, 0xe5], // mov rbp, rsp
    ...[0x48, 0x81, 0xec, ...word(MEMORY)], // sub rsp, MEMORY
    ...[0x48, 0x89, 0xe3], // mov rbx, rsp
  ],
  step: (step, at, places) => {
    switch (step.do) {
      case 'call':
        return [
          ...step.args.flatMap(x64Argument),
          ...[0xb8, ...word(SYSCALLS[step.name][0])], // mov eax, number
          ...[0x0f, 0x05], // syscall
        ];
      case 'load':
        return [0x48, 0x8b, 0x83, ...word(step.at)]; // mov rax, [rbx + at]
      case 'load-byte':
        return [0x0f, 0xb6, 0x83, ...word(step.at), 0x25, ...word(step.mask)]; // movzx eax, byte; and eax
      case 'store':
        return [0x48, 0x89, 0x83, ...word(step.at)];
      case 'set':
        return [0xc7, 0x83, ...word(step.at), ...word(step.value)];
      case 'add':
        return [0x48, 0x05, ...word(step.value)];
      case 'negate':
        return [0x48, 0xf7, 0xd8];
      case 'label':
        return [];
      case 'go': {
        const test = x64Condition(step.when);
        return [...test, ...word((places.get(step.to) ?? 0) - (at + test.length + 4))];
      }
    }
  },
};

/** Up to the distance of the jump, which is the last four bytes. */
function x64Condition(when: Condition): readonly number[] {
  const test = [0x48, 0x85, 0xc0]; // test rax, rax
  switch (when) {
    case 'always':
      return [0xe9];
    case 'negative':
      return [...test, 0x0f, 0x88];
    case 'zero':
      return [...test, 0x0f, 0x84];
    case 'not-zero':
      return [...test, 0x0f, 0x85];
    default:
      return typeof when.equals === 'number'
        ? [0x48, 0x3d, ...word(when.equals), 0x0f, 0x84] // cmp rax, number; je
        : [0x48, 0x3b, 0x83, ...word(when.equals.at), 0x0f, 0x84]; // cmp rax, [rbx + at]; je
  }
}

/** rdi, rsi, rdx, r10, r8, r9: prefix and number in three bits. */
const X64_ARGUMENTS = [
  [0x48, 7],
  [0x48, 6],
  [0x48, 2],
  [0x4c, 2],
  [0x4c, 0],
  [0x4c, 1],
] as const;

function x64Argument(argument: Argument, index: number): readonly number[] {
  const [prefix, register] = X64_ARGUMENTS[index] ?? [0, 0];
  const immediate = prefix === 0x48 ? 0x48 : 0x49;
  const from = (base: number) => 0x80 | (register << 3) | base;
  const [rbx, rbp] = [3, 5];
  if (typeof argument === 'number') return [immediate, 0xc7, 0xc0 | register, ...word(argument)];
  switch (argument) {
    case 'first-argument':
      return [prefix, 0x8b, from(rbp), ...word(16)];
    case 'arguments':
      return [prefix, 0x8d, from(rbp), ...word(16)];
    case 'environment':
      // mov rax, [rbp]; lea register, [rbp + 8 * rax + 16]
      return [0x48, 0x8b, 0x85, ...word(0), prefix, 0x8d, from(4), 0xc5, ...word(16)];
    case 'result':
      return [0x48, 0x89, 0xc0 | register];
  }
  if ('at' in argument) return [prefix, 0x8b, from(rbx), ...word(argument.at)];
  if ('memory' in argument) return [prefix, 0x8d, from(rbx), ...word(argument.memory)];
  return [immediate, 0xc7, 0xc0 | register, ...word(DATA_ADDRESS + argument.data)];
}

/** Result: x0. x19: the stack as the kernel made it. x20: the memory. x9: for a moment. (Arm, Architecture Reference Manual) */
const arm64: Encoder = {
  begin: [
    ...word(0x9100_03f3), // mov x19, sp
    ...word(0xd100_03ff + (MEMORY << 10)), // sub sp, sp, MEMORY
    ...word(0x9100_03f4), // mov x20, sp
  ],
  step: (step, at, places) => {
    switch (step.do) {
      case 'call':
        return [
          ...step.args.flatMap(arm64Argument),
          ...arm64Number(8, SYSCALLS[step.name][1]),
          ...word(0xd400_0001), // svc
        ];
      case 'load':
        return arm64Load(0, MEMORY_BASE, step.at);
      case 'load-byte':
        return [
          ...word(0x3940_0000 | (step.at << 10) | (MEMORY_BASE << 5)), // ldrb w0
          ...arm64Number(9, step.mask),
          ...word(0x8a09_0000), // and x0, x0, x9
        ];
      case 'store':
        return word(0xf900_0000 | ((step.at / 8) << 10) | (MEMORY_BASE << 5)); // str x0
      case 'set':
        return [
          ...arm64Number(9, step.value),
          ...word(0xb900_0000 | ((step.at / 4) << 10) | (MEMORY_BASE << 5) | 9), // str w9
        ];
      case 'add':
        return word((step.value < 0 ? 0xd100_0000 : 0x9100_0000) | (Math.abs(step.value) << 10));
      case 'negate':
        return word(0xcb00_03e0);
      case 'label':
        return [];
      case 'go':
        return arm64Jump(step.when, (places.get(step.to) ?? at) - at);
    }
  },
};

const STACK_BASE = 19;
const MEMORY_BASE = 20;

/** `distance`: from the beginning of this step. Fields of a jump count instructions. */
function arm64Jump(when: Condition, distance: number): readonly number[] {
  const field = (behind: number, bits: number) => ((distance - behind) / 4) & ((1 << bits) - 1);
  switch (when) {
    case 'always':
      return word(0x1400_0000 | field(0, 26));
    case 'negative':
      return word(0xb7f8_0000 | (field(0, 14) << 5)); // tbnz x0, 63
    case 'zero':
      return word(0xb400_0000 | (field(0, 19) << 5));
    case 'not-zero':
      return word(0xb500_0000 | (field(0, 19) << 5));
    default: {
      const { equals } = when;
      const load = typeof equals === 'number' ? arm64Number(9, equals) : arm64Load(9, MEMORY_BASE, equals.at);
      const compared = [...load, ...word(0xeb09_001f)]; // cmp x0, x9
      return [...compared, ...word(0x5400_0000 | (field(compared.length, 19) << 5))]; // b.eq
    }
  }
}

function arm64Argument(argument: Argument, register: number): readonly number[] {
  const address = (base: number, offset: number) =>
    word(0x9100_0000 | (offset << 10) | (base << 5) | register);
  if (typeof argument === 'number') return arm64Number(register, argument);
  switch (argument) {
    case 'first-argument':
      return arm64Load(register, STACK_BASE, 16);
    case 'arguments':
      return address(STACK_BASE, 16);
    case 'environment':
      // ldr x9, [x19]; add x9, x19, x9, lsl 3
      return [...arm64Load(9, STACK_BASE, 0), ...word(0x8b09_0e69), ...address(9, 16)];
    case 'result':
      return []; // it is there
  }
  if ('at' in argument) return arm64Load(register, MEMORY_BASE, argument.at);
  if ('memory' in argument) return address(MEMORY_BASE, argument.memory);
  return arm64Number(register, DATA_ADDRESS + argument.data);
}

function arm64Load(register: number, base: number, offset: number): readonly number[] {
  return word(0xf940_0000 | ((offset / 8) << 10) | (base << 5) | register);
}

/** From -65,536 to 2^31. */
function arm64Number(register: number, value: number): readonly number[] {
  if (value < 0) return word(0x9280_0000 | ((~value & 0xffff) << 5) | register); // movn
  const low = word(0xd280_0000 | ((value & 0xffff) << 5) | register); // movz
  return value < 0x1_0000 ? low : [...low, ...word(0xf2a0_0000 | ((value >>> 16) << 5) | register)]; // movk
}
