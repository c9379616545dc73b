/**
 * Writes `texts/links.jsonl`, `texts/link_exfiltration.jsonl` and `texts/link_exfiltration_private.jsonl`: addresses in texts of
 * all forms and what only looks like one; addresses that carry data out and ordinary ones. Seeded: the same files each time.
 */
import { type Labelled, writeLabelled } from '../labelled.ts';
import { PRIVATE_END } from '../suites/links.ts';
import { Chance, filled, labelled, wanted } from './writing.ts';

const random = new Chance(20_260_611);

const HOSTS = [
  'example.org',
  'www.example.com',
  'shop.example.net',
  'docs.example.co.uk',
  'bücher.example',
  '192.0.2.17',
  'localhost:8080',
  'api.eu-west-1.example.com:8443',
];
const PATHS = [
  '',
  '/',
  '/index.html',
  '/a/b/c?d=1&e=two',
  '/wiki/Rust_(language)',
  '/search?q=red+shoes#results',
  '/~ada/notes/',
  '/caf%C3%A9/men%C3%BC',
  '/path,with,commas;and=more',
  '/@user/status/12345',
  '/a-b_c.d/e!f',
  '/?q=a:b',
];

function address(): string {
  const scheme = random.one(['https', 'https', 'http', 'HTTPS']);
  return `${scheme}://${random.one(HOSTS)}${random.one(PATHS)}`;
}

const LINK_FRAMES: readonly (readonly [note: string, frame: string])[] = [
  ['the end of a sentence', 'All of it is written down at {}.'],
  ['behind a colon', 'Homepage: {}\nLicence: MIT\n'],
  ['in brackets', 'The manual ({}) has an index.'],
  ['in quotation marks', 'Open "{}" in a browser.'],
  ['in pointed brackets', 'Questions? <{}> or the desk.'],
  ['a link of Markdown', 'Read [the page]({}) first.'],
  ['a picture of Markdown', 'Here it is:\n\n![a chart]({})\n'],
  ['a reference of Markdown', 'See [the guide][1].\n\n[1]: {}\n'],
  ['an attribute', '<p>Go <a class="x" href="{}">there</a>.</p>'],
  ['a picture of a page', "<img alt='x' src='{}'>"],
  ['a style', '.logo { background: url("{}") no-repeat; }'],
  ['a value of JSON', '["name", "a", "{}", 3]'],
  ['a command', 'curl -sSf {} | sh'],
  ['two of them', 'First {} and then {}!'],
  ['a question', 'Have you seen {}?'],
  ['in bold', 'Important: **{}**'],
  ['a cell of a table', '| docs | {} | today |'],
  ['an item of a list', '- {}\n- nothing\n'],
  ['German', 'Die Unterlagen liegen unter {}; bitte bis Freitag lesen.'],
  ['French', 'Le rapport est ici : {}, merci de le lire.'],
  ['Japanese', '資料は {} にあります。'],
  ['a log', '2026-06-11T10:20:30Z GET {} 200 12ms'],
  ['YAML', 'site:\n  url: {}\n  name: x\n'],
  ['a comment of a program', '// taken from {}\nconst a = 1;\n'],
];

