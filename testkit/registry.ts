/**
 * A registry of npm and one of Python on this machine, with packages that a test makes up, honest and hostile. Their
 * name leads nowhere: tests hand the installer a look-up and a dial of their own.
 */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';
import { ok } from '@cordon/core';
import type { Dial, Lookup } from '@cordon/dialler';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

export interface TarEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  /** `2`: symbolic link, `1`: hard link; a file without it. */
  readonly type?: '0' | '1' | '2' | '5';
  readonly target?: string;
  readonly mode?: number;
}

/** A tarball as npm packs it: everything below `package/`, unless a hostile path says otherwise. */
export function tarball(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '');
    return [header(entry, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function header({ path, type = '0', target = '', mode = 0o644 }: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
  block.write(path, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return block;
}

/** A zip archive without compression: a wheel. */
export function wheel(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path);
    const content = Buffer.from(text);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt32LE(0x5a_21_00_00, 6); // a date of 2025
    about.writeUInt32LE(crc32(content), 10);
    about.writeUInt32LE(content.length, 14);
    about.writeUInt32LE(content.length, 18);
    about.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, name, content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o100_644 * 65_536, 6);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), about, rest, name]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(centrals.length, 4);
  end.writeUInt16LE(centrals.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end]);
}

export interface NpmVersion {
  readonly entries: readonly TarEntry[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  /** Where the tarball is said to be; without it, in this registry. */
  readonly tarball?: string;
  readonly integrity?: string;
}

/** What the registry does with a request instead of answering it. */
export type Trouble = 'gone' | 'hangs' | 'unauthorized' | { readonly redirectsTo: string } | null;

export class TestRegistry {
  static readonly host = 'packages.example.com';
  readonly requests: string[] = [];
  readonly #asked = Promise.withResolvers<void>();
  /** Resolves with the first request. */
  readonly asked = this.#asked.promise;
  readonly dialled: string[] = [];
  trouble: Trouble = null;
  /** The `Authorization` without which everything is refused; null: none is needed. */
  wants: string | null = null;
  /** Where the index of Python says that its files are; here, without it. */
  filesAt = '';
  readonly #npm = new Map<string, Map<string, { readonly version: NpmVersion; readonly bytes: Buffer }>>();
  readonly #wheels = new Map<string, Map<string, Buffer>>();
  readonly #server: Server | SecureServer;
  /** Scheme and host. */
  readonly #origin: string;

  private constructor(server: Server | SecureServer, origin: string) {
    this.#server = server;
    this.#origin = origin;
  }

  /** `isSecure`: over TLS, as the host of the certificate that nobody believes. */
  static async open(context: TestContext, isSecure = false): Promise<TestRegistry> {
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      registry.#answer(request, response);
    const server = isSecure
      ? createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, answer)
      : createServer(answer);
    const origin = isSecure ? 'https://api.good.com' : `http://${TestRegistry.host}`;
    const registry = new TestRegistry(server, origin);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return registry;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get url(): string {
    return `${this.#origin}:${this.port}/`;
  }

  /** Every name leads to an address of the Internet that nobody dials, unless a test says otherwise. */
  lookup: Lookup = async () => ['93.184.215.14'];

  readonly dial: Dial = async (address, port) => {
    this.dialled.push(`${address}:${port}`);
    // Nobody listens on the first port.
    return ok(connect(this.trouble === 'gone' ? 1 : this.port, '127.0.0.1'));
  };

