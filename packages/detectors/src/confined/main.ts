/**
 * The program of the confined process that looks at texts for the hub, on a socket that it inherits: each question with its length
 * before it, one line of JSON for each answer, in the same order. Its argument says whether third-party parsers may run. It ends with
 * its link.
 */
import { Socket } from 'node:net';
import { deserialize } from 'node:v8';
import { failed, type Json, type Result } from '@cordon/core';
import { type TextWork, TextWorker, type WorkFault } from '@cordon/policy';
import { standardDetectors } from '../library/standard-library.ts';

const LINK_DESCRIPTOR = 3;
/** Before each question. */
const LENGTH_BYTES = 4;
/** Of one answer, in bytes: the hub reads no longer one. */
const MOST_SAID = 4 * 1024 * 1024;

const parsers = process.argv[2] === 'parsers' ? 'here' : 'elsewhere';
const worker = new TextWorker(standardDetectors(undefined, null, parsers));
const link = new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true });
link.on('close', () => process.exit(0));
link.on('error', () => process.exit(0));
let pieces: Buffer[] = [];
let size = 0;
let wanted = LENGTH_BYTES;
link.on('data', (chunk: Buffer) => {
  pieces.push(chunk);
  size += chunk.length;
  while (size >= wanted) {
    const all = Buffer.concat(pieces);
    const end = LENGTH_BYTES + all.readUInt32LE();
    const isWhole = size >= end;
    if (isWhole) link.write(`${answerTo(deserialize(all.subarray(LENGTH_BYTES, end)))}\n`);
    pieces = [isWhole ? all.subarray(end) : all];
    size = pieces[0]?.length ?? 0;
    wanted = isWhole ? LENGTH_BYTES : end;
  }
});

function answerTo({ id, work }: { readonly id: number; readonly work: TextWork }): string {
  const said = computed(work);
  if (!said.ok) return JSON.stringify({ id, fault: said.fault });
  const line = JSON.stringify({ id, answer: said.value });
  return Buffer.byteLength(line) < MOST_SAID ? line : JSON.stringify({ id, fault: 'too-much-found' });
}

function computed(work: TextWork): Result<Json, WorkFault> {
  try {
    return worker.compute(work);
  } catch {
    return failed('no-answer');
  }
}
