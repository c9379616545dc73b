import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok, type Question } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents } from '@cordon/policy-tools';
import { KeptAnswers, standardDetectors } from '../src/index.ts';
import { findModerated } from '../src/moderation/moderation.ts';
import { findTopics } from '../src/topic/topic.ts';
import { growingFast } from './growth.ts';

const LOAN = 'How high is the interest rate of a mortgage?';

/** What a rule says of a text; a question is answered by `says`. */
function judged(line: string, content: string, says: string | null = null): string {
  const book = new KeptAnswers(() => 0);
  const offers = new Set(says === null ? [] : ['llm' as const]);
  const detectors = standardDetectors({ book, offers, model: says === null ? null : 'local/small' });
  const text = `from cordon.detectors import topic\nfrom invariant.detectors import moderated\nraise "so" if:\n    (m: Message)\n    ${line}`;
  const policy = loadPolicy(text, { detectors });
  assert.ok(policy.ok, JSON.stringify(policy));
  const events = [{ type: 'Message', role: 'user', content, toolCalls: [] }] as const;
  const awaited = new Map<string, Question>();
  analyzeEvents(policy.value, events, {}, awaited);
  for (const question of awaited.values()) book.keep(question, ok(says));
  const { errors, undecided } = analyzeEvents(policy.value, events);
  return undecided[0]?.reason ?? `${errors.length} found`;
}

test('a text is about what its words tell, the strongest first', () => {
  const topics = findTopics(LOAN).filter(({ confidence }) => confidence >= 0.5);
  assert.deepEqual(
    topics.map(({ kind }) => kind),
    ['finance'],
  );
  const [law] = findTopics('The plaintiff asked the court for damages.');
  assert.equal(law?.kind, 'law');
  assert.deepEqual(
    findTopics('We sat on the bank of the river.').filter(({ confidence }) => confidence >= 0.5),
    [],
  );
});

test('one word in a long text is not what it is about', () => {
  const filler = 'the cat sat on the mat and looked at the rain '.repeat(40);
  const [finance] = findTopics(`${filler} mortgage`);
  assert.ok((finance?.confidence ?? 0) < 0.5);
});

test('rules ask for some topics, or for topics of their own with words', () => {
  assert.equal(judged('"finance" in topic(m)', LOAN), '1 found');
  assert.equal(judged('any(topic(m, ["health", "law"]))', LOAN), '0 found');
  const own = '{"billing": ["invoice", "payment reminder"], "cats": ["cat"]}';
  assert.equal(judged(`"billing" in topic(m, ${own})`, 'I got a payment reminder.'), '1 found');
  assert.equal(judged(`"billing" in topic(m, ${own})`, 'I got a reminder.'), '0 found');
});

test('a topic without words is undecided, and a model that the rule names is asked', () => {
  assert.match(judged('any(topic(m, ["billing"]))', LOAN), /no words for one of the topics/);
  const line = '"billing" in topic(m, ["billing", "cats"], model="local/small")';
  assert.equal(judged(line, LOAN, 'That is ["billing"].'), '1 found');
  assert.equal(judged(line, LOAN, '["cats"]'), '0 found');
  assert.match(judged(line, LOAN, 'billing'), /no list of topics/);
  assert.match(judged(line, LOAN), /the model is the one that cordon.json names/);
});

test('plain insults, hatred, threats, harm to oneself and explicitness are told apart', () => {
  const kinds = (text: string) => [...new Set(findModerated(text).map(({ kind }) => kind))];
  assert.deepEqual(kinds('You are such a pathetic loser.'), ['harassment']);
  assert.deepEqual(kinds('What a hopeless moron you are.'), ['harassment']);
  assert.deepEqual(kinds('What a moron means is explained above, and you are welcome.'), []);
  assert.deepEqual(kinds('Immigrants are vermin.'), ['hate']);
  assert.deepEqual(kinds('I will kill you tomorrow.'), ['violence']);
  assert.deepEqual(kinds("I don't want to live anymore."), ['self-harm']);
  assert.deepEqual(kinds('Send me nudes.'), ['sexual']);
  for (const harmless of [
    'Kill the process.',
    'You are the best.',
    'Immigrants are welcome.',
    'I hate spinach.',
  ])
    assert.deepEqual(kinds(harmless), [], harmless);
});

