/** A thread that scans parts and sends what came of them, one unit at a time, until it is told to end. Ring 1. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ScanTask, Unit } from './part.ts';
import { PartScanner } from './part-scanner.ts';

const task: ScanTask = workerData;
const scanner = new PartScanner(task);
parentPort?.on('message', (unit: Unit) => {
  parentPort?.postMessage(scanner.scan(unit));
});
