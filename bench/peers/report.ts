/** What the records of all peers say, as tables: what was measured, who has to know what, and what cannot be compared. */
import type { JsonObject } from '@cordon/core';
import { countAt, lines, NONE, objectAt, percent, table } from '../evaluation/report-parts.ts';
import type { Section, SuiteReport } from '../evaluation/suite.ts';
import { IDEA_TEXTS, IDEAS, PAPER_RULES, type Peer, type PeerRule, type Saying } from './peer.ts';
import { sandboxTable } from './sandboxes.ts';

type Records = ReadonlyMap<string, JsonObject>;

export function peersReport(peers: readonly Peer[], records: Records): SuiteReport {
  return {
    result: {
      paper: resultOf(records, 'paper/'),
      recorded: resultOf(records, 'recorded/'),
      cost: resultOf(records, 'cost/'),
      sandbox: resultOf(records, 'sandbox/'),
    },
    aims: [],
    sections: [
      paperTable(peers, records),
      recordedTable(peers, records),
      missingTable(peers),
      ...costSections(peers, records),
      sandboxTable(records),
      LIMITS,
    ],
  };
}

function resultOf(records: Records, prefix: string): JsonObject {
  const own = [...records].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, record]) => [key.slice(prefix.length), record]));
}

// ── the paper's rules ───────────────────────────────────────────────────────────────────────────────────────────

function paperTable(peers: readonly Peer[], records: Records): Section {
  return table(
    "Policy peers: the paper's four rules",
    `| ${PAPER_RULES.map((rule) => `\`${rule}\``).join(' | ')}`,
    peers.map((peer) => [
      peer.name,
      ...PAPER_RULES.map((rule) => paperCell(peer, rule, objectAt(records.get(`paper/${peer.id}`), rule))),
    ]),
    'Each rule has traces that it must stop and others, very like them, that it must let pass: stopped, let through, and who has to know what. “The program keeps” means that the engine sees one call, and that the program around it has to collect the fact from the history.',
  );
}

function paperCell(peer: Peer, rule: PeerRule, counts: JsonObject | null): string {
  const says = peer.says[rule];
  if (says.kind === 'none') return NONE;
  if (counts === null) return 'not measured';
  const passed = countAt(counts, 'twins') - countAt(counts, 'disturbed');
  const figures = `${countAt(counts, 'stopped')}/${countAt(counts, 'attacks')} stopped, ${passed}/${countAt(counts, 'twins')} let through`;
  return says.kind === 'policy' ? figures : `${figures}; the program keeps ${says.keeps}`;
}

// ── recorded attacks ────────────────────────────────────────────────────────────────────────────────────────────

function recordedTable(peers: readonly Peer[], records: Records): Section {
  const rows = IDEAS.flatMap((idea) =>
    peers
      .filter((peer) => peer.says[idea].kind !== 'none')
      .map((peer): readonly string[] => {
        const counts = records.get(`recorded/${idea}/${peer.id}`);
        const shares =
          counts === undefined
            ? ['not measured', 'not measured']
            : [share(counts, 'caught', 'attacks'), share(counts, 'disturbed', 'good')];
        return [IDEA_TEXTS[idea], peer.name, ...shares, placeOf(peer.says[idea])];
      }),
  );
  return table(
    'Policy peers: recorded attacks',
    'rule | by | caught | disturbed | who knows',
    rows,
    'Caught: the rule denies a call or asks about it, at the last call of the attack or before. Disturbed: the rule does so at any call of a good run. All get the same labels of tools. Each rule is a single idea of the packs; the results of `protection` are those of the default set.',
  );
}

function missingTable(peers: readonly Peer[]): Section {
  const rows = peers.flatMap(({ name, says }) => {
    const missing = Map.groupBy([...PAPER_RULES, ...IDEAS], (rule) => {
      const saying = says[rule];
      return saying.kind === 'none' ? saying.missing : '';
    });
    return [...missing]
      .filter(([reason]) => reason !== '')
      .map(([reason, rules]) => [name, rules.map((rule) => `\`${rule}\``).join(', '), reason]);
  });
  return table('Policy peers: what cannot be said', 'by | rules | what is missing', rows);
}

function placeOf(says: Saying): string {
  switch (says.kind) {
    case 'policy':
      return 'the policy';
    case 'host':
      return `the program keeps ${says.keeps}`;
    case 'none':
      return NONE;
    default:
      return says satisfies never;
  }
}

function share(counts: JsonObject, part: string, whole: string): string {
  const [count, of] = [countAt(counts, part), countAt(counts, whole)];
  return of === 0 ? NONE : `${percent({ count, of })} (${count}/${of})`;
}

// ── cost ────────────────────────────────────────────────────────────────────────────────────────────────────────

function costSections(peers: readonly Peer[], records: Records): readonly Section[] {
  const measured = peers.flatMap((peer) =>
    [...records]
      .filter(
        ([key, costs]) =>
          key.startsWith('cost/') && key.endsWith(`/${peer.id}`) && Object.keys(costs).length > 0,
      )
      .map(([key, costs]) => ({ peer, rule: key.split('/')[1] ?? '', costs })),
  );
  if (measured.length === 0) return [];
  const lengths = Object.keys(measured[0]?.costs ?? {});
  const medianOf = (costs: JsonObject, length: string) => countAt(objectAt(costs, length), 'median');
  return [
    table(
      'Policy peers: one decision, in microseconds, after so many events',
      `by | rule | ${lengths.map((length) => Number(length).toLocaleString('en')).join(' | ')}`,
      measured.map(({ peer, rule, costs }) => [
        peer.name,
        `\`${rule}\``,
        ...lengths.map((length) => medianOf(costs, length).toPrecision(3)),
      ]),
      'Median of five rounds. What the program around an engine keeps for it is kept as events come, outside of this time; handing it over is inside.',
    ),
    lines(
      'One decision against the length of the session',
      'logarithmic',
      ['events before it', 'microseconds'],
      measured.map(({ peer, rule, costs }) => ({
        name: `${peer.name}, ${rule}`,
        points: lengths.map((length) => [Number(length), medianOf(costs, length)] as const),
      })),
    ),
  ];
}

const LIMITS: Section = {
  kind: 'text',
  title: 'What can be compared, and what cannot',
  text: [
    'Compared are rules: the same idea, in the words of each, on the same traces with the same labels. Where all can say a rule, all come to nearly the same verdicts; what differs is who has to know.',
    'The history is the difference. Rego gets all messages with every call and can say anything about them, and reads them again for each call. Cedar and the governance toolkit see one call, so the program around them has to keep each fact that a rule will ask for, before anybody writes the rule; conditions of the toolkit compare one value with a literal. Guards see one text.',
    'Missing in all of them: where an argument came from (whole field, sentence, encoding, who wrote it), flow between contexts, detectors that rules can ask (but for those in the table), a question that a decision is remembered for, explanation by events, and isolation, which is the other half of Cordon and stands in its own tables.',
    'Not compared: guards that ask a model, because none is at hand; roles, identities and many users, which these engines are made for and Cordon does not do; how long their policies take to write.',
    'Rego is compiled to WebAssembly where the program `opa` is at hand. In no package of the registry it is, so its verdicts here may come from the OPA inside of another package, in batches; then no time is told for it.',
  ].join('\n\n'),
};
