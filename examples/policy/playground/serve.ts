/**
 * Serves the playground to browsers of this machine: the page, and the sources of `@cordon/policy-tools` and what it is made of,
 * with their types taken off on the way. There is a fixed table of what can be asked for, and nothing is loaded from
 * anywhere else.
 *
 *     node examples/policy/playground/serve.ts [--port 4700]
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = import.meta.dirname;
const HOST = '127.0.0.1';

/** Address to file. A request is looked up here and never becomes a path. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['/', join(HERE, 'page/index.html')],
  ...filesBelow(join(HERE, 'page'), '/page'),
  ...filesBelow(join(HERE, 'cases'), '/cases'),
  ...filesBelow(sourceFolder('@cordon/core'), '/modules/core'),
  ...filesBelow(sourceFolder('@cordon/monitor'), '/modules/monitor'),
  ...filesBelow(sourceFolder('@cordon/policy'), '/modules/policy'),
  ...filesBelow(sourceFolder('@cordon/policy-tools'), '/modules/policy-tools'),
  ...filesBelow(sourceFolder('@cordon/regex'), '/modules/regex'),
]);

function sourceFolder(name: string): string {
  return fileURLToPath(new URL('.', import.meta.resolve(name)));
}

function filesBelow(folder: string, address: string): readonly [string, string][] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): readonly [string, string][] => {
    const file = join(folder, entry.name);
    const below = `${address}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(file, below) : [[below, file]];
  });
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.gr': 'text/plain; charset=utf-8',
};

function contentOf(file: string): string {
  const text = readFileSync(file, 'utf8');
  return extname(file) === '.ts' ? stripTypeScriptTypes(text) : text;
}

/**
 * Scripts and styles are files of this server, the import map is the one in the page, and no text can become markup:
 * the traces that people paste are hostile.
 */
function securityPolicy(page: string): string {
  const [, importMap = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(page) ?? [];
  const hash = createHash('sha256').update(importMap).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const refuse = (status: number, why: string): void => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why}\n`);
  };
  // A page elsewhere may give its own name this address (DNS rebinding); then the name is in `Host`.
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? ''))
    return refuse(421, 'this is a server for this machine only');
  if (request.method !== 'GET') return refuse(405, 'only GET');
  const file = FILES.get(request.url ?? '');
  if (file === undefined) return refuse(404, 'there is no such file');
  const content = contentOf(file);
  response
    .writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      ...(basename(file) === 'index.html' ? { 'content-security-policy': securityPolicy(content) } : {}),
    })
    .end(content);
}

const { values } = parseArgs({ options: { port: { type: 'string', default: '4700' } } });
const server = createServer(answer);
server.on('error', (error) => {
  console.error(error.message);
  process.exitCode = 2;
});
server.listen(Number(values.port), HOST, () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : values.port;
  console.log(`the playground is at http://${HOST}:${port}/ (ctrl-c ends it)`);
});
