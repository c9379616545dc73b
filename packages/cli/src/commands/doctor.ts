/**
 * `cordon doctor`: what this machine can confine, layer by layer, and what to do where it cannot. With `--attack`, the
 * attempts to get out of the layers, which a separate program makes.
 */

import { arch, platform, release } from 'node:os';
import { type Configuration, isProviderConfigured, modelInUse } from '@cordon/config';
import { CODE_ROOT } from '@cordon/config/reading';
import type { Fault, Result } from '@cordon/core';
import { DetectorProcess, FAULTS } from '@cordon/detector-process';
import { detectorLauncher } from '@cordon/detector-process/launch';
import { HERE, type HubNetwork } from '@cordon/dialler';
import { renderTable } from '@cordon/print';
import { CONFINES_PROVIDERS } from '@cordon/runtime';
import { openJournal } from '@cordon/runtime/journal';
import { openMachineSandbox } from '@cordon/runtime/sandbox';
import { readWeaker } from '@cordon/runtime/weaker';
import { LAYERS, type Sandbox } from '@cordon/sandbox';
import type { Store } from '@cordon/trace';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT, type ExitCode } from '../context/exit.ts';
import { VERSION } from '../context/version.ts';
import { runsPrograms } from './mounts.ts';
import { ESCAPE_ATTEMPTS, optionsWord, runSourceProgram } from './source-program.ts';

interface Check {
  readonly name: string;
  /** False: no app is started. */
  readonly ok: boolean;
  readonly why: string;
  /** Also where all is well, if something could be better. */
  readonly remedy: string | null;
}

export interface DoctorOptions {
  /** The group of attempts to make; true: all. */
  readonly attack?: string | true;
}

export async function doctor(context: CommandContext, { attack }: DoctorOptions): Promise<ExitCode> {
  const code = await checkMachine(context);
  if (code !== EXIT.done || attack === undefined) return code;
  const words = attack === true ? [] : [attack];
  return runSourceProgram(context, ESCAPE_ATTEMPTS, [optionsWord(context.options), ...words]);
}

async function checkMachine(context: CommandContext): Promise<ExitCode> {
  const configuration = context.configurationInEffect();
  if (configuration === null) return EXIT.failed;
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return context.reportSetupError({ kind: 'diagnostics', diagnostics: weaker.fault });
  const store = openJournal(configuration);
  // No file of kept results: who asks wants to know how it is now.
  const sandbox = openMachineSandbox({ weaker: weaker.value }, context.dialler);
  const report = await sandbox.probe();
  const detectors = await detectorCheck(sandbox);
  const network = await hubNetworkCheck(context.network);
  const checks: readonly Check[] = [
    { name: 'versions', ok: true, why: versions(), remedy: null },
    { name: 'user', ok: true, why: userInWords(), remedy: null },
    ...dataFolderChecks(configuration, store),
    ...report.layers.map(({ layer, ok, why, remedy }) => ({ name: layer, ok, why, remedy })),
    ...weaker.value.map((layer) => ({
      name: layer,
      ok: true,
      why: `disabled, because you asked for it: ${LAYERS[layer].without}`,
      remedy: 'remove it from `--sandbox` or `sandbox.weaker`',
    })),
    detectors,
    ...(report.ready ? [{ name: 'model providers', ok: true, why: providersInWords(), remedy: null }] : []),
    network,
    { name: 'model', ok: true, why: modelInWords(configuration), remedy: null },
  ];
  if (store.ok) store.value.close();
  const ready = report.ready && store.ok && detectors.ok && network.ok;
  if (context.wantsJson) {
    for (const check of checks) context.json({ kind: 'doctor.check', ...check });
    context.json({ kind: 'doctor.result', ready });
  } else show(context, checks, ready);
  return ready ? EXIT.done : EXIT.failed;
}

function versions(): string {
  const system = platform() === 'linux' ? 'Linux' : platform();
  return `Cordon ${VERSION}, Node ${process.version}, ${system} ${release()} on ${arch()}`;
}

