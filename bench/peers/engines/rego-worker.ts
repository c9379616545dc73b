/**
 * The validator that has OPA inside, in its own thread: it writes into the global object, holds the thread while it
 * evaluates, and its timers never end.
 */
import { parentPort } from 'node:worker_threads';
import { peerModule } from '../packages.ts';

interface Validator {
  initialize(done: (error: Error | undefined) => void): void;
  validate(
    profile: string,
    data: string,
    debug: boolean,
    done: (report: string | undefined, error: Error | undefined) => void,
  ): void;
}

export interface Evaluation {
  readonly id: number;
  readonly profile: string;
  readonly data: string;
}

export interface Evaluated {
  readonly id: number;
  readonly report: string;
}

const module = await peerModule<{ readonly default: Validator }>('@aml-org/amf-custom-validator');
if (module !== null) {
  const validator = module.default;
  parentPort?.on('message', ({ id, profile, data }: Evaluation) => {
    validator.validate(profile, data, false, (report, error) => {
      parentPort?.postMessage({ id, report: report ?? String(error) } satisfies Evaluated);
    });
  });
  validator.initialize((error) => {
    if (error !== undefined) throw error;
    parentPort?.postMessage('ready');
  });
} else parentPort?.close();
