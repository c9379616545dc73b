/**
 * `http_score(text)`: what a classifier behind HTTP says of a text, from 0 to 1. The hosts that it may reach stand in
 * cordon.json, not here.
 */
import { defineDetectors } from '@cordon/detectors';

const ADDRESS = 'http://127.0.0.1:8071/classify';

export default defineDetectors({
  http_score: {
    parameters: ['text'],
    evaluate: async ({ text }) => {
      const body = JSON.stringify({ inputs: text });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(ADDRESS, { method: 'POST', headers, body });
      if (!response.ok) throw new Error('the classifier refused');
      const { label, score } = await response.json();
      return label === 'INJECTION' ? score : 1 - score;
    },
  },
});