function userInWords(): string {
  const user = process.getuid?.();
  if (user === undefined) return 'this system has no user ids';
  return user === 0
    ? 'root; apps run as another user'
    : `an ordinary user (${user}); apps run as the same user`;
}

function dataFolderChecks({ dataFolder }: Configuration, store: Result<Store, Fault>): readonly Check[] {
  if (!store.ok) {
    const { message, help = null } = store.fault;
    return [{ name: 'data folder', ok: false, why: message, remedy: help }];
  }
  const runs = runsPrograms(dataFolder);
  return [
    {
      name: 'data folder',
      ok: true,
      why: runs ? dataFolder : `${dataFolder}, on a file system that allows no programs (mounted noexec)`,
      remedy: runs ? null : 'for packages that contain programs, use another folder: `--data FOLDER`',
    },
  ];
}

function providersInWords(): string {
  return CONFINES_PROVIDERS
    ? 'each is called by a confined process, which holds its key and reaches only its host'
    : 'called in the hub’s process: the sandbox of this system has no network of its own';
}

/** Whether this process can connect to a listener of this machine, which the dialling process opens and reaches. */
async function hubNetworkCheck({ dialler, sharedBecause }: HubNetwork): Promise<Check> {
  const name = 'network of the hub';
  const bait = await dialler.bait();
  if (!bait.ok)
    return { name, ok: false, why: `nothing can be dialled: ${bait.fault.message}`, remedy: null };
  const { port, close } = bait.value;
  const direct = await HERE.dial('127.0.0.1', port);
  const dialled = await dialler.dial('127.0.0.1', port);
  for (const connection of [direct, dialled]) if (connection.ok) connection.value.destroy();
  close();
  if (direct.ok || sharedBecause !== null) {
    const why = sharedBecause ?? 'its namespace has the network of the machine';
    return { name, ok: true, why: `shared with this machine: ${why}`, remedy: null };
  }
  return dialled.ok
    ? { name, ok: true, why: 'none (dialling process): it cannot connect by itself', remedy: null }
    : { name, ok: false, why: `nothing can be dialled: ${dialled.fault.message}`, remedy: null };
}

/** Asks a detector that needs a third-party parser, as a rule of the hub would. */
async function detectorCheck(sandbox: Sandbox): Promise<Check> {
  const launch = detectorLauncher(sandbox, CODE_ROOT);
  const detectors = new DetectorProcess((signal) => launch('parsers', signal));
  const call = { of: 'str', rest: [], named: {}, given: {}, isParsed: true } as const;
  const answer = await detectors.ask({ kind: 'detector', name: 'html_code', texts: ['<p>'], ...call });
  await detectors.close();
  const name = 'detectors';
  return answer.ok
    ? { name, ok: true, why: 'third-party parsers run confined, without network and files', remedy: null }
    : { name, ok: false, why: `rules that need a parser deny: ${FAULTS[answer.fault]}`, remedy: null };
}

function modelInWords(configuration: Configuration): string {
  return isProviderConfigured(configuration)
    ? modelInUse(configuration)
    : 'none configured; the built-in demonstration model plays scenarios';
}

function show({ output }: CommandContext, checks: readonly Check[], ready: boolean): void {
  const rows = checks.map(({ name, ok, why, remedy }) => [
    ok ? (remedy === null ? 'yes' : 'but') : 'NO',
    name,
    remedy === null ? why : `${why}\nhelp: ${remedy}`,
  ]);
  renderTable(output, ['', 'layer', 'result'], rows);
  const missing = checks.filter(({ ok }) => !ok).length;
  const lines = missing === 1 ? 'the line' : 'the lines';
  const verdict = ready
    ? 'Cordon can run apps on this machine'
    : `Cordon will not start any app: see ${lines} marked NO`;
  output.say('', verdict, ready ? 'good' : 'bad');
}
