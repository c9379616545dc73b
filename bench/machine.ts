/** What a reader must know of the machine to judge the numbers; nothing that names it. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly distribution: string;
  readonly node: string;
  /** Runnable processes, averaged over the minute before the first run. */
  readonly load: number;
}

export function thisMachine(): Machine {
  return {
    cpu: cpuModel(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release().split('-')[0]}`,
    distribution: distribution(),
    node: process.version,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** A virtual machine may hide the product's name; its family and model still tell which processor it is. */
function cpuModel(): string {
  const name = cpus()[0]?.model.trim() ?? 'unknown';
  const field = (key: string) => new RegExp(`^${key}\\s*: (\\d+)$`, 'm').exec(read('/proc/cpuinfo'))?.[1];
  const [family, model] = [field('cpu family'), field('model')];
  return family === undefined || model === undefined ? name : `${name} (family ${family}, model ${model})`;
}

function distribution(): string {
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(read('/etc/os-release'))?.[1] ?? 'unknown';
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
