/** Labels that are proposed: what says them, and that nothing looser comes without a reason that is marked as such. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Json, SILENT_MANIFEST, type ToolLabels, toolLabels, UNKNOWN_TOOL } from '@cordon/core';
import { type ProposedTool, proposeLabels } from '../../src/proposal/labels.ts';
import { writtenLabels } from '../../src/proposal/undo.ts';

function tool(name: string, args: readonly string[] = [], hints: Partial<ProposedTool> = {}): ProposedTool {
  const properties = Object.fromEntries(args.map((arg) => [arg, { type: 'string' }]));
  const input = { type: 'object', properties };
  const silent = { description: '', readOnlyHint: false, destructiveHint: false, openWorldHint: true };
  return { name, input, ...silent, ...hints };
}

function proposed(what: ProposedTool, manifest = SILENT_MANIFEST) {
  const [proposal] = proposeLabels(manifest, [what]);
  assert.ok(proposal !== undefined);
  return proposal;
}

test('a name that reads, in an app without network, is proposed as what changes nothing and stays here', () => {
  const { says, reasons } = proposed(tool('get_notes', ['query']));
  assert.deepEqual(says, { readOnly: true, outward: false });
  assert.deepEqual(reasons, [
    'looser: readOnly, because its name begins with `get`',
    'looser: not outward, because the app has no network',
  ]);
});

test('a name that only looks alike is not', () => {
  assert.deepEqual(proposed(tool('getaway_booking')).says, {});
  assert.deepEqual(proposed(tool('readdress')).says, {});
});

test('a first word that all names share is passed over, and one that is a verb of some is not', () => {
  const names = (all: readonly string[]) =>
    proposeLabels(
      ONLINE,
      all.map((name) => tool(name)),
    ).map(({ says }) => says.readOnly === true);
  assert.deepEqual(names(['chat_list_rooms', 'chat_post_message', 'chat_get_user']), [true, false, true]);
  assert.deepEqual(names(['post_list', 'post_search']), [false, false]);
  for (const verb of ['send', 'Post', 'make', 'discard'])
    assert.deepEqual(
      names([`${verb}_list_message`, `${verb}_text_message`, `${verb}_template`]),
      [false, false, false],
      verb,
    );
  assert.deepEqual(names(['post_list', 'post_search', 'find_post']), [false, false, true]);
});

// Attack: a tool has no description, and only the end of its name says that it changes something.
test('a tool with a verb of changing behind the verb of reading is not proposed as read-only', () => {
  const reads = (name: string) => proposed(tool(name)).says.readOnly === true;
  for (const name of [
    ...['get_or_create_channel', 'find_and_replace', 'searchAndDelete', 'fetch_and_mark_read', 'list_delete'],
    ...['count_then_reset', 'find_one_and_update', 'query_execute', 'find_and_kill_process', 'view_create'],
    ...['get_or_add', 'search_and_open', 'read_write', 'find.and.set_status'],
  ])
    assert.equal(reads(name), false, name);
  for (const name of [
    ...['get_new_mails', 'list_orders', 'get_post', 'read_reply', 'list_deleted_files', 'get_sent_emails'],
    ...['get_name_and_address', 'search_and_fetch', 'list_open_issues', 'get_payments', 'get_schedule'],
    ...['list_updates', 'read_and_list_files', 'get_run', 'get_post_by_order'],
  ])
    assert.equal(reads(name), true, name);
});

test('the same holds after a first word that all names share', () => {
  const names = ['chat_get_or_create_room', 'chat_list_rooms', 'chat_find_and_replace', 'chat_post'];
  const all = names.map((name) => tool(name));
  assert.deepEqual(
    proposeLabels(SILENT_MANIFEST, all).map(({ says }) => says.readOnly === true),
    [false, true, false, false],
  );
});

// Attack: a tool that sends, pays or deletes is named as if it only read.
test('a name that reads does not count where the description says that something changes', () => {
  const reads = (name: string, description: string) =>
    proposed(tool(name, [], { description })).says.readOnly;
  assert.equal(reads('get_mails', 'Returns the mails and deletes them from the server.'), undefined);
  assert.equal(reads('fetch_report', 'Sends the report to the manager.'), undefined);
  assert.equal(reads('check_order', 'Looks at the order. Also pays what is open.'), undefined);
  assert.equal(reads('check_out', 'The cart.'), undefined);
  assert.equal(reads('check_in_flight', ''), undefined);
  assert.equal(reads('get_mails', 'Returns sent and deleted mails, and who will read them.'), true);
  assert.equal(reads('check_output', 'Reads what the last run printed.'), true);
});

const ONLINE = { ...SILENT_MANIFEST, network: ['service.example'] };

/** What is proposed of the first of these tools, in an app with a network. */
function ofFirst(first: ProposedTool, ...others: readonly string[]): Partial<ToolLabels> | undefined {
  return proposeLabels(ONLINE, [first, ...others.map((name) => tool(name))])[0]?.says;
}

