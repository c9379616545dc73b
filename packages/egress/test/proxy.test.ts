/** One request or tunnel at a time: what may pass, and that nothing passes before it was decided. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { clientHello, converse, echo, get, OPENED, open, recorder, tunnel, until } from './setting.ts';

const web = () =>
  createServer((incoming, response) =>
    response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`),
  );

test('an allowed request passes, and the monitor saw it first', async (context) => {
  const setting = await open(context, web());
  assert.equal(await get(setting, 'http://api.good.com/a?b=1'), '200 GET /a?b=1 api.good.com');
  assert.deepEqual(setting.asked, [
    { host: 'api.good.com', port: 80, site: 'good.com', method: 'GET', path: '/a?b=1', bytes: 0 },
  ]);
  assert.deepEqual(setting.dialled, ['93.184.215.14:80']);
});

test('the monitor sees how long a body is, or that nobody knows', async (context) => {
  const setting = await open(context, web());
  await get(setting, 'http://good.com/', { 'content-length': '5' }, 'hello');
  await get(setting, 'http://good.com/', { 'transfer-encoding': 'chunked' }, 'hello');
  assert.deepEqual(
    setting.asked.map(({ method, bytes }) => [method, bytes]),
    [
      ['POST', 5],
      ['POST', null],
    ],
  );
});

test('other sites, ports and addresses are refused without a look-up or a question', async (context) => {
  const setting = await open(context, web());
  const urls =
    `http://evil.net/ http://good.com.evil.net/ http://good.com:8080/ http://good.com:443/ http://127.0.0.1/
    http://localhost/ http://exact.org/ http://deeper.api.exact.org/ http://2130706433/ http://0x7f.1/ http://017700000001/
    http://[::1]/ http://[::ffff:127.0.0.1]/`.split(/\s+/);
  for (const url of urls) assert.match(await get(setting, url), /^403 /, url);
  assert.deepEqual([setting.asked, setting.lookedUp, setting.dialled], [[], [], []]);
  assert.equal(setting.refused.length, urls.length);
});

test('an exact host of the manifest is reached', async (context) => {
  const setting = await open(context, web());
  assert.equal(await get(setting, 'http://api.exact.org/'), '200 GET / api.exact.org');
});

test('an address is reached only where the manifest lists that very address and port', async (context) => {
  const network = ['127.0.0.1:8080', '[::1]:8080'];
  const setting = await open(context, web(), { network });
  for (const url of ['http://127.0.0.1:8080/', 'http://[::1]:8080/'])
    assert.match(await get(setting, url), /^200 /, url);
  const others = `http://127.0.0.1:8081/ http://127.0.0.1/ http://127.0.0.2:8080/ http://10.0.0.1:8080/
    http://169.254.169.254:8080/ http://[::2]:8080/ http://[::ffff:127.0.0.1]:8080/ http://localhost:8080/`;
  for (const url of others.split(/\s+/)) assert.match(await get(setting, url), /^403 /, url);
  assert.deepEqual(setting.dialled, ['127.0.0.1:8080', '::1:8080']);
  assert.deepEqual(setting.lookedUp, []);
});

test('another spelling of a listed address is refused', async (context) => {
  const setting = await open(context, web(), { network: ['127.0.0.1:8080'] });
  for (const host of ['2130706433:8080', '0x7f.1:8080', '127.1:8080', '0177.0.0.1:8080']) {
    assert.match(await get(setting, `http://${host}/`, { host }), /^40[03] /, host);
    assert.match(await tunnel(setting, host, ''), /^HTTP\/1.1 403 /, host);
  }
  assert.deepEqual(setting.dialled, []);
});

test('a denial, a thrown error and no answer all deny', async (context) => {
  for (const changes of [
    { decide: async () => false },
    { decide: () => Promise.reject(new Error('broken')) },
    { decide: () => new Promise<boolean>(() => {}), decideMs: 50 },
  ]) {
    const setting = await open(context, web(), changes);
    assert.match(await get(setting, 'http://good.com/'), /^403 cordon: /);
    assert.deepEqual([setting.dialled, setting.lookedUp], [[], []]);
  }
});

test('who does not decide in time is told that it is too late', async (context) => {
  const late: boolean[] = [];
  const setting = await open(context, web(), {
    decideMs: 50,
    decide: (_, signal) =>
      new Promise(() => signal.addEventListener('abort', () => late.push(signal.aborted))),
  });
  assert.equal(await get(setting, 'http://good.com/'), '403 cordon: nobody decided in time');
  assert.deepEqual(late, [true]);
  assert.deepEqual(setting.refused, ['good.com: nobody decided in time']);
});

test('a name with one private answer is refused as a whole', async (context) => {
  for (const answers of [['169.254.169.254'], ['93.184.215.14', '10.0.0.1'], ['::ffff:8.8.8.8'], []]) {
    const setting = await open(context, web(), { lookup: async () => answers });
    assert.match(await get(setting, 'http://good.com/'), /^403 cordon: the name/);
    assert.deepEqual(setting.dialled, []);
  }
});

test('a name that changes its answer is dialled where it was checked, and refused once it turns private', async (context) => {
  const answers = [['93.184.215.14'], ['127.0.0.1'], ['93.184.215.15']];
  const setting = await open(context, web(), { lookup: async () => answers.shift() ?? [] });
  assert.match(await get(setting, 'http://good.com/'), /^200 /);
  assert.equal(
    await get(setting, 'http://good.com/'),
    '403 cordon: the name leads to an address that is not public',
  );
  assert.match(await get(setting, 'http://good.com/'), /^200 /);
  assert.deepEqual(setting.dialled, ['93.184.215.14:80', '93.184.215.15:80']);
});

test('a name that leads to a listed private address is refused all the same', async (context) => {
  const network = ['good.com:8080', '127.0.0.1:8080'];
  const setting = await open(context, web(), { network, lookup: async () => ['127.0.0.1'] });
  assert.match(await get(setting, 'http://good.com:8080/'), /^403 /);
  assert.match(await get(setting, 'http://127.0.0.1:8080/'), /^200 /);
});

test('credentials for the proxy and hop-by-hop headers go no further', async (context) => {
  const server = createServer((incoming, response) =>
    response.end(Object.keys(incoming.headers).sort().join()),
  );
  const setting = await open(context, server);
  const headers = { 'proxy-authorization': 'x', connection: 'x-secret', 'x-secret': '1', 'x-kept': '1' };
  assert.equal(await get(setting, 'http://good.com/', headers), '200 connection,host,x-kept');
});

test('what was used is told when it is over', async (context) => {
  const setting = await open(context, web());
  await get(setting, 'http://good.com/', {}, 'x'.repeat(1000));
  await get(setting, 'http://evil.net/');
  const [closed, ...more] = setting.closed;
  assert.deepEqual(more, []);
  assert.equal(closed?.cut, null);
  assert.ok((closed?.bytesUp ?? 0) > 1000 && (closed?.bytesUp ?? 0) < 1200);
  assert.ok((closed?.bytesDown ?? 0) > 10);
});

test('a request waits for the decision before its body is asked for', async (context) => {
  const { server, got } = recorder();
  const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const decide = () => {
    asked.resolve();
    return decided.promise;
  };
  const setting = await open(context, server, { decide });
  const head =
    'POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n';
  const talk = converse(setting, [head, 'hi'], ['100 Continue\r\n\r\n', 'ok']);
  await asked.promise;
  assert.equal(got(), '');
  decided.resolve(true);
  assert.match(await talk, /^HTTP\/1.1 100 Continue.*200 OK.*ok$/s);
  assert.match(got(), /\r\n\r\nhi$/);
  assert.doesNotMatch(got(), /expect/i);
});

test('an upgrade is refused, and the same request without it passes', async (context) => {
  const setting = await open(context, web());
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n';
  const to = 'GET http://good.com/ HTTP/1.1\r\nhost: good.com\r\n';
  assert.match(await converse(setting, [`${to}${upgrade}\r\n`]), /^HTTP\/1.1 403 /);
  assert.deepEqual([setting.asked, setting.dialled], [[], []]);
  assert.match(setting.refused.join(), /upgrades \(WebSockets\)/);
  assert.match(await converse(setting, [`${to}\r\n`], ['good.com']), /^HTTP\/1.1 200 /);
});

test('a server that switches protocols unasked is cut', async (context) => {
  const server = createServer().on('connection', (socket) => {
    socket.removeAllListeners('data');
    socket.on('data', () =>
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nraw'),
    );
  });
  const setting = await open(context, server);
  assert.match(await get(setting, 'http://good.com/'), /^502 /);
});

test('a tunnel opens for TLS to the very name', async (context) => {
  const setting = await open(context, echo());
  assert.match(
    await tunnel(setting, 'api.good.com:443', await clientHello('api.good.com')),
    /^HTTP\/1.1 200 .*got 22$/s,
  );
  assert.deepEqual(setting.asked, [
    { host: 'api.good.com', port: 443, site: 'good.com', method: 'CONNECT', path: null, bytes: null },
  ]);
  assert.equal(setting.closed.length, 1);
});

test('a hello in many records and in single bytes is put together', async (context) => {
  const setting = await open(context, echo());
  const hello = await clientHello('good.com');
  const body = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < body.length; at += 7) {
    const part = body.subarray(at, at + 7);
    records.push(Buffer.from([22, 3, 1, 0, part.length]), part);
  }
  assert.match(await tunnel(setting, 'good.com:443', Buffer.concat(records)), /got 22$/);

  const socket = connect(setting.socket);
  let text = '';
  socket.on('data', (data) => {
    text += data.toString('latin1');
  });
  socket.write('CONNECT good.com:443 HTTP/1.1\r\nhost: good.com:443\r\n\r\n');
  for (const byte of hello) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => socket.on('close', resolve));
  assert.match(text, /got 22$/);
});

test('another server name, none, two, or no TLS at all never reaches the upstream', async (context) => {
  const setting = await open(context, echo());
  const hellos = [
    await clientHello('other.good.com'),
    await clientHello(''),
    twoNames(await clientHello('good.com')),
    'GET / HTTP/1.1\r\n\r\n',
    Buffer.from([22, 3, 1, 0, 0]),
  ];
  for (const hello of hellos)
    assert.equal((await tunnel(setting, 'good.com:443', hello)).includes('got'), false);
  assert.deepEqual(setting.dialled, []);
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    [
      'the server name in TLS differs from the host',
      'the ClientHello names no server',
      'the ClientHello is malformed',
      'the tunnel does not begin with TLS',
      'the tunnel does not begin with TLS',
    ],
  );
});

/** The hello with a second server name extension at its end. */
function twoNames(hello: Buffer): Buffer {
  const extension = Buffer.from('0000000d000b000008', 'hex');
  const more = Buffer.concat([extension, Buffer.from('evil.net')]);
  const longer = Buffer.concat([hello, more]);
  longer.writeUInt16BE(longer.readUInt16BE(3) + more.length, 3);
  longer.writeUIntBE(longer.readUIntBE(6, 3) + more.length, 6, 3);
  const session = 5 + 4 + 34;
  const suites = session + 1 + longer.readUInt8(session);
  const compression = suites + 2 + longer.readUInt16BE(suites);
  const extensions = compression + 1 + longer.readUInt8(compression);
  longer.writeUInt16BE(longer.readUInt16BE(extensions) + more.length, extensions);
  return longer;
}

