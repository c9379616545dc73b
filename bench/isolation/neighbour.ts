/**
 * What the folders of one app cost the files of another. The neighbour times its own work with files in its own folder, so
 * that no time of the hub is in it: in peace, while another app makes 9,000 folders, and while those are there. Both apps
 * have the sandbox and the limits that every app has.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type InstalledApp, id } from '@cordon/core';
import { fail, MeasuredHost, must, programApp, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { summary } from '../sample.ts';

/**
 * `flat`: one beside the other, which shows what the disk and the cores cost by themselves. `nested`: one in the other, which
 * ends the app. `allowed`: as deep as a folder may be, so that it goes on.
 */
export const FOLDER_HARMS = ['flat', 'nested', 'allowed'] as const;
export type FolderHarm = (typeof FOLDER_HARMS)[number];

/** 99th percentiles of the neighbour's work with files, in milliseconds; beside folders from the moment at which they are asked for. */
export type NeighbourTimes = Readonly<Record<'peace' | FolderHarm, number>>;

/** Of one series. They take turns, so that whoever else uses the machine slows both. */
const COUNT = 100;
const SERIES = 3;

export async function besideFolders(rig: Rig): Promise<NeighbourTimes> {
  const kept: Readonly<Record<keyof NeighbourTimes, number[]>> = {
    peace: [],
    flat: [],
    nested: [],
    allowed: [],
  };
  const measured = new MeasuredHost(rig);
  const neighbour = folderApp(rig, 'neighbour');
  try {
    must(await measured.host.start(neighbour));
    await timesOf(measured, neighbour); // what the first are slowed by
    for (let series = 0; series < SERIES; series++) {
      kept.peace.push(...(await timesOf(measured, neighbour)));
      for (const harm of FOLDER_HARMS)
        kept[harm].push(...(await whileMade(rig, harm, () => timesOf(measured, neighbour))));
    }
  } finally {
    await measured.host.stop();
  }
  const { peace, flat, nested, allowed } = kept;
  return { peace: p99(peace), flat: p99(flat), nested: p99(nested), allowed: p99(allowed) };
}

/** The folders are made by a host of their own, whose app is ended where a limit says so. */
async function whileMade<T>(rig: Rig, harm: FolderHarm, work: () => Promise<T>): Promise<T> {
  const hostile = folderApp(rig, 'hostile');
  const host = new MeasuredHost(rig);
  try {
    must(await host.host.start(hostile));
    const made = host.call(hostile, harm);
    const value = await work();
    await made;
    if (harm === 'nested') {
      for (let waited = 0; host.stopped.length === 0 && waited < 5_000; waited += 10) await wait(10);
      if (host.stopped.length === 0) fail('9,000 folders in each other did not end the app');
    } else if (host.stopped.length > 0) fail(`folders that are allowed ended the app: ${host.stopped[0]}`);
    return value;
  } finally {
    await host.host.stop();
  }
}

function folderApp({ dataFolder }: Rig, name: string): InstalledApp {
  const app = programApp('folders.mjs');
  const state = join(dataFolder, 'apps', name);
  rmSync(state, { recursive: true, force: true }); // what an earlier series left there
  return { ...app, id: id(name), manifest: { ...app.manifest, files: { read: [], write: [state] } } };
}

async function timesOf(measured: MeasuredHost, app: InstalledApp): Promise<readonly number[]> {
  const { text } = must(await measured.call(app, 'times', { count: COUNT }));
  const times: unknown = JSON.parse(text);
  if (!Array.isArray(times)) return fail('the neighbour measured nothing');
  return times.map(Number);
}

function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? summary(values).range[1];
}