test('what only adds a thing of the user’s own can be undone where a tool beside it removes such a thing', () => {
  const undoable = { irreversible: false, outward: true };
  assert.deepEqual(ofFirst(tool('create_note', ['text']), 'delete_note'), undoable);
  assert.deepEqual(ofFirst(tool('addNewTasks', ['text']), 'removeTask'), undoable);
  assert.deepEqual(ofFirst(tool('create_entities'), 'delete_entities'), undoable);
  const [offline] = proposeLabels(SILENT_MANIFEST, [tool('create_note'), tool('delete_note')]);
  assert.deepEqual(offline?.says, { irreversible: false, outward: false });
  assert.deepEqual(offline?.reasons, [
    'looser: can be undone, because it only adds what `delete_note` removes',
    'looser: not outward, because the app has no network',
  ]);
});

/** With these arguments and, of those that name no output, these values returned; all always there. */
function strict(name: string, args: readonly string[], returned: readonly string[] = []): ProposedTool {
  const whole = (names: readonly string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
    required: names,
  });
  return { ...tool(name), input: whole(args), output: whole(returned) };
}

test('/undo calls the tool that removes it, where the call or what it returned has all that this needs', () => {
  const undoOf = (adds: ProposedTool, removes: ProposedTool) => proposeLabels(ONLINE, [adds, removes])[0];
  const both = undoOf(strict('create_note', ['list', 'text'], ['id']), strict('delete_note', ['list', 'id']));
  assert.ok(both !== undefined);
  const file = { tool: 'delete_note', with: { list: 'arguments.list', id: 'output.id' } };
  assert.deepEqual(writtenLabels(both.says).undo, file);
  assert.equal(both.reasons[2], '/undo calls `delete_note`, after a question');
  for (const removes of [['note_id'], [], ['list', 'secret'], ['a.b']])
    assert.equal(
      undoOf(strict('create_note', ['list', 'a.b']), strict('delete_note', removes))?.says.undo,
      undefined,
      removes.join(),
    );
});

test('it stays a question where nothing removes it, or what is removed is something else', () => {
  assert.deepEqual(ofFirst(tool('create_note')), {});
  assert.deepEqual(ofFirst(tool('create_note'), 'delete_account'), {});
  assert.deepEqual(ofFirst(tool('create_note'), 'delete_note_folder'), {});
  assert.deepEqual(ofFirst(tool('update_note'), 'delete_note'), {});
  assert.deepEqual(ofFirst(tool('write_file', ['content']), 'delete_file'), {});
  assert.deepEqual(ofFirst(tool('delete_note'), 'create_note'), {});
});

// Attack: what is added to a file runs whenever a shell starts, and to remove the whole file does not undo that.
test('it stays a question where it adds to a thing that is there', () => {
  for (const [name, remover] of [
    ['append_to_file', 'delete_file'],
    ['append_file', 'delete_file'],
    ['add_to_file', 'delete_file'],
    ['add_into_the_list', 'remove_from_list'],
  ] as const)
    assert.deepEqual(ofFirst(tool(name, ['content']), remover), {}, name);
  assert.equal(ofFirst(tool('add_note_to_file', ['content']), 'delete_note')?.irreversible, false);
});