  /** Adds a version of a package; `files` are below `package/`, and there is a `package.json`. */
  publish(
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    more: Partial<NpmVersion> = {},
  ): void {
    const { entries = [], ...rest } = more;
    const about = { name, version, bin: more.bin, dependencies: more.dependencies, scripts: more.scripts };
    const all: TarEntry[] = [
      { path: 'package/package.json', content: JSON.stringify(about) },
      ...Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content })),
      ...entries,
    ];
    const versions = this.#npm.get(name) ?? new Map();
    versions.set(version, { version: { ...rest, entries: all }, bytes: tarball(all) });
    this.#npm.set(name, versions);
  }

  publishWheel(name: string, version: string, files: Readonly<Record<string, string>>, bins = ''): void {
    const distribution = name.replaceAll('-', '_');
    const info = `${distribution}-${version}.dist-info`;
    const scripts = bins === '' ? {} : { [`${info}/entry_points.txt`]: `[console_scripts]\n${bins}\n` };
    const content = {
      ...files,
      [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
      [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      ...scripts,
    };
    const record = Object.keys(content).map((path) => `${path},,\n`);
    this.#addFile(
      name,
      `${distribution}-${version}-py3-none-any.whl`,
      wheel({ ...content, [`${info}/RECORD`]: `${record.join('')}${info}/RECORD,,\n` }),
    );
  }

  /** A source distribution: to install it would run its code. */
  publishSource(name: string, version: string, setup: string): void {
    const root = `${name}-${version}`;
    const bytes = tarball([
      { path: `${root}/setup.py`, content: setup },
      { path: `${root}/PKG-INFO`, content: `Metadata-Version: 1.0\nName: ${name}\nVersion: ${version}\n` },
    ]);
    this.#addFile(name, `${root}.tar.gz`, bytes);
  }

  #addFile(name: string, file: string, bytes: Buffer): void {
    const files = this.#wheels.get(name) ?? new Map();
    files.set(file, bytes);
    this.#wheels.set(name, files);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(request.url ?? '');
    this.requests.push(`${path}${request.headers.authorization === undefined ? '' : ' with credentials'}`);
    this.#asked.resolve();
    if (this.trouble === 'hangs') return;
    const isStranger = this.wants !== null && request.headers.authorization !== this.wants;
    if (this.trouble === 'unauthorized' || isStranger) return void response.writeHead(401).end('{}');
    if (this.trouble !== null && this.trouble !== 'gone')
      return void response.writeHead(302, { location: `${this.trouble.redirectsTo}${request.url}` }).end();
    const body = this.#body(path);
    if (body === null) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    response
      .writeHead(200, { 'content-type': body.type, 'content-length': body.bytes.length })
      .end(body.bytes);
  }

  #body(path: string): { readonly type: string; readonly bytes: Buffer } | null {
    const [, index] = /^\/simple\/([^/]+)\/$/.exec(path) ?? [];
    if (index !== undefined) return this.#simple(index);
    const [, file] = /^\/files\/(.+)$/.exec(path) ?? [];
    for (const files of this.#wheels.values()) {
      const bytes = files.get(file ?? '');
      if (bytes !== undefined) return { type: 'application/octet-stream', bytes };
    }
    const [, tarName, tarVersion] = /^\/(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const packed = this.#npm.get(tarName ?? '')?.get(tarVersion ?? '');
    if (packed !== undefined) return { type: 'application/octet-stream', bytes: packed.bytes };
    const versions = this.#npm.get(path.slice(1));
    if (versions === undefined) return null;
    return {
      type: 'application/json',
      bytes: Buffer.from(JSON.stringify(this.#packument(path.slice(1), versions))),
    };
  }

  #packument(
    name: string,
    versions: ReadonlyMap<string, { readonly version: NpmVersion; readonly bytes: Buffer }>,
  ) {
    const described = [...versions].map(([version, { version: about, bytes }]) => {
      const { dependencies, bin, scripts } = about;
      const integrity = about.integrity ?? `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const tarball = about.tarball ?? `${this.url}${name}/-/${version}.tgz`;
      const hasScripts = scripts === undefined ? {} : { scripts, hasInstallScript: true };
      return [
        version,
        { name, version, dependencies, bin, ...hasScripts, dist: { tarball, integrity } },
      ] as const;
    });
    return {
      name,
      'dist-tags': { latest: [...versions.keys()].at(-1) },
      versions: Object.fromEntries(described),
    };
  }

  #simple(name: string) {
    const files = this.#wheels.get(name);
    if (files === undefined) return null;
    const links = [...files].map(([file, bytes]) => {
      const digest = createHash('sha256').update(bytes).digest('hex');
      return `<a href="${this.filesAt}/files/${file}#sha256=${digest}">${file}</a>`;
    });
    const bytes = Buffer.from(`<!DOCTYPE html><html><body>${links.join('\n')}</body></html>`);
    return { type: 'text/html', bytes };
  }
}