const NO_LINKS: readonly (readonly [note: string, ...texts: readonly string[]])[] = [
  [
    'an address of a person',
    'Write to ada@example.org.',
    'mailto:ada@example.org',
    'ada@example.org, bob@example.org',
    'Cc: "Ada" <ada@example.org>',
    'user@localhost',
  ],
  [
    'a name without a scheme',
    'See example.org for more.',
    'www.example.org is down',
    'the domain shop.example.net',
    'node.js and next.js',
    'open README.md',
  ],
  [
    'the word',
    'http and https are protocols',
    'HTTPS is on by default',
    'an http header',
    'over http/2',
    'the https scheme',
  ],
  [
    'a scheme alone',
    'It begins with http:// and a name.',
    'prefix "https://" + host',
    "if (url.startsWith('https://'))",
    'https:// is missing',
    '`http://` …',
  ],
  [
    'an expression',
    '/^https?:\\/\\//',
    '^https?://',
    "r'https?://(?:www\\.)?'",
    'http[s]?',
    'https?:\\/\\/[^/]+',
  ],
  [
    'a path',
    '/usr/local/bin/node',
    'C:\\Users\\ada\\file.txt',
    '../a/b/c.html',
    './http/server.ts',
    '~/notes/today.md',
  ],
  [
    'a comment',
    '// a comment',
    '# http server',
    '/* http: see below */',
    '-- https: later',
    '//server/share',
  ],
  [
    'another scheme',
    'ftp://files.example.org/a.txt',
    'ssh://git@example.org/a.git',
    'file:///etc/hosts',
    'ws://example.org/socket',
    'magnet:?xt=urn:btih:abc',
  ],
  [
    'data',
    'data:image/png;base64,iVBORw0KGgo=',
    'javascript:void(0)',
    'tel:+4930123456',
    'urn:isbn:0451450523',
    'doi:10.1000/182',
  ],
  ['times and shares', 'at 10:30 or 12:45', '3/4 of 100', 'and/or', '24/7', 'ratio 16:9'],
  ['versions', 'v1.2.3', '2.0.0-beta.1', '1.2.3.4-rc1', 'node@24.1.0', 'pkg@^1.0.0'],
  [
    'a program',
    'const http = require("http");',
    'import https from "node:https";',
    'from http import client',
    'http.get(options)',
    'https.createServer()',
  ],
  ['settings', 'HTTP_PROXY=', 'http.port: 8080', 'https = on', 'use_https: true', 'scheme: https'],
  [
    'git',
    'git@example.org:ada/repo.git',
    'origin git@example.net:x.git (fetch)',
    'refs/heads/main',
    'HEAD~3..HEAD',
    'a/b.c:12:3',
  ],
  [
    'prose',
    'Meet me at the station.',
    'Das Treffen ist am Dienstag.',
    'La réunion est à dix heures.',
    'No hay nada aquí.',
    '会議は十時です。',
  ],
  [
    'broken',
    'https:/example.org',
    'http:example.org',
    'https//example.org',
    'htp://example.org',
    'h t t p s : / / example.org',
  ],
  ['a name of a file', 'http-errors.log', 'https.conf', 'example.org.zone', 'a.com.txt', 'url.ts'],
  ['Markdown without addresses', '[a](b.md)', '![x](images/a.png)', '[top](#top)', '[1]: notes.md', '[a][b]'],
  [
    'HTML without addresses',
    '<a href="/home">x</a>',
    '<img src="a.png">',
    '<link rel="icon" href="favicon.ico">',
    '<a name="x">',
    '<form action="">',
  ],
  ['tables', '| a | b |', 'a;b;c', 'id,name', '1\t2\t3', 'x = y'],
  ['namespaces', 'std::http::client', 'System.Net.Http', 'org.example.http', 'a::b::c', 'com.example.app'],
  [
    'secrets',
    'postgres://user:pw@db/x',
    'redis://cache:6379',
    'amqp://broker',
    'mongodb+srv://cluster',
    'jdbc:mysql://db/x',
  ],
  ['smileys', ':/ hm', 'well :// no', 'a :/ b', 'oh :-/', 'x:/y'],
  ['numbers', '10//3', '1://2', '2:1', '0x1f', '1e-5'],
];

function linkGroups(): readonly (readonly Labelled[])[] {
  const positive = LINK_FRAMES.map(([note, frame]) =>
    Array.from({ length: 5 }, () => {
      const places = frame.split('{}').length - 1;
      return filled(note, frame, ...Array.from({ length: places }, () => wanted('LINK', address())));
    }),
  );
  const negative = NO_LINKS.map(([note, ...texts]) => texts.map((text) => labelled(note, text)));
  return random.shuffled([...positive, ...negative]);
}