test('TLS to a listed address has no server name, and one with a name is refused', async (context) => {
  const setting = await open(context, echo(), { network: ['10.1.2.3:8443'] });
  assert.match(await tunnel(setting, '10.1.2.3:8443', await clientHello('')), /got 22$/);
  assert.doesNotMatch(await tunnel(setting, '10.1.2.3:8443', await clientHello('good.com')), /got/);
  assert.deepEqual(setting.dialled, ['10.1.2.3:8443']);
});

test('a silent tunnel is closed', async (context) => {
  const setting = await open(context, echo(), { limits: { headersMs: 100 } });
  assert.equal((await tunnel(setting, 'good.com:443', '')).includes('got'), false);
  assert.equal((await tunnel(setting, 'good.com:80', '')).includes('got'), false);
  assert.deepEqual(setting.refused, ['good.com: the tunnel stayed silent']);
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['the tunnel stayed silent'],
  );
});

test('tunnels to other ports and sites are refused', async (context) => {
  const setting = await open(context, echo());
  for (const authority of [
    'good.com:25',
    'good.com:22',
    'evil.net:443',
    '127.0.0.1:443',
    'good.com',
    '[::1]:443',
  ])
    assert.match(await tunnel(setting, authority, ''), /^HTTP\/1.1 40[03] /, authority);
  assert.deepEqual(setting.dialled, []);
});

