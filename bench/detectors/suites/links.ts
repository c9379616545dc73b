/** `links`, and what others find; `link_exfiltration`, for which no package was found that does the same. */
import { findLinkExfiltration, linksIn, privateTexts } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { packagePeer } from '../peers.ts';
import type { Peer, Suite } from '../suite.ts';

/** In a labelled text, what stands before it is private. */
export const PRIVATE_END = '\n=== private above, answer below ===\n';

const IS_HTTP = /^https?:/i;

function link(start: number, end: number): Label {
  return { kind: 'LINK', start, end };
}

interface LinkifyIt {
  LinkifyIt: new () => {
    match(text: string):
      | readonly {
          readonly index: number;
          readonly lastIndex: number;
          readonly url: string;
          readonly schema: string;
        }[]
      | null;
  };
}
interface Linkify {
  find(
    text: string,
    kind: string,
  ): readonly { readonly start: number; readonly end: number; readonly value: string }[];
}

/** `get-urls` and `extract-urls` give back addresses that they have changed, which cannot be looked up in the text. */
const LINK_PEERS: readonly Peer[] = [
  // Names without a scheme are links for some; what is asked here are addresses with one.
  packagePeer<LinkifyIt>('`linkify-it` 6.1.0', 'linkify-it', null, (module) => {
    const linkify = new module.LinkifyIt();
    return (text) =>
      (linkify.match(text) ?? [])
        .filter(({ schema }) => IS_HTTP.test(schema))
        .map(({ index, lastIndex }) => link(index, lastIndex));
  }),
  packagePeer<Linkify>(
    '`linkifyjs` 4.4.0',
    'linkifyjs',
    null,
    ({ find }) =>
      (text) =>
        find(text, 'url')
          .filter(({ value }) => IS_HTTP.test(value))
          .map(({ start, end }) => link(start, end)),
  ),
];

export const LINK_SUITES: readonly Suite[] = [
  {
    detector: 'links',
    judged: 'ranges',
    rows: [{ name: 'http and https', kinds: ['LINK'], aim: null }],
    find: (text) =>
      linksIn(text)
        .filter(({ url }) => IS_HTTP.test(url))
        .map(({ start, end }) => link(start, end)),
    peers: LINK_PEERS,
    speedAim: 50,
  },
  {
    detector: 'link_exfiltration',
    judged: 'ranges',
    rows: [{ name: 'by the form of the address', kinds: null, aim: null }],
    find: (text) => findLinkExfiltration(text, null),
    peers: [],
    speedAim: null,
  },
  {
    detector: 'link_exfiltration_private',
    judged: 'ranges',
    rows: [{ name: 'private text is known', kinds: null, aim: null }],
    find: findPrivate,
    peers: [],
    speedAim: null,
  },
];

/** What stands before the mark is private, what stands behind it is looked at. */
function findPrivate(text: string): readonly Label[] {
  const at = text.indexOf(PRIVATE_END);
  const shift = at < 0 ? 0 : at + PRIVATE_END.length;
  const known = privateTexts(at < 0 ? [] : [text.slice(0, at)]);
  return findLinkExfiltration(text.slice(shift), known).map(({ kind, start, end }) => ({
    kind,
    start: start + shift,
    end: end + shift,
  }));
}
