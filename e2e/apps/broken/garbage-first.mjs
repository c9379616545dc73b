import { echo, speak } from '../lines.mjs';

console.log('starting …');
console.log('{"level": "info", "message": "listening"}');
console.log('\u0000\u001b[31mred');
console.log('{"jsonrpc": "1.0", "id": 0, "result": {}}');
speak({ echo });