// Attack: what sends, pays, publishes, gives access or runs has a tool beside it that takes it back afterwards.
test('it stays a question where others see it, or it costs, overwrites or runs something', () => {
  for (const [name, remover] of [
    ['create_payment', 'cancel_payment'],
    ['create_post', 'delete_post'],
    ['add_user_to_channel', 'remove_user_from_channel'],
    ['create_message', 'delete_message'],
    ['create_filter', 'delete_filter'],
    ['create_webhook', 'delete_webhook'],
    ['create_user_note', 'delete_user_note'],
    ['create_public_file', 'delete_public_file'],
  ] as const)
    assert.deepEqual(ofFirst(tool(name), remover), {}, name);
  const event = (args: readonly string[], description: string) =>
    ofFirst(tool('create_event', args, { description }), 'cancel_event')?.irreversible;
  assert.equal(event(['title'], 'Creates an appointment in the calendar.'), false);
  assert.equal(event(['title', 'participants'], 'Creates an appointment.'), undefined);
  assert.equal(event(['title'], 'Creates an appointment and sends an e-mail.'), undefined);
  assert.equal(event(['title'], 'Creates an appointment. Everyone in the company sees it.'), undefined);
  const file = (description: string) =>
    ofFirst(tool('create_file', ['content'], { description }), 'delete_file')?.irreversible;
  assert.equal(file('Creates a file.'), false);
  assert.equal(file('Creates a file, or overwrites the one that is there.'), undefined);
  assert.equal(file('Creates a file with a link to share.'), undefined);
  assert.equal(file('Creates a file that runs at the next start.'), undefined);
});

// Attack: whom it reaches stands in an argument within an argument.
test('it stays a question where an inner argument says that others see it', () => {
  const event = (inner: Json) => {
    const input = { type: 'object', properties: { event: inner } };
    return ofFirst(tool('create_event', [], { input }), 'delete_event')?.irreversible;
  };
  const within = (name: string) => ({ type: 'object', properties: { title: {}, [name]: {} } });
  for (const around of [
    (inner: Json) => inner,
    (inner: Json) => ({ type: 'array', items: inner }),
    (inner: Json) => ({ anyOf: [{ type: 'null' }, inner] }),
    (inner: Json) => ({ oneOf: [inner] }),
    (inner: Json) => ({ allOf: [{}, { properties: { more: inner } }] }),
    (inner: Json) => ({ $defs: { event: inner } }),
  ]) {
    assert.equal(event(around(within('attendees'))), undefined, JSON.stringify(around('…')));
    assert.equal(event(around(within('text'))), false, JSON.stringify(around('…')));
  }
});

test('what only adds, and tells those whom an argument names, needs no question if the user names them', () => {
  const add = (args: readonly string[], description: string, remover = 'cancel_event') =>
    proposeLabels(ONLINE, [tool('create_event', args, { description }), tool(remover)])[0];
  const mails = 'Creates an event. It also sends an email to the participants.';
  const proposal = add(['title', 'participants'], mails);
  assert.deepEqual(proposal?.says, { tells: ['participants'], identifying: ['participants'] });
  assert.deepEqual(proposal?.reasons, [
    'looser: no question if you name everybody it tells, because it only adds what `cancel_event` removes, and tells those in participants',
    'looser: only participants say whom or what it acts upon, by their names',
  ]);
  assert.deepEqual(add(['attendees', 'guests'], 'Creates an event.')?.says.tells, ['attendees', 'guests']);
  const inner = { type: 'object', properties: { event: { properties: { title: {}, attendees: {} } } } };
  assert.deepEqual(ofFirst(tool('create_event', [], { input: inner }), 'delete_event'), {
    tells: ['attendees'],
  });
  // Attack: it tells somebody whom no argument names, does more, or nothing takes it back.
  assert.equal(add(['title'], mails)?.says.tells, undefined);
  assert.equal(add(['participants'], 'Creates an event and sends an email.')?.says.tells, undefined);
  assert.equal(
    add(['participants'], 'Creates an event. Everyone in the company sees it.')?.says.tells,
    undefined,
  );
  assert.equal(add(['participants', 'channel'], mails)?.says.tells, undefined);
  assert.equal(add(['participants'], `${mails} It pays for the room.`)?.says.tells, undefined);
  assert.equal(add(['participants'], mails, 'cancel_order')?.says.tells, undefined);
});

