/**
 * The four sets of LangChain's agent benchmark as tasks, in the layout of the paper: typing with one app, typing with an
 * app for each letter, relational data that several apps hold, and e-mails that need no app (the e-mails are our own).
 *
 * Source: langchain-ai/langchain-benchmarks@99cf03a5 (MIT); IsolateGPT, sections VI, VII and appendix A-E.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of scenario files
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { RecordedAnswer, ReplayApp, ReplayTool } from '../runtime/run.ts';
import { callOf, literals, NOT_IN_SET, OWN, objectOf, READ_ONLY, type Task, type TaskTurn } from './task.ts';

/** @param tasks the file `tasks.json` of the set */
export function langchainTasks(tasks: JsonObject, mails: readonly Mail[]): readonly Task[] {
  return [
    ...words(tasks.typewriter_1).map(oneTypewriter),
    ...words(tasks.typewriter_26).map(typewriterOfLetters),
    ...relationalTasks(tasks.relational),
    ...mails.map(extraction),
  ];
}

/** One e-mail and what is to be taken out of it. */
export interface Mail {
  readonly sender: string;
  readonly phone: string | null;
  readonly address: string | null;
  readonly topic: string;
  readonly tone: string;
  readonly actions: readonly string[];
  readonly text: string;
}

/** Reads `e-mails.jsonl`. Throws for what is not in its form: the file is ours. */
export function readMails(text: string): readonly Mail[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const mail: Json = JSON.parse(line);
      if (!isJsonObject(mail)) throw new Error('an e-mail is an object');
      return {
        sender: textAt(mail, 'sender'),
        phone: mail.phone === null ? null : textAt(mail, 'phone'),
        address: mail.address === null ? null : textAt(mail, 'address'),
        topic: textAt(mail, 'topic'),
        tone: textAt(mail, 'tone'),
        actions: listAt(mail, 'actions').map(String),
        text: textAt(mail, 'text'),
      };
    });
}

// Typing.

/** The words to be typed, in the order of the set. */
function words(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : []).map((task: Json) => textAt(task, 'question'));
}

const TYPING = 'Repeat this string with the tools that you have, one letter at a time and in this order';

