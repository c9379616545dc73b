/** The published sets that functionality and overhead are measured on, as tasks. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, failed, fault, isJsonObject, type Json, ok, parseJson, type Result } from '@cordon/core';
import { readData } from '../data.ts';
import type { BenchRequest, DataFile } from '../evaluation/suite.ts';
import { bfclTasks } from './bfcl.ts';
import { langchainTasks, readMails } from './langchain.ts';
import type { Task } from './task.ts';

export interface Tasks {
  readonly tasks: readonly Task[];
  readonly data: readonly DataFile[];
}

const MAILS = 'functionality/e-mails.jsonl';

/** All tasks, in the order of their sets. Refuses where a set is missing or is not in its form. */
export function readTasks({ data }: Pick<BenchRequest, 'data'>): Result<Tasks, Fault> {
  const langchain = readData('scripted/langchain/tasks.json', data);
  if (!langchain.ok) return langchain;
  const conversations = readData('scripted/bfcl/multi_turn_base.jsonl', data);
  if (!conversations.ok) return conversations;
  const tools = readData('scripted/bfcl/tools.json', data);
  if (!tools.ok) return tools;
  const mails = readFileSync(join(import.meta.dirname, 'e-mails.jsonl'));
  const [sets, listed] = [jsonOf(langchain.value.text), jsonOf(tools.value.text)];
  const spoken = conversations.value.text.trim().split('\n').map(jsonOf);
  if (!isJsonObject(sets) || listed === undefined || !spoken.every((one) => one !== undefined))
    return failed(fault('usage', 'a set of tasks is not in its form'));
  return ok({
    tasks: [...langchainTasks(sets, readMails(mails.toString('utf8'))), ...bfclTasks(spoken, listed)],
    data: [
      langchain.value.file,
      conversations.value.file,
      tools.value.file,
      { name: MAILS, sha256: createHash('sha256').update(mails).digest('hex') },
    ],
  });
}

function jsonOf(text: string): Json | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
