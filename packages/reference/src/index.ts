export { evaluate, evaluatePending, type Outcome } from './evaluate.ts';