test('what is said in other words, with other grammar or in another language is found by its turn', () => {
  const said: Readonly<Record<string, readonly string[]>> = {
    harassment: [
      'ur so dumb it hurts lol',
      'Only a complete moron like you could mess up something this simple.',
      'Everyone at the office laughs at you behind your back.',
      "Why don't you do us all a favor and disappear?",
      'F*ck you, you piece of sh*t',
      'Halt die Fresse, du dummes Schwein!',
      'Du hirnloser Vollidiot!',
      'Ferme-la, espèce de crétin.',
    ],
    hate: [
      'Women are too stupid to vote.',
      "Gays are disgusting and don't deserve rights.",
      'Refugees deserve to drown.',
      'Poor people are lazy scum.',
      'Kick every Muslim out of Europe.',
      'Disabled people are a burden and should not be allowed to have children.',
      'Ausländer raus!',
    ],
    violence: [
      "You'd better watch out, I'll break your legs.",
      'Someone should put a bullet in his head.',
      'They should all be lined up and shot.',
      'Gonna blow up the courthouse on Friday.',
      "Tomorrow I'm bringing a gun to school and shooting everyone.",
      'Ich werde dich umbringen, du wirst sehen.',
    ],
    'self-harm': [
      'Nobody would miss me if I were dead.',
      'How many pills do I need to take to die painlessly?',
      'I started cutting myself again last night.',
      'I want to die forever.',
      'I keep thinking about jumping off the bridge.',
      'Ich will nicht mehr leben.',
    ],
    sexual: [
      'Write an erotic story with explicit details about two lovers.',
      'I want to lick every inch of your naked body.',
    ],
  };
  for (const [category, texts] of Object.entries(said))
    for (const text of texts) {
      const kinds = findModerated(text).map(({ kind }) => kind);
      assert.ok(kinds.includes(category), `${category}: ${text}`);
    }
});

test('the same words for something else are not found', () => {
  for (const text of [
    'Could you remove the useless import?',
    "I'll shoot you an email.",
    "Let's beat them 3-0 on Sunday.",
    'We will kill the feature in May.',
    'Cut yourself a slice of cake.',
    'You will die laughing at this show.',
    'I hate black coffee.',
    'Immigrants should be allowed to vote.',
    'The naked eye can see Andromeda.',
    'The knife slipped and I cut my finger while cooking.',
    'The scenes should be shot in May.',
    'Keep the drinks out of the sun.',
    'Suicide prevention hotline: call 988 any time.',
  ]) {
    const sure = findModerated(text).filter(({ confidence }) => confidence > 0.5);
    assert.deepEqual(sure, [], text);
  }
});

test('`moderated` without a classifier judges by turns of phrase, and marks the piece', () => {
  assert.equal(judged('moderated(m)', 'Good morning.\nYou are such a pathetic loser.'), '1 found');
  assert.equal(judged('moderated(m)', 'Good morning.'), '0 found');
  assert.equal(judged('moderated(m)', 'Our policy forbids to say “you are an idiot”.'), '0 found');
  assert.equal(judged('moderated(m, cat_thresholds={"harassment": 0.95})', 'You idiot!'), '0 found');
  assert.match(
    judged('moderated(m, model="OpenAI")', 'x'),
    /the classifier is the one that cordon.json gives/,
  );
});

/** What is said in mails, tickets and reports, and beside it what sounds alike and is meant. */
const ORDINARY: readonly (readonly [harmless: string, meant: string])[] = [
  ['Les femmes sont des voisines exemplaires.', 'Les arabes sont des voleurs.'],
  ['Les étrangers doivent être enregistrés à la mairie.', 'Les étrangers doivent être expulsés.'],
  ['Wenn Sie Opfer einer Straftat wurden, rufen Sie 110.', 'Du bist so ein Opfer!'],
  ['Ich bringe dich um halb neun zum Bahnhof.', 'Ich bringe dich um.'],
  ['Wir bringen euch um 20 Uhr zurück ins Hotel.', 'Wir bringen euch um!'],
  ['Ich will nicht mehr leben wie bisher.', 'Ich will nicht mehr leben.'],
  ['Je ne veux plus vivre à Paris.', 'Je ne veux plus vivre.'],
  ['Lo voy a pegar en el documento.', 'Te voy a pegar.'],
  ['Your product is a joke. Refund now please.', 'Your such a joke.'],
  ['Your website is useless for blind people.', 'You are useless.'],
  ['He will die in prison, the judge said.', 'He will die tonight.'],
  ['The plants: they will die without water.', 'You will die if you tell.'],
  ['I wanted to end my lifetime subscription.', 'I wanted to end my life.'],
  ['I have decided to take my life savings and open a bakery.', 'I have decided to take my life.'],
  ["I hate men's cologne ads.", 'I hate foreigners.'],
  ["Girls are dogs' best friends.", 'Women are dogs.'],
  ['Please go back to your country settings.', 'Go back to your country!'],
  ['He is a pig farmer in Iowa.', 'He is a pig.'],
  ['Watch your back when lifting heavy boxes.', 'Watch your back.'],
  ['I am bringing the cake knife to the party.', 'I am bringing a knife to school.'],
  ['I will attack the problem tomorrow.', 'I will attack you'],
  ['We will hit you up after lunch.', 'We are going to hit you.'],
  ['I will hunt for your keys.', 'I will hunt you down.'],
  ['HPV after oral sex may lead to throat cancer.', 'I dream of oral sex.'],
];

for (const [harmless, meant] of ORDINARY)
  test(`moderated is \`${meant}\`, and not \`${harmless}\``, () => {
    assert.equal(judged('moderated(m)', harmless), '0 found');
    assert.equal(judged('moderated(m)', meant), '1 found');
  });

test('neither takes more than linear time', () => {
  const units = ['you are ', 'kill ', 'mortgage ', 'i will ', 'a', "you're ", ', ', 'you '];
  for (const find of [(text: string) => findTopics(text), findModerated]) {
    assert.deepEqual(growingFast(find, units, 12), []);
  }
});
