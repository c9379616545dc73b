/** `cordon audit`: what the journal holds, and whether it is what was written. */

import { readTextFile } from '@cordon/config/reading';
import { type Fault, failed, fault, id, ok, type Result, type SessionId } from '@cordon/core';
import { jsonLine } from '@cordon/print';
import { type Evidence, evidenceOfFacts, evidenceOfSession, GrantComparison } from '@cordon/scan/evidence';
import { type JournalHead, type Store, StoreFailure, type Verification } from '@cordon/trace';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';
import { EventRenderer } from '../../print/render.ts';

/** As commander parses them. */
export interface VerifyOptions {
  /** `ID:EVENTS:HASH` */
  readonly head: readonly string[];
  /** A file with one such line for each. */
  readonly heads?: string;
}

interface KeptHead {
  readonly session: SessionId;
  readonly head: JournalHead;
}

/** 0: everything is what was written. 1: something is not. 2: it could not be looked at. */
export function verifyJournal(
  context: CommandContext,
  names: readonly string[],
  options: VerifyOptions,
): Promise<ExitCode> {
  const kept = keptHeads(options);
  if (!kept.ok) return Promise.resolve(context.reportSetupError({ kind: 'fault', fault: kept.fault }));
  return withStore(context, (store) => {
    const sessions = wantedSessions(context, store, names, kept.value);
    if (sessions === null) return EXIT.failed;
    let broken = 0;
    const grants = new GrantComparison(store);
    for (const session of sessions) {
      const heads = kept.value.filter((one) => one.session === session).map(({ head }) => head);
      const verification = verified(store, session, heads);
      printVerification(context, session, verification);
      const isTrue =
        verification.intact && printEvidence(context, session, evidenceOfSession(store, session, grants));
      if (!isTrue) broken++;
    }
    if (names.length === 0) {
      for (const [of, evidence] of [
        ['facts', evidenceOfFacts(store)],
        ['permissions', grants.rest],
      ] as const)
        if (!printEvidence(context, null, evidence, of)) broken++;
      broken += printLost(context, store, kept.value) + printRights(context, store);
    }
    if (context.wantsJson) context.json({ kind: 'audit.result', sessions: sessions.length, broken });
    else if (sessions.length === 0 && broken === 0) context.output.say('', 'there are no sessions yet');
    return broken === 0 ? EXIT.done : EXIT.refused;
  });
}

/** Whether what stands beside the journal is what it has. `session` null: what belongs to none, and is called `of`. */
function printEvidence(
  context: CommandContext,
  session: SessionId | null,
  { problems, corrected, unchecked }: Evidence,
  of: 'facts' | 'permissions' | SessionId = session ?? 'facts',
): boolean {
  if (context.wantsJson) {
    if (problems.length + corrected + unchecked > 0)
      context.json({ kind: 'audit.evidence', session, of, problems, corrected, unchecked });
    return problems.length === 0;
  }
  for (const { item, reason } of problems)
    context.output.say('  BROKEN  ', `${of}, ${item}: ${reason}`, 'bad');
  if (corrected > 0)
    context.output.say(
      '          ',
      `${of}: ${corrected} remembered texts were corrected by \`cordon memory\``,
    );
  if (unchecked > 0)
    context.output.say(
      '          ',
      of === 'permissions'
        ? `${unchecked} permissions are not in any journal: their session was deleted, or somebody forged them`
        : `${of}: ${unchecked} remembered texts cannot be compared with a journal`,
    );
  return problems.length === 0;
}

/** Sessions that the store should have and does not: it is an older copy, or its newest part was lost. */
function printLost(context: CommandContext, store: Store, kept: readonly KeptHead[]): number {
  const told = new Set(kept.map(({ session }) => session));
  const lost = store.sessions.lost().filter(({ session }) => !told.has(session));
  for (const { session, events } of lost) {
    const reason = `${events ?? 'some'} of its events were acknowledged, and there is no such session`;
    if (context.wantsJson)
      context.json({
        kind: 'audit.session',
        session,
        intact: false,
        breach: 'lost',
        sequence: 0,
        reason,
      });
    else context.output.say('  BROKEN  ', `${session}: ${reason} (lost)`, 'bad');
  }
  return lost.length;
}

const RIGHTS: Readonly<Record<ReturnType<Store['rightsWithoutEffect']>[number]['table'], string>> = {
  grants: 'grants',
  grant_flows: 'recipients of grants',
  pins: 'agreements to apps',
  agreed_files: 'agreements to files',
  prompts: 'questions',
};

/** Rows that give a right, where there is a key. Returns how many kinds have one that someone changed. */
function printRights(context: CommandContext, store: Store): number {
  let broken = 0;
  for (const { table, changed, untagged } of store.rightsWithoutEffect()) {
    if (changed + untagged === 0) continue;
    if (changed > 0) broken++;
    if (context.wantsJson) context.json({ kind: 'audit.rights', of: table, changed, untagged });
    else if (changed > 0)
      context.output.say('  BROKEN  ', `${RIGHTS[table]}: ${changed} changed without the key`, 'bad');
    if (!context.wantsJson && untagged > 0)
      context.output.say(
        '          ',
        `${RIGHTS[table]}: ${untagged} made without the key; they permit nothing`,
      );
  }
  return broken;
}

/** Against each head that was kept of it. */
function verified(store: Store, session: SessionId, heads: readonly JournalHead[]): Verification {
  const [first = null, ...others] = heads;
  let verification = store.journal.verify(session, first);
  for (const head of others) if (verification.intact) verification = store.journal.verify(session, head);
  return verification;
}

const SIGNED = { checked: 'signed', unchecked: 'signed with an unknown key', none: 'not signed' };