function oneTypewriter(word: string, index: number): Task {
  const app: ReplayApp = {
    id: 'typewriter',
    manifest: { ...OWN, description: 'Types letters onto a page.' },
    tools: [
      {
        name: 'type_letter',
        description: 'Print the given letter on the paper.',
        inputSchema: objectOf({ letter: { type: 'string', minLength: 1, maxLength: 1 } }),
      },
    ],
    answers: [{ tool: 'type_letter', arguments: null, output: 'OK' }],
    otherwise: NOT_IN_SET,
  };
  const calls = [...word].map((letter) => ({
    app: app.id,
    tool: 'type_letter',
    arguments: { letter },
  }));
  return typing(`typewriter-1/${index}`, 'typewriter, 1 app', [app], word, calls);
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

function typewriterOfLetters(word: string, index: number): Task {
  const apps = LETTERS.map(
    (letter): ReplayApp => ({
      id: `letter-${letter}`,
      manifest: { ...OWN, description: `Types the letter "${letter}" onto the page.` },
      tools: [
        {
          name: letter,
          description: `Run to type the letter "${letter}".`,
          inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        },
      ],
      answers: [{ tool: letter, arguments: null, output: 'OK' }],
      otherwise: NOT_IN_SET,
    }),
  );
  const calls = [...word].map((letter) => ({ app: `letter-${letter}`, tool: letter, arguments: {} }));
  return typing(`typewriter-26/${index}`, 'typewriter, 26 apps', apps, word, calls);
}

function typing(
  key: string,
  set: Task['set'],
  apps: readonly ReplayApp[],
  word: string,
  expected: TaskTurn['expected'],
): Task {
  const query = `${TYPING}: ${word}`;
  const calls = expected.map(({ app, tool, arguments: args }, index) =>
    callOf(index, { app, tool, purpose: `type the letter ${[...word][index]}` }, literals(args ?? {})),
  );
  return {
    key,
    set,
    apps,
    turns: [{ query, expected, order: 'total', says: [word] }],
    scenario: scenarioOf(key, [{ id: 'task', query, calls, answers: [{ text: word }] }]),
  };
}

// Relational data.

/** Which app holds a function of the set: people, places and foods know of each other by numbers only. */
const HOLDERS: readonly (readonly [app: string, description: string, functions: RegExp])[] = [
  ['people', 'Knows the users: name, email, location, favorite color and favorite foods of each.', /user/],
  ['places', 'Knows locations: city, time and weather.', /location/],
  ['foods', 'Knows foods: name, calories and allergens.', /food/],
];

interface Row {
  readonly [key: string]: Json;
}

function relationalTasks(value: Json | undefined): readonly Task[] {
  if (!isJsonObject(value) || !isJsonObject(value.tables)) return [];
  const tables = new Map(
    Object.entries(value.tables).map(([name, rows]) => [
      name,
      Array.isArray(rows) ? rows.filter((row): row is JsonObject => isJsonObject(row)) : [],
    ]),
  );
  const apps = relationalApps(listAt(value, 'functions'), tables);
  return listAt(value, 'questions').map((question, index) =>
    relationalTask(apps, question, SOLUTIONS[index] ?? [], index),
  );
}

function relationalApps(
  functions: readonly Json[],
  tables: ReadonlyMap<string, readonly Row[]>,
): readonly ReplayApp[] {
  const apps = HOLDERS.map(([id, description]) => ({
    id,
    manifest: { ...OWN, description },
    tools: [] as ReplayTool[],
    answers: [] as RecordedAnswer[],
    otherwise: NOT_IN_SET,
  }));
  for (const one of functions) {
    const name = textAt(one, 'name');
    // The food that somebody likes is something about the person.
    const at = /^get_user|^list_user|^find_user|current_user/.test(name)
      ? 0
      : HOLDERS.findIndex(([, , pattern]) => pattern.test(name));
    const app = apps[at];
    if (app === undefined) throw new Error(`no app holds ${name}`);
    app.tools.push({
      name,
      description: textAt(one, 'doc'),
      inputSchema: objectOf(parametersOf(one)),
      outputSchema: objectOf({ result: returnedBy(textAt(one, 'returns')) }),
      annotations: READ_ONLY,
    });
    app.answers.push(...answersOf(name, tables));
  }
  return apps;
}

function parametersOf(one: Json): JsonObject {
  const args = isJsonObject(one) && isJsonObject(one.args) ? one.args : {};
  return Object.fromEntries(
    Object.entries(args).map(([name, type]): [string, Json] => [
      name,
      { type: type === 'int' ? 'integer' : 'string' },
    ]),
  );
}

function returnedBy(type: string): JsonObject {
  const list = /^List\[(\w+)\]$/.exec(type)?.[1];
  if (list !== undefined) return { type: 'array', items: returnedBy(list), maxItems: 50 };
  if (type === 'int') return { type: 'integer' };
  if (type === 'SearchHit') return objectOf({ id: { type: 'integer' }, name: { type: 'string' } });
  return { type: 'string' };
}

/** Of each function that reads one column: table, name of its argument, column. */
const COLUMNS: Readonly<Record<string, readonly [table: string, argument: string, column: string]>> = {
  get_user_name: ['USER_DATA', 'user_id', 'name'],
  get_user_email: ['USER_DATA', 'user_id', 'email'],
  get_user_location: ['USER_DATA', 'user_id', 'location'],
  get_user_favorite_color: ['USER_DATA', 'user_id', 'favorite_color'],
  get_user_favorite_foods: ['USER_DATA', 'user_id', 'favorite_foods'],
  get_weather_at_location: ['LOCATION_DATA', 'location_id', 'current_weather'],
  get_city_for_location: ['LOCATION_DATA', 'location_id', 'city'],
  get_current_time_for_location: ['LOCATION_DATA', 'location_id', 'current_time'],
  get_current_weather_for_location: ['LOCATION_DATA', 'location_id', 'current_weather'],
  get_food_name: ['FOOD_DATA', 'food_id', 'name'],
  get_food_calories: ['FOOD_DATA', 'food_id', 'calories'],
  get_food_allergic_ingredients: ['FOOD_DATA', 'food_id', 'allergic_ingredients'],
};

/** Of each search: table, name of its argument, column; and what the questions search for besides the names. */
const SEARCHES: Readonly<Record<string, readonly [table: string, argument: string, column: string]>> = {
  find_users_by_name: ['USER_DATA', 'name', 'name'],
  find_locations_by_name: ['LOCATION_DATA', 'city', 'city'],
  find_foods_by_name: ['FOOD_DATA', 'food', 'name'],
};
const SEARCHED = ['LA', 'Frank'];

const CURRENT_USER = 35;

function answersOf(name: string, tables: ReadonlyMap<string, readonly Row[]>): readonly RecordedAnswer[] {
  const answer = (args: JsonObject, result: Json) => ({
    tool: name,
    arguments: args,
    output: JSON.stringify({ result }),
    structured: { result },
  });
  const column = COLUMNS[name];
  if (column !== undefined) {
    const [table, argument, key] = column;
    return (tables.get(table) ?? []).map((row) => answer({ [argument]: row.id ?? null }, row[key] ?? null));
  }
  const search = SEARCHES[name];
  if (search !== undefined) {
    const [table, argument, key] = search;
    const rows = tables.get(table) ?? [];
    const names = [...rows.map((row) => String(row[key])), ...SEARCHED];
    const spellings = new Set(names.flatMap((one) => [one, one.toLowerCase()]));
    return [...spellings].map((wanted) => answer({ [argument]: wanted }, ranked(rows, key, wanted)));
  }
  if (name === 'get_current_user_id') return [answer({}, CURRENT_USER)];
  if (name === 'list_user_ids')
    return [
      answer(
        {},
        (tables.get('USER_DATA') ?? []).map((row) => row.id ?? null),
      ),
    ];
  throw new Error(`no answers for ${name}`);
}

/** As the set's own search: all rows, those first that share the most letters. */
function ranked(rows: readonly Row[], key: string, wanted: string): Json {
  const letters = (text: string) => new Set(text.toLowerCase());
  const initials = (text: string) => (text.match(/\b\p{Lu}/gu) ?? []).join('');
  const likeness = (name: string) => {
    if (initials(name) === wanted) return 1;
    const [a, b] = [letters(name), letters(wanted)];
    const shared = [...a].filter((letter) => b.has(letter)).length;
    return shared / (a.size + b.size - shared);
  };
  return rows
    .map((row) => ({ id: row.id ?? null, name: String(row[key]) }))
    .toSorted((a, b) => likeness(b.name) - likeness(a.name));
}

/** A call of a solution. */
type Solved = readonly [tool: string, args: JsonObject];

const found = (call: number): Json => ({ result: `call-${call}`, path: 'result.0.id' });
const result = (call: number): Json => ({ result: `call-${call}`, path: 'result' });

/** How each question is solved, in the steps that the set expects. */
const SOLUTIONS: readonly (readonly Solved[])[] = [
  [['get_city_for_location', { location_id: 1 }]],
  [['get_food_name', { food_id: 6 }]],
  [['find_users_by_name', { name: 'eve' }]],
  [['get_current_user_id', {}]],
  [['find_users_by_name', { name: 'bob' }]],
  [
    ['find_users_by_name', { name: 'alice' }],
    ['get_user_email', { user_id: found(0) }],
  ],
  [
    ['find_users_by_name', { name: 'donna' }],
    ['get_user_favorite_color', { user_id: found(0) }],
  ],
  [
    ['find_locations_by_name', { city: 'LA' }],
    ['get_current_weather_for_location', { location_id: found(0) }],
  ],
  [
    ['find_locations_by_name', { city: 'chicago' }],
    ['get_current_time_for_location', { location_id: found(0) }],
  ],
  [
    ['find_foods_by_name', { food: 'chocolate' }],
    ['get_food_allergic_ingredients', { food_id: found(0) }],
  ],
  [
    ['find_foods_by_name', { food: 'pizza' }],
    ['get_food_calories', { food_id: found(0) }],
  ],
  [
    ['get_current_user_id', {}],
    ['get_user_favorite_color', { user_id: result(0) }],
  ],
  [
    ['find_foods_by_name', { food: 'sushi' }],
    ['get_food_allergic_ingredients', { food_id: found(0) }],
  ],
  [
    ['find_users_by_name', { name: 'Frank' }],
    ['get_food_allergic_ingredients', { food_id: 7 }],
  ],
  [
    ['get_current_user_id', {}],
    ['get_user_favorite_color', { user_id: result(0) }],
    ['get_user_name', { user_id: result(0) }],
  ],
  [
    ['find_users_by_name', { name: 'bob' }],
    ['get_user_location', { user_id: found(0) }],
    ['get_city_for_location', { location_id: result(1) }],
  ],
  [
    ['find_users_by_name', { name: 'donna' }],
    ['get_user_location', { user_id: found(0) }],
    ['get_current_weather_for_location', { location_id: result(1) }],
  ],
  [
    ['find_users_by_name', { name: 'donna' }],
    ['get_user_location', { user_id: found(0) }],
    ['get_current_time_for_location', { location_id: result(1) }],
  ],
  [
    ['find_users_by_name', { name: 'alice' }],
    ['get_user_email', { user_id: found(0) }],
    ['get_user_email', { user_id: 35 }],
  ],
  [
    ['find_users_by_name', { name: 'donna' }],
    ['get_user_location', { user_id: found(0) }],
    ['get_current_time_for_location', { location_id: result(1) }],
    ['get_current_weather_for_location', { location_id: result(1) }],
  ],
  [
    ['find_users_by_name', { name: 'bob' }],
    ['get_user_location', { user_id: found(0) }],
    ['get_city_for_location', { location_id: result(1) }],
    ['get_user_location', { user_id: 1 }],
    ['get_city_for_location', { location_id: result(3) }],
  ],
];

/**
 * How each question is answered from the results. What stands behind a reference the context cannot see: a question
 * whose answer depends on such a text has it read first, where it arrived as a reference (`reading`).
 */
interface Answered {
  readonly answers: readonly JsonObject[];
  /** What must be known of a text: call, name, pattern. */
  readonly reading?: readonly Reading[];
  /** What the answer must say; absent: the set's reference. */
  readonly says?: readonly string[];
}

type Reading = readonly [call: number, name: string, pattern: string];

const said = (text: string): Answered => ({ answers: [{ text }] });
/** Yes if the pattern is in the text of that call: seen by the context itself, or by a reader. */
const yesIf = (...conditions: readonly Reading[]): Answered => ({
  answers: [
    { when: { all: conditions.map((condition, at) => knownBy(condition, at)) }, text: 'Yes.' },
    { text: 'No.' },
  ],
  reading: conditions,
});

function knownBy([call, name, pattern]: Reading, at: number): JsonObject {
  const seen = { matches: { result: `call-${call}`, path: 'result' }, pattern };
  const read = { matches: { result: `read-${at}`, path: name }, pattern: '^true$' };
  // Either: not (neither).
  return { not: { all: [{ not: seen }, { not: read }] } };
}

const RAIN = 'rain';
const AWAKE = ' (0?[7-9]|1[01]):\\d\\d AM| (12|0?[1-9]|10):\\d\\d PM';

const ANSWERS: readonly Answered[] = [
  said('It is ${call-0.result}.'),
  said('It is ${call-0.result}.'),
  said('The id is ${call-0.result.0.id}.'),
  said('The id is ${call-0.result}.'),
  // How many share the name is counted in what the search lists.
  said('1 user has that name.'),
  said('It is ${call-1.result}.'),
  said('It is ${call-1.result}.'),
  said('It is ${call-1.result}.'),
  said('It is ${call-1.result}.'),
  said('They are ${call-1.result}.'),
  said('${call-1.result} calories.'),
  said('It is ${call-1.result}.'),
  said('They are ${call-1.result}.'),
  {
    answers: [
      { when: { matches: { result: 'call-1', path: 'result' }, pattern: 'dairy' }, text: 'No.' },
      { text: 'Yes.' },
    ],
  },
  { ...said('${call-1.result} and ${call-2.result}'), says: ['yellow', 'Charlie'] },
  said('It is ${call-2.result}.'),
  yesIf([2, 'rains', RAIN]),
  yesIf([2, 'awake', AWAKE]),
  said('No.'),
  yesIf([2, 'awake', AWAKE], [3, 'rains', RAIN]),
  said('No.'),
];

function relationalTask(
  apps: readonly ReplayApp[],
  question: Json,
  solution: readonly Solved[],
  index: number,
): Task {
  const key = `relational/${index}`;
  const query = textAt(question, 'question');
  const holder = (tool: string) =>
    apps.find(({ tools }) => tools.some(({ name }) => name === tool))?.id ?? tool;
  const answered = ANSWERS[index] ?? said('');
  const calls = solution.map(([tool, args], at) =>
    callOf(at, { app: holder(tool), tool, purpose: tool.replaceAll('_', ' ') }, args),
  );
  const last = solution.at(-1);
  const reader = last === undefined ? 'people' : holder(last[0]);
  const readings = (answered.reading ?? []).map((reading, at) => readingOf(reading, at, reader));
  const expected = solution.map(([tool, args]) => ({
    app: holder(tool),
    tool,
    arguments: Object.values(args).some(isJsonObject) ? null : args,
  }));
  const steps = listAt(question, 'expected_steps').map(String);
  if (
    steps.toSorted().join() !==
    expected
      .map(({ tool }) => tool)
      .toSorted()
      .join()
  )
    throw new Error(`question ${index} is solved in other steps than its set expects`);
  const order = isJsonObject(question) && question.order_matters === true ? 'total' : 'none';
  return {
    key,
    set: 'relational data',
    apps,
    turns: [{ query, expected, order, says: answered.says ?? [textAt(question, 'reference')] }],
    scenario: scenarioOf(key, [
      { id: 'task', query, calls: [...calls, ...readings], answers: [...answered.answers] },
    ]),
  };
}

/** Made only where the text arrived as a reference. */
function readingOf([call, name, pattern]: Reading, at: number, app: string): JsonObject {
  const text = { result: `call-${call}`, path: 'result' };
  return {
    id: `read-${at}`,
    app,
    tool: 'read',
    purpose: `read whether ${name}`,
    when: { matches: text, pattern: '^\\$\\d+$' },
    arguments: { ref: text, schema: { literal: objectOf({ [name]: { type: 'boolean' } }) } },
    finds: { [name]: pattern },
  };
}

// E-mails.

const EXTRACTING =
  'Extract from this e-mail, as JSON: sender, sender_phone, sender_address, topic, tone and action_items.';

function extraction(mail: Mail, index: number): Task {
  const key = `e-mail/${index}`;
  const query = `${EXTRACTING}\n\n${mail.text}`;
  const shown = { sender: mail.sender, phone: mail.phone, address: mail.address };
  const beliefs = Object.fromEntries(
    Object.entries(shown).flatMap(([name, value]): [string, Json][] =>
      value === null ? [] : [[name, { visible: `(${escaped(value)})` }]],
    ),
  );
  const filled = (name: keyof typeof shown) => (shown[name] === null ? 'null' : `"\${${name}}"`);
  const text =
    `{"sender": ${filled('sender')}, "sender_phone": ${filled('phone')}, "sender_address": ${filled('address')}, ` +
    `"topic": ${JSON.stringify(mail.topic)}, "tone": ${JSON.stringify(mail.tone)}, ` +
    `"action_items": ${JSON.stringify(mail.actions)}}`;
  const says = [mail.sender, mail.phone, mail.address, mail.topic, mail.tone, ...mail.actions];
  return {
    key,
    set: 'e-mail extraction',
    apps: [],
    turns: [
      {
        query,
        expected: [],
        order: 'total',
        says: says.filter((one) => one !== null),
        reference: JSON.stringify({
          sender: mail.sender,
          sender_phone: mail.phone,
          sender_address: mail.address,
          topic: mail.topic,
          tone: mail.tone,
          action_items: mail.actions,
        }),
      },
    ],
    scenario: scenarioOf(key, [{ id: 'task', query, calls: [], beliefs, answers: [{ text }] }]),
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function scenarioOf(key: string, tasks: readonly JsonObject[]): JsonObject {
  return { name: key.replace(/[^A-Za-z0-9]+/g, '-'), description: '', tasks: [...tasks], attacks: [] };
}

function textAt(value: Json, key: string): string {
  const found = isJsonObject(value) ? value[key] : undefined;
  if (typeof found !== 'string') throw new Error(`\`${key}\` is no text`);
  return found;
}

function listAt(value: Json, key: string): readonly Json[] {
  const found = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}
