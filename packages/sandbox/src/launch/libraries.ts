/**
 * Which shared libraries a program of the host needs, so that a sandbox can hold these files and no others: no
 * shell, no other programs, no /etc. Asked of the program's own loader; only ever for programs that the hub
 * trusts (its Node, prlimit).
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';

const PT_INTERP = 3;

/** Paths as the loader will look for them, the loader itself included; empty for a static program. Throws if unreadable. */
export function librariesOf(program: string): readonly string[] {
  const loader = loaderOf(program);
  if (loader === null) return [];
  const listing = execFileSync(loader, ['--list', program], { encoding: 'utf8', env: {}, timeout: 5000 });
  const named = [...listing.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map((match) => match[1] ?? '');
  return [...new Set([loader, ...named])];
}

/** The PT_INTERP entry of a 64-bit little-endian ELF file (elf(5)). */
function loaderOf(program: string): string | null {
  const header = readAt(program, 0, 64);
  if (header.toString('latin1', 0, 4) !== '\x7fELF' || header[4] !== 2 || header[5] !== 1)
    throw new Error(`\`${program}\` is not a 64-bit little-endian program`);
  const size = header.readUInt16LE(54);
  const table = readAt(program, Number(header.readBigUInt64LE(32)), size * header.readUInt16LE(56));
  for (let at = 0; at + size <= table.length; at += size) {
    if (table.readUInt32LE(at) !== PT_INTERP) continue;
    const offset = Number(table.readBigUInt64LE(at + 8));
    const length = Number(table.readBigUInt64LE(at + 32));
    return readAt(program, offset, Math.min(length, 4096)).toString('utf8').replace(/\0.*$/, '');
  }
  return null;
}

function readAt(path: string, position: number, length: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    const read = readSync(descriptor, bytes, 0, length, position);
    return bytes.subarray(0, read);
  } finally {
    closeSync(descriptor);
  }
}