function printVerification(context: CommandContext, session: SessionId, result: Verification): void {
  if (context.wantsJson) return context.json({ ...jsonOf(result), kind: 'audit.session', session });
  if (result.intact) {
    const { events } = result.head;
    context.output.say('  intact  ', `${session}: ${events} events, ${SIGNED[result.signed]}`);
    return;
  }
  const where = result.kind === 'unknown' ? '' : ` at event ${result.sequence}`;
  context.output.say('  BROKEN  ', `${session}${where}: ${result.reason} (${result.kind})`, 'bad');
}

/** The kind of the line is another than that of the breach. */
function jsonOf(result: Verification): object {
  if (result.intact) return result;
  const { kind, ...rest } = result;
  return { ...rest, breach: kind };
}

/** One line a session, to be kept where those who can write the journal cannot write. One that cannot be read hides no other. */
export function listHeads(context: CommandContext, names: readonly string[]): Promise<ExitCode> {
  return withStore(context, (store) => {
    const sessions = wantedSessions(context, store, names, []);
    if (sessions === null) return EXIT.failed;
    let unreadable = 0;
    for (const session of sessions) {
      const head = headOf(store, session);
      if (head === null) continue;
      if (head === 'unreadable') {
        unreadable++;
        const words = `the head of ${session} cannot be read: \`cordon audit verify ${session}\` says why`;
        if (context.wantsJson) context.json({ kind: 'audit.head', session, head: null });
        context.notes.say('', words, 'bad');
        continue;
      }
      if (context.wantsJson) context.json({ kind: 'audit.head', session, ...head });
      else context.write(`${session}:${head.events}:${head.hash}\n`);
    }
    return unreadable === 0 ? EXIT.done : EXIT.refused;
  });
}

function headOf(store: Store, session: SessionId): JournalHead | 'unreadable' | null {
  try {
    return store.journal.head(session);
  } catch (error) {
    if (error instanceof StoreFailure && error.fault.kind === 'corrupt') return 'unreadable';
    throw error;
  }
}

const PIECE = 500;

/** Every event of a session, as it stands. */
export function showJournal(
  context: CommandContext,
  name: string,
  { from = 0 }: { readonly from?: number },
): Promise<ExitCode> {
  return withStore(context, (store) => {
    const [session] = wantedSessions(context, store, [name], []) ?? [];
    if (session === undefined) return EXIT.failed;
    const renderer = new EventRenderer(context.output, { isVerbose: true });
    for (let next = from; ; next += PIECE) {
      const events = store.journal.events(session, next, PIECE);
      for (const event of events) {
        if (context.wantsJson) context.write(jsonLine(event));
        else renderer.render(event);
      }
      if (events.length < PIECE) return EXIT.done;
    }
  });
}

/** The user vouches for sessions that were written without the key. */
export function signSessions(context: CommandContext, names: readonly string[]): Promise<ExitCode> {
  return withStore(context, (store) => {
    const sessions = wantedSessions(context, store, names, []);
    if (sessions === null) return EXIT.failed;
    let refused = 0;
    for (const session of sessions) {
      const verification = store.journal.verify(session);
      const isWhole = verification.intact || verification.kind === 'unsigned';
      const isSigned = isWhole && store.journal.sign(session);
      if (!isSigned) refused++;
      if (context.wantsJson) context.json({ kind: 'audit.signed', session, signed: isSigned });
      else if (isSigned) context.output.say('', `${session} is now signed`);
      else context.output.say('', `${session} cannot be signed: ${whyNot(verification)}`, 'bad');
    }
    return refused === 0 ? EXIT.done : EXIT.failed;
  });
}

function whyNot(verification: Verification): string {
  if (!verification.intact && verification.kind !== 'unsigned') return verification.reason;
  return 'the key is missing (CORDON_JOURNAL_KEY), or a process is writing the session';
}

/** All that are named, and those of which a head was kept; none named: all there are. Null: one is unknown, and the reason is reported. */
function wantedSessions(
  context: CommandContext,
  store: Store,
  names: readonly string[],
  kept: readonly KeptHead[],
): readonly SessionId[] | null {
  const unknown = names.find((name) => store.sessions.find(id(name)) === null);
  if (unknown !== undefined) {
    const message = `there is no session \`${unknown.slice(0, 64)}\``;
    context.reportFault({ kind: 'usage', message, help: '`cordon sessions` lists them' });
    return null;
  }
  const all = names.length > 0 ? names : store.sessions.list(Number.MAX_SAFE_INTEGER).map((one) => one.id);
  const heads = names.length > 0 ? [] : kept.map(({ session }) => session);
  return [...new Set([...all, ...heads])].map((name) => id<'session'>(name));
}

function keptHeads({ head, heads }: VerifyOptions): Result<readonly KeptHead[], Fault> {
  const file = heads === undefined ? ok('') : readTextFile(heads);
  if (!file.ok)
    return failed(fault('usage', `\`${heads}\` cannot be used: ${file.fault.message}`, file.fault.help));
  const lines = [...head, ...file.value.split('\n').filter((line) => line.trim() !== '')];
  const kept: KeptHead[] = [];
  for (const line of lines) {
    const [, session = '', events = '', hash = ''] =
      /^([0-9A-Za-z_-]+):(\d{1,15}):([0-9a-f]{64})$/.exec(line.trim()) ?? [];
    if (session === '') {
      const message = `\`${line.slice(0, 120)}\` is not a head of a journal`;
      return failed(fault('usage', message, 'it is a line of `cordon audit heads`: ID:EVENTS:HASH'));
    }
    kept.push({ session: id(session), head: { events: Number(events), hash } });
  }
  return ok(kept);
}