test('a tunnel whose Host names another destination is refused', async (context) => {
  const setting = await open(context, echo());
  const hello = await clientHello('good.com');
  const asked = (host: string) =>
    converse(setting, [`CONNECT good.com:443 HTTP/1.1\r\nhost: ${host}\r\n\r\n`, hello], [OPENED]);
  assert.match(await asked('evil.net'), /^HTTP\/1.1 403 /);
  assert.match(await asked('good.com:80'), /^HTTP\/1.1 403 /);
  assert.match(await asked('good.com'), /got 22$/);
});

test('plain HTTP in a tunnel to port 80 is decided by request, with method and path', async (context) => {
  const setting = await open(context, web());
  const first = 'GET /a HTTP/1.1\r\nhost: good.com\r\n\r\n';
  const second = 'POST /b HTTP/1.1\r\nhost: good.com:80\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
  const connectTo = 'CONNECT good.com:80 HTTP/1.1\r\nhost: good.com:80\r\n\r\n';
  const answers = await converse(setting, [connectTo, first, second], [OPENED, 'good.com', 'good.com']);
  assert.match(answers, /GET \/a good\.com.*POST \/b good\.com/s);
  assert.deepEqual(
    setting.asked.map(({ method, path }) => `${method} ${path}`),
    ['GET /a', 'POST /b'],
  );
});

