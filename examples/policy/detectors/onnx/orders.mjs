/** `onnx_score(text)`: what a model in an ONNX file says of a text, from 0 to 1. Runs in the sandbox: the file and its runtime. */
import { readFileSync } from 'node:fs';
import { defineDetectors } from '@cordon/detectors';
import * as ort from 'onnxruntime-web/wasm';
import { WORDS } from './words.mjs';

// One thread, no request: the runtime's own code stands beside the module.
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync(new URL('model.onnx', import.meta.url)));

export default defineDetectors({
  onnx_score: {
    parameters: ['text'],
    evaluate: async ({ text }) => {
      if (typeof text !== 'string') throw new TypeError('a text is looked at');
      const words = text.toLowerCase().split(/[^a-z]+/);
      const input = Float32Array.from(WORDS, (word) => (words.includes(word) ? 1 : 0));
      const { score } = await session.run({ words: new ort.Tensor('float32', input, [1, WORDS.length]) });
      return Math.round(score.data[0] * 1000) / 1000;
    },
  },
});
