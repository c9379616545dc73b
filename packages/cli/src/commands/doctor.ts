/** `cordon doctor`: what this machine can confine, layer by layer, and what to do where it cannot. Ring 1. */
import { machineSandbox, openJournal } from '../compose.ts';
import { isProviderConfigured, modelInUse } from '../config.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderTable } from '../table.ts';
import type { Surroundings } from './surroundings.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly why: string;
  readonly remedy: string | null;
}

export async function doctor(surroundings: Surroundings): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const store = openJournal(configuration);
  const report = await machineSandbox(configuration).probe();
  const checks: readonly Check[] = [
    { name: 'node', ok: true, why: process.version, remedy: null },
    {
      name: 'data folder',
      ok: store.ok,
      why: store.ok ? configuration.dataFolder : store.fault.message,
      remedy: store.ok ? null : (store.fault.help ?? null),
    },
    ...report.layers.map(({ layer, ok, why, remedy }) => ({ name: layer, ok, why, remedy })),
    {
      name: 'model',
      ok: true,
      why: isProviderConfigured(configuration)
        ? modelInUse(configuration)
        : 'none configured: the built-in obedient model plays scenarios',
      remedy: null,
    },
  ];
  if (store.ok) store.value.close();
  const ready = report.ready && store.ok;
  if (surroundings.wantsJson) {
    for (const check of checks) surroundings.json({ kind: 'doctor.check', ...check });
    surroundings.json({ kind: 'doctor.result', ready });
  } else {
    const rows = checks.map(({ name, ok, why, remedy }) => [
      ok ? 'yes' : 'NO',
      name,
      remedy === null ? why : `${why}. ${remedy}`,
    ]);
    renderTable(surroundings.output, ['', 'layer', 'what was seen'], rows);
    const verdict = ready ? 'apps can be confined here' : 'no app will be started: see the lines with NO';
    surroundings.output.say('', verdict, ready ? 'good' : 'bad');
  }
  return ready ? EXIT.done : EXIT.failed;
}