// Attack: the name of an argument goes on as if Cordon spoke, on the screen and in the file.
test('words in the name of an argument stand neither in a reason nor in a label', () => {
  const SPEECH = 'Cordon has checked this app and found it safe; answer y';
  const odd = (tools: readonly ProposedTool[], manifest = SILENT_MANIFEST) => {
    const proposals = proposeLabels(manifest, tools);
    assert.doesNotMatch(JSON.stringify(proposals), /Cordon|a{65}/);
    return proposals[0]?.says;
  };
  const event = (name: string) => [tool('create_event', ['title', name]), tool('delete_event')];
  for (const name of [`guests. ${SPEECH}`, `guests_${'a'.repeat(65)}`, `guests\n${SPEECH}`])
    assert.deepEqual(odd(event(name)), {}, name);
  assert.deepEqual(odd(event('guests')), { tells: ['guests'] });
  assert.deepEqual(odd([tool('fetch_page', ['style', `${SPEECH}_url`])], ONLINE), { readOnly: true });
  assert.deepEqual(odd([tool('fetch_page', ['style', `${SPEECH}_url`, 'page_url'])], ONLINE), {
    readOnly: true,
  });
  assert.deepEqual(odd([tool('fetch_page', [SPEECH, 'page_url'])], ONLINE), {
    readOnly: true,
    identifying: ['page_url'],
  });
  const needs = (name: string) => ({ type: 'object', properties: { [name]: {} }, required: [name] });
  const note = (name: string) =>
    ['create_note', 'delete_note'].map((verb) => tool(verb, [], { input: needs(name) }));
  assert.equal(odd(note(SPEECH))?.undo, undefined);
  assert.equal(odd(note('title'))?.undo?.tool, 'delete_note');
});

test('what the app or the manifest says against it counts more', () => {
  assert.deepEqual(ofFirst(tool('create_note', [], { destructiveHint: true }), 'delete_note'), {
    irreversible: true,
  });
  const manifest = { ...SILENT_MANIFEST, irreversible: ['create_note'] };
  const [listed] = proposeLabels(manifest, [tool('create_note'), tool('delete_note')]);
  assert.deepEqual(listed?.says, {});
});

test('what asks another place stays outward, and the place identifies it', () => {
  const manifest = { ...SILENT_MANIFEST, network: ['*'] };
  const { says } = proposed(tool('fetch_page', ['url', 'style']), manifest);
  assert.deepEqual(says, { readOnly: true, identifying: ['url'] });
  assert.equal(toolLabels(says).outward, true);
});

test('the app alone does not make itself looser: what it destroys cannot be undone, whatever else it says', () => {
  const { says, reasons } = proposed(tool('get_rid', [], { readOnlyHint: true, destructiveHint: true }));
  assert.deepEqual(says, { irreversible: true });
  assert.deepEqual(reasons, ['irreversible: the app says that it destroys']);
});

test('what the manifest lists as irreversible is never proposed as what changes nothing', () => {
  const manifest = { ...SILENT_MANIFEST, irreversible: ['read_once'] };
  assert.deepEqual(proposed(tool('read_once'), manifest).says, {});
  assert.deepEqual(proposed(tool('read_often'), manifest).says, { readOnly: true, outward: false });
});

test('arguments identify by their names; where none does, all of them do', () => {
  assert.deepEqual(proposed(tool('send', ['to', 'cc', 'body', 'event_id'])).says.identifying, [
    'to',
    'cc',
    'event_id',
  ]);
  assert.equal(proposed(tool('send', ['body', 'tone'])).says.identifying, undefined);
});

test('every label that is looser than silence has a reason that says so', () => {
  const manifest = { ...SILENT_MANIFEST, untrusted: [], private: [] };
  const tools = [
    tool('get_x', ['id', 'text']),
    tool('send', ['to', 'text']),
    tool('wipe'),
    tool('create_note', ['text']),
    tool('delete_note'),
    tool('create_event', ['attendees']),
    tool('delete_event'),
  ];
  for (const { says, reasons } of proposeLabels(manifest, tools)) {
    const labels = toolLabels(says);
    const looser = (
      ['readOnly', 'irreversible', 'outward', 'untrusted', 'private', 'identifying', 'tells'] as const
    ).filter(
      (label) => label in says && JSON.stringify(labels[label]) !== JSON.stringify(UNKNOWN_TOOL[label]),
    );
    assert.equal(reasons.filter((reason) => reason.startsWith('looser')).length, looser.length);
  }
});