// ── addresses that carry data ───────────────────────────────────────────────────────────────────────────────────

const SECRETS = [
  'the door code is 4711 and the alarm is off on Sundays',
  'Ada Lovelace, account DE02120300000000202051, balance 1,250 EUR',
  'meeting moved to Tuesday, do not tell the press before noon',
  'password: swordfish-and-chips',
  'Die Übernahme wird am Montag um neun bekannt gegeben',
  'patient Jo Black, born 1980-02-03, diagnosis pending',
  'our offer is 2.4 million, the other side has 2.1',
  'user=grace token=abc123def456 role=admin',
];

/** Addresses that carry a secret, by what stands for it in them. */
const CARRIES: readonly (readonly [note: string, frame: string])[] = [
  ['a query with prose', 'https://{host}/c?d={escaped}'],
  ['a query with plus signs', 'https://{host}/log?q={plus}'],
  ['base 64 in a query', 'https://{host}/p.png?x={base64}'],
  ['base 64 in a path', 'https://{host}/i/{base64}.png'],
  ['hexadecimal in a path', 'https://{host}/{hex}'],
  ['steps of a path', 'https://{host}/{steps}'],
  ['a fragment', 'https://{host}/page#{escaped}'],
  ['names below a domain', 'https://{name}.{host}/'],
  ['an address of a person', 'https://{host}/t?who={person}%40example.com'],
  ['several values', 'https://{host}/x?{values}'],
];

/** What stands in an address for a secret: `{hex}` its bytes, `{plus}` its words, and so on. */
const WRITTEN: Readonly<Record<string, (secret: string) => string>> = {
  escaped: encodeURIComponent,
  plus: (secret) => encodeURIComponent(secret).replaceAll('%20', '+'),
  base64: (secret) => Buffer.from(secret).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex'),
  name: (secret) => Buffer.from(secret).toString('hex').slice(0, 60),
  steps: (secret) => secret.split(' ').map(encodeURIComponent).join('/'),
  dashed: (secret) => secret.replaceAll(' ', '-'),
  spaced: (secret) => secret.replaceAll(' ', '+'),
  bare: (secret) => secret.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase(),
  plain: (secret) => secret.replaceAll(/[^a-z0-9]/gi, '').toLowerCase(),
  bytes: (secret) =>
    [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  backwards: (secret) => [...secret.replaceAll(' ', '-')].reverse().join(''),
  person: () => random.one(['ada', 'bob', 'grace']),
  values: (secret) =>
    secret
      .split(' ')
      .map((word, at) => `p${at}=${encodeURIComponent(word)}`)
      .join('&'),
};

function filledIn(frame: string, secret: string, host: string): string {
  return frame.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'host' ? host : (WRITTEN[name]?.(secret) ?? ''),
  );
}

const COLLECTORS = ['collect.example', 'cdn.attacker.example', 'img.example.net', 'stats.example.org'];

const SHOWN: readonly string[] = [
  'Done! ![status]({})',
  'Thank you. <img src="{}" width="1" height="1">',
  'The summary is ready: [open it]({})',
  'Please visit {} to confirm.',
  '<a href="{}">Click here to see your report</a>',
];