test('in a tunnel every request must be for its destination', async (context) => {
  const setting = await open(context, web(), { network: ['good.com:80', 'evil.net:80'] });
  for (const request of [
    'GET / HTTP/1.1\r\nhost: evil.net\r\n\r\n',
    'GET http://evil.net/ HTTP/1.1\r\nhost: evil.net\r\n\r\n',
    'GET http://good.com/ HTTP/1.1\r\nhost: good.com\r\n\r\n',
    'CONNECT evil.net:80 HTTP/1.1\r\nhost: evil.net:80\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nhost: good.com\r\n\r\n',
  ])
    assert.doesNotMatch(await tunnel(setting, 'good.com:80', request), / 200 OK/, request);
  assert.deepEqual([setting.asked, setting.dialled], [[], []]);
});

test('a second request on a connection that is kept is decided by its own host', async (context) => {
  const setting = await open(context, web());
  const first = 'GET http://good.com/a HTTP/1.1\r\nhost: good.com\r\n\r\n';
  const second = 'GET http://evil.net/b HTTP/1.1\r\nhost: evil.net\r\n\r\n';
  const answers = await converse(setting, [first, second], ['GET /a good.com']);
  assert.match(answers, /200 OK.*403 Forbidden.*may not reach/s);
  assert.equal(setting.dialled.length, 1);
});

test('port 80 takes no TLS, and an uncommon port takes both', async (context) => {
  const setting = await open(context, echo(), { network: ['good.com:80', 'good.com:8443'] });
  const hello = await clientHello('good.com');
  assert.doesNotMatch(await tunnel(setting, 'good.com:80', hello), /got/);
  assert.match(await tunnel(setting, 'good.com:8443', hello), /got 22$/);
  await tunnel(setting, 'good.com:8443', 'GET /x HTTP/1.1\r\nhost: good.com:8443\r\n\r\n');
  assert.deepEqual(
    setting.asked.map(({ method, path }) => `${method} ${path}`),
    ['CONNECT null', 'GET /x'],
  );
});

test('the proxy closes with its tunnels', async (context) => {
  const { server } = recorder();
  const setting = await open(context, server);
  const hello = await clientHello('good.com');
  const talk = tunnel(setting, 'good.com:443', hello);
  await until(() => setting.dialled.length > 0);
  await setting.close();
  assert.match(await talk, /^HTTP\/1.1 200 /);
});

test('an answer that is still coming when its query ends is cut, and the next request passes', async (context) => {
  const endless = createServer((incoming, response) =>
    incoming.url === '/endless' ? response.write('first') : response.end('whole'),
  );
  const setting = await open(context, endless);
  const answer = get(setting, 'http://good.com/endless');
  await until(() => setting.dialled.length === 1);
  setting.budget.cutAll('the query is over');
  assert.match(await answer, /cut|the query is over/);
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['the query is over'],
  );
  assert.equal(await get(setting, 'http://good.com/'), '200 whole');
});
