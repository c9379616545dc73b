/** The program of the thread that looks at long texts: takes one piece of work after the other, and answers each. Ring 1. */

import { parentPort } from 'node:worker_threads';
import { failed } from '@cordon/core';
import { type TextWork, TextWorker } from '@cordon/policy';
import { standardDetectors } from '../library/standard-library.ts';

const worker = new TextWorker(standardDetectors());

parentPort?.on('message', (work: TextWork) => {
  parentPort?.postMessage(answerTo(work));
});

function answerTo(work: TextWork): ReturnType<TextWorker['compute']> {
  try {
    return worker.compute(work);
  } catch {
    return failed('a long text could not be looked at');
  }
}
