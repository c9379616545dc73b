/** `cordon apps`: what is installed, what each may do, and what will have to be asked. Ring 1. */
import { basename } from 'node:path';
import type { InstalledApp } from '@cordon/core';
import { findInstalled, parsePackageLauncher } from '@cordon/sandbox';
import type { Configuration } from '../config.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { installedRecord } from '../install/install.ts';
import type { Surroundings } from './surroundings.ts';

export async function apps(surroundings: Surroundings): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  if (surroundings.wantsJson) {
    for (const app of configuration.apps)
      surroundings.json({ kind: 'app', ...described(app, configuration) });
    return EXIT.done;
  }
  if (configuration.apps.length === 0) {
    const where = configuration.file ?? configuration.searched.join(' or ');
    surroundings.output.say(
      '',
      `no apps are installed; they are listed under \`apps\` or \`mcpServers\` in ${where}`,
    );
    return EXIT.done;
  }
  for (const app of configuration.apps) await tell(surroundings, app, configuration);
  return EXIT.done;
}

async function tell(
  surroundings: Surroundings,
  app: InstalledApp,
  configuration: Configuration,
): Promise<void> {
  const { output } = surroundings;
  const { id, description, source, ...rights } = await described(app, configuration);
  output.say('', id, 'bold');
  output.say('  ', description ?? 'no description: the planner sees its name only');
  output.say('  ', source, 'dim');
  for (const [name, value] of Object.entries(rights)) output.say(`  ${name}: `, value);
  output.line();
}

async function described(app: InstalledApp, { handedVariables, dataFolder }: Configuration) {
  const { manifest } = app;
  const { read, write } = manifest.files;
  const variables = handedVariables.filter((handed) => handed.app === app.id).map(({ variable }) => variable);
  return {
    id: app.id,
    description: manifest.description,
    source: sourceOf(app),
    ...(await installationOf(app, dataFolder)),
    serves: listed(
      manifest.functionalities.map(({ name }) => name),
      'nothing to other apps unless the plan names it',
    ),
    network: listed(manifest.network, 'none'),
    reads: listed(read, 'no files'),
    writes: listed(write, 'no files'),
    'asks before':
      manifest.irreversible === null
        ? 'every tool that does not declare itself read-only'
        : listed(manifest.irreversible, 'nothing'),
    'untrusted output': manifest.untrusted === null ? 'all' : listed(manifest.untrusted, 'none'),
    'private output': manifest.private === null ? 'all' : listed(manifest.private, 'none'),
    'gets from your environment': listed(variables, 'nothing'),
  };
}

function sourceOf({ source }: InstalledApp): string {
  switch (source.kind) {
    case 'command':
      return [source.command, ...source.args].join(' ');
    case 'url':
      return source.url;
    case 'instructions':
      return 'instructions only';
    default:
      source satisfies never;
      return '';
  }
}

/** For a command like `npx package`: what it would start. Nothing for others. */
async function installationOf(
  { id, source }: InstalledApp,
  dataFolder: string,
): Promise<{ readonly installed?: string }> {
  const call = source.kind === 'command' ? parsePackageLauncher(basename(source.command), source.args) : null;
  if (call === null || (call.ok && call.value === null)) return {};
  if (!call.ok || call.value === null)
    return { installed: `cannot be: ${call.ok ? '' : call.fault.message}` };
  const record = installedRecord(call.value, dataFolder);
  if (!record.ok || record.value === null)
    return { installed: `not by \`cordon apps install ${id}\`; what lies beside the configuration is taken` };
  const { name, version, installedAt, digest } = record.value;
  const intact = await findInstalled(call.value, dataFolder);
  const state = intact.ok ? `${digest.slice(0, 12)}…` : intact.fault.message;
  return { installed: `${name} ${version} since ${installedAt.slice(0, 10)}, ${state}` };
}

function listed(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(', ');
}
