/** A folder of its own with a `cordon.json`, and the configuration that loads from it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Configuration, type ConfigurationOptions, loadConfiguration } from '@cordon/config';
import type { Diagnostic, Result } from '@cordon/core';

export class ConfigurationFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-config-')));
  readonly home = join(this.path, 'home');
  readonly project = join(this.path, 'home', 'project');

  constructor() {
    mkdirSync(this.project, { recursive: true });
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  load(
    environment: Record<string, string> = {},
    options: ConfigurationOptions = {},
  ): Result<Configuration, readonly Diagnostic[]> {
    return loadConfiguration({ options, environment, cwd: this.project, home: this.home });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Loads one text as `cordon.json`. */
export function loadText(
  text: string,
  environment: Record<string, string> = {},
  options: ConfigurationOptions = {},
): Result<Configuration, readonly Diagnostic[]> {
  using folder = new ConfigurationFolder();
  folder.write('cordon.json', text);
  return folder.load(environment, options);
}

/** `5:34 error CFG014 apps.mail.manifest.network[0]: message (help)`, without the folder's own name. */
export function summary(diagnostic: Diagnostic): string {
  const { range, severity, code, path, message, help } = diagnostic;
  const place = range === undefined ? '-' : `${range.line}:${range.column}`;
  const line = `${place} ${severity} ${code}${path === undefined ? '' : ` ${path}`}: ${message} (${help ?? ''})`;
  return line.replaceAll(/\/[^`\s]*cordon-config-\w+/g, '');
}

export function problemsOf(result: Result<Configuration, readonly Diagnostic[]>): string[] {
  return (result.ok ? result.value.warnings : result.fault).map(summary);
}
