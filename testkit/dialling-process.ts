/** A dialling process, with the shell that starts and ends it, as the launcher makes them. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiallingProcess, type ProcessPlace } from '@cordon/dialler/client';

const STARTER = join(import.meta.dirname, '../packages/dialler/bin/start-when-asked');

export interface Place extends Pick<ProcessPlace, 'folder' | 'pipe'> {
  /** What the end of the hub does. */
  readonly leave: () => void;
}

/** A folder with a pipe that this process holds open, and nobody who starts anything. */
export function socketFolder(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-dial-'));
  if (spawnSync('mkfifo', [join(folder, 'pipe')]).status !== 0) throw new Error('there is no pipe');
  const pipe = openSync(join(folder, 'pipe'), 'r+');
  let isOpen = true;
  const leave = () => {
    if (isOpen) closeSync(pipe);
    isOpen = false;
  };
  return { folder, pipe, leave };
}

export interface Dialling extends Pick<Place, 'folder' | 'leave'> {
  readonly dialler: DiallingProcess;
  /** Of the shell, which removes the folder at the end. */
  readonly pid: number;
}

export function openDialling(times: ProcessPlace['times'] = {}): Dialling {
  const { folder, pipe, leave } = socketFolder();
  const streams = Array.from({ length: 9 }, () => 'ignore' as const);
  const shell = spawn(STARTER, [folder, process.execPath], { stdio: [...streams, pipe] });
  shell.unref();
  return { folder, dialler: new DiallingProcess({ folder, pipe, times }), pid: shell.pid ?? 0, leave };
}