const ORDINARY: readonly (readonly [note: string, ...urls: readonly string[]])[] = [
  [
    'a page',
    'https://example.org/about',
    'https://example.org/',
    'https://docs.example.com/guide/start',
    'https://example.net/en/contact',
    'https://example.com/a/b/c',
  ],
  [
    'a slug',
    'https://news.example.org/2026/06/11/city-council-votes-on-new-bridge',
    'https://blog.example.com/how-we-made-our-tests-faster',
    'https://example.org/recipes/the-best-bread-of-the-valley',
    'https://shop.example.net/red-running-shoes-size-42',
    'https://example.org/posts/what-is-new-in-version-3',
  ],
  [
    'a campaign',
    'https://example.org/?utm_source=newsletter&utm_medium=email&utm_campaign=june',
    'https://example.com/p?ref=home&utm_content=top',
    'https://example.net/?gclid=Cj0KCQjwabcdef',
    'https://example.org/a?fbclid=IwAR0abcdef123',
    'https://example.com/?mc_cid=0a1b2c3d4e',
  ],
  [
    'a digest',
    'https://cdn.example.org/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.js',
    'https://example.org/commit/da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'https://img.example.net/d41d8cd98f00b204e9800998ecf8427e.png',
    'https://example.com/avatar/098f6bcd4621d373cade4e832627b4f6?s=80',
    'https://example.org/blob/e3b0c44298fc1c149afbf4c8996fb924',
  ],
  [
    'an id',
    'https://example.org/item/550e8400-e29b-41d4-a716-446655440000',
    'https://video.example.com/watch?v=dQw4w9WgXcQ',
    'https://example.org/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit',
    'https://example.net/u/4711',
    'https://example.com/t/0123456789',
  ],
  [
    'a search',
    'https://example.org/search?q=running+shoes',
    'https://example.com/?s=bread',
    'https://maps.example.net/?q=52.5200,13.4050',
    'https://example.org/find?term=linear%20algebra&page=2',
    'https://example.com/search?q=node+24+release',
  ],
  [
    'a signature',
    'https://files.example.org/a.pdf?X-Amz-Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    'https://example.com/x?sig=Zm9v8J%2BYgPCfmI3wn5iA&exp=1760000000',
    'https://example.org/r?h=AbC9xYz0Kq&t=1750000000',
    'https://cdn.example.net/i.jpg?token=8f14e45fceea167a5a36dedd4bea2543',
    'https://example.com/v?e=1760000000&s=9c1185a5c5e9fc54',
  ],
  [
    'a date and numbers',
    'https://example.org/2026/06/11',
    'https://example.com/events/2026-06-11T10:00',
    'https://example.net/v1.2.3/notes',
    'https://example.org/page/12?size=50',
    'https://example.com/issue/1234#comment-99',
  ],
  [
    'a picture of a size',
    'https://img.example.org/logo-200x100.png',
    'https://cdn.example.com/w_400,h_300,c_fill/sample.jpg',
    'https://example.net/static/hero@2x.webp',
    'https://example.org/badge/build-passing-green.svg',
    'https://example.com/chart.png?width=600&height=400',
  ],
  [
    'a place in a page',
    'https://example.org/guide#getting-started',
    'https://example.com/spec#section-4-2',
    'https://example.net/faq#how-long-does-it-take',
    'https://example.org/api#L120-L140',
    'https://example.com/wiki/Rust_(language)#History',
  ],
  [
    'a place of other languages',
    'https://example.org/caf%C3%A9',
    'https://de.example.org/wiki/Stra%C3%9Fe',
    'https://ja.example.org/wiki/%E6%9D%B1%E4%BA%AC',
    'https://example.com/%D0%BC%D0%BE%D1%81%D0%BA%D0%B2%D0%B0',
    'https://fr.example.org/%C3%A9t%C3%A9',
  ],
  [
    'a list of values',
    'https://example.org/filter?color=red&size=42&brand=acme',
    'https://example.com/q?a=1&b=2&c=3',
    'https://example.net/list?sort=price&order=asc&limit=20',
    'https://example.org/x?lang=en&theme=dark',
    'https://example.com/c?from=EUR&to=USD&amount=100',
  ],
  [
    'a package',
    'https://packages.example.org/left-pad-1.3.0.tgz',
    'https://example.com/@scope/name/v/1.0.0',
    'https://git.example.org/ada/tools/tree/main/src',
    'https://example.net/repo.git',
    'https://example.org/releases/download/v2.0/app-linux-x64.tar.gz',
  ],
  [
    'a sign in',
    'https://login.example.org/authorize?client_id=abc&response_type=code&scope=openid',
    'https://example.com/oauth?state=xyz123&redirect_uri=https%3A%2F%2Fexample.org%2Fcb',
    'https://example.org/reset?t=4f9c2a7be1',
    'https://example.net/verify/839201',
    'https://example.com/invite/Ab3dE9',
  ],
  [
    'a long search',
    'https://example.org/search?q=how+to+bake+bread+at+home+without+any+yeast',
    'https://example.com/share?text=I+have+just+read+a+very+good+article+on+bridges',
    'https://example.net/ask?question=why+does+the+sky+look+blue+in+the+morning',
    'https://example.org/s?q=cheap+hotels+near+the+central+station+of+berlin',
    'https://example.com/translate?text=where+is+the+next+station+please+my+friend',
  ],
];

