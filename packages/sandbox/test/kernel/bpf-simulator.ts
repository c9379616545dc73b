/** Runs a filter on one system call, as the kernel would; only the instructions that our filters use. */
import { CODE, type Instruction } from '../../src/kernel/bpf.ts';

export interface SeccompData {
  readonly nr: number;
  readonly arch: number;
  /** Up to six arguments of 64 bits. */
  readonly args?: readonly bigint[];
}

/** The action that the filter answers; throws when it leaves the program or divides the word. */
export function simulate(program: readonly Instruction[], { nr, arch, args = [] }: SeccompData): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  args.forEach((value, index) => {
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at < program.length; at++) {
    const { code, jt, jf, k } = program[at] ?? { code: -1, jt: 0, jf: 0, k: 0 };
    const word = k >>> 0;
    if (code === CODE.load) accumulator = data.readUInt32LE(k);
    else if (code === CODE.and) accumulator = (accumulator & k) >>> 0;
    else if (code === CODE.return) return word;
    else if (code === CODE.jumpEqual) at += accumulator === word ? jt : jf;
    else if (code === CODE.jumpGreater) at += accumulator > word ? jt : jf;
    else if (code === CODE.jumpNotLess) at += accumulator >= word ? jt : jf;
    else if (code === CODE.jumpBits) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`instruction ${at} is unknown`);
  }
  throw new Error('the program ended without an answer');
}
