export { explainHost } from './diagnosis.ts';