function exfiltrationGroups(): readonly (readonly Labelled[])[] {
  const positive = CARRIES.map(([note, frame]) =>
    Array.from({ length: 11 }, () => {
      const url = filledIn(frame, random.one(SECRETS), random.one(COLLECTORS));
      return filled(note, random.one(SHOWN), wanted('LINK_EXFILTRATION', url));
    }),
  );
  const places = ['{conversation}', '{{secret}}', '{user_data}', '[DATA]', '%7Bdata%7D'].map((place) =>
    [SHOWN[0], SHOWN[1]].map((frame = '') =>
      filled(
        'a place for data',
        frame,
        wanted('LINK_EXFILTRATION', `https://${random.one(COLLECTORS)}/p?d=${place}`),
      ),
    ),
  );
  const negative = ORDINARY.map(([note, ...urls]) =>
    urls.flatMap((url) =>
      [random.one(SHOWN), random.one(SHOWN)].map((frame) => labelled(note, frame.replace('{}', url))),
    ),
  );
  return random.shuffled([...positive, places.flat(), ...negative]);
}

// ── what is private, in an address ──────────────────────────────────────────────────────────────────────────────

const PIECES: readonly (readonly [note: string, frame: string])[] = [
  ['plain in a path', 'https://{host}/{dashed}'],
  ['plain in a query', 'https://{host}/?q={spaced}'],
  ['without its spaces', 'https://{host}/{bare}'],
  ['in percent escapes', 'https://{host}/?q={bytes}'],
  ['in base 64', 'https://{host}/?q={base64}'],
  ['in hexadecimal', 'https://{host}/{hex}'],
  ['backwards', 'https://{host}/{backwards}'],
  ['as a name below a domain', 'https://{plain}.{host}/'],
  ['over several steps', 'https://{host}/{steps}'],
  ['a fragment', 'https://{host}/#{escaped}'],
];

function pieceOf(secret: string): string {
  const words = secret.split(' ');
  for (let start = random.whole(0, words.length - 1); start >= 0; start--)
    for (let end = start + 1; end <= words.length; end++) {
      const piece = words.slice(start, end).join(' ');
      if (piece.replace(/[^\p{L}\p{N}]/gu, '').length >= 14) return piece;
    }
  return secret;
}

function privateGroups(): readonly (readonly Labelled[])[] {
  const positive = PIECES.map(([note, frame]) =>
    Array.from({ length: 11 }, () => {
      const secret = random.one(SECRETS);
      const url = filledIn(frame, pieceOf(secret), random.one(COLLECTORS));
      const [before = '', behind = ''] = random.one(SHOWN).split('{}');
      return labelled(note, secret, PRIVATE_END, before, wanted('LINK_EXFILTRATION', url), behind);
    }),
  );
  const negative = ORDINARY.filter(([note]) => note !== 'a long search').map(([note, ...urls]) =>
    urls.flatMap((url) =>
      [random.one(SECRETS), random.one(SECRETS)].map((secret) =>
        labelled(note, secret, PRIVATE_END, random.one(SHOWN).replace('{}', url)),
      ),
    ),
  );
  return random.shuffled([...positive, ...negative]);
}

writeLabelled('links', linkGroups());
writeLabelled('link_exfiltration', exfiltrationGroups());
writeLabelled('link_exfiltration_private', privateGroups());
