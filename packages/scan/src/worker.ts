/** A thread that scans parts and sends what came of them, one unit at a time, until a message asks it to end. */
import { parentPort, workerData } from 'node:worker_threads';
import { PartScanner } from './examine/part-scanner.ts';
import type { ScanTask, Unit } from './parts/part.ts';

const task: ScanTask = workerData;
const scanner = new PartScanner(task);
parentPort?.on('message', (unit: Unit) => {
  parentPort?.postMessage(scanner.scan(unit));
});
