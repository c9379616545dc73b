/**
 * The smallest programs that make one system call, once or several times, as whole ELF files: Node cannot make `ptrace` or `mount` itself,
 * and a machine need not have a program that does. The self-test runs them inside.
 *
 * Ring 0.
 */
import type { Architecture } from './seccomp.ts';
import { SYSCALLS, type SyscallName } from './syscall-numbers.ts';

const ADDRESS = 0x40_0000;
const HEADERS = 64 + 56;
/** `e_machine` (elf.h). */
const MACHINE: Readonly<Record<Architecture, number>> = { x64: 62, arm64: 183 };

/**
 * A static executable: makes the call `times` times with zeros for arguments, and exits with the errno of the last one;
 * where that returns 0, with 0.
 */
export function probeProgram(call: SyscallName, architecture: Architecture, times = 1): Buffer {
  const calls = Array.from({ length: times }, () => call);
  const code =
    architecture === 'x64'
      ? x64Code(calls.map((name) => SYSCALLS[name][0]))
      : arm64Code(calls.map((name) => SYSCALLS[name][1]));
  const file = Buffer.alloc(HEADERS + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // 64 bits, little-endian
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(MACHINE[architecture], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(ADDRESS + HEADERS), 24); // entry
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
  file.set(code, HEADERS);
  return file;
}

function x64Code(numbers: readonly number[]): Uint8Array {
  return new Uint8Array([
    ...numbers.flatMap((number) => [
      ...[0xb8, ...word(number)], // mov eax, number
      ...[0x31, 0xff, 0x31, 0xf6, 0x31, 0xd2, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0], // arguments = 0
      ...[0x0f, 0x05], // syscall
    ]),
    ...[0xf7, 0xd8, 0x89, 0xc7], // neg eax; mov edi, eax
    ...[0xb8, ...word(SYSCALLS.exit_group[0])],
    ...[0x0f, 0x05],
  ]);
}

function arm64Code(numbers: readonly number[]): Uint8Array {
  const set = (register: number, value: number) => word(0xd280_0000 + value * 32 + register); // movz
  const call = word(0xd400_0001); // svc #0
  return new Uint8Array([
    ...numbers.flatMap((number) => [
      ...set(8, number),
      ...[0, 1, 2, 3, 4].flatMap((register) => set(register, 0)),
      ...call,
    ]),
    ...word(0x4b00_03e0), // neg w0, w0
    ...set(8, SYSCALLS.exit_group[1]),
    ...call,
  ]);
}

function word(value: number): readonly number[] {
  return [value, value >>> 8, value >>> 16, value >>> 24].map((byte) => byte & 0xff);
}
