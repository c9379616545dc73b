/**
 * A spoke asks for data that it lacks, during its turn. The hub shows the user the known values and an empty field for each other
 * kind, and gives the spoke what the user releases (paper, IV-B5 steps 2 to 4; decision 35).
 *
 * INVARIANT (the same no): the answer has the same bytes whether the hub does not know a value, the user leaves it empty or the
 * user refuses it, so no app finds out what the hub knows.
 */
import {
  type AppId,
  type DataKind,
  type DataRelease,
  failed,
  labelOfData,
  misfitOfData,
  ok,
  type PromptEdit,
  type ReleasedItem,
  type Result,
  USER_LABEL,
} from '@cordon/core';
import { type SpokeRequest, type TurnContext, toolsThatTakeData } from '@cordon/protocol';
import { type Registry, usesOf } from '../apps/registry.ts';
import { dataRequestRequirement, type RequestedField } from '../consent/release-requirements.ts';
import type { Revise } from '../consent/revision.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { UserTexts } from '../context/session-texts.ts';
import { malformed } from '../exchange/refusal.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import { entityName } from '../memory/entity-name.ts';
import type { StoredMemory } from '../memory/stored-memory.ts';
import type { Served } from '../spokes/spoke-link.ts';

export type NeedRequest = Extract<SpokeRequest, { type: 'need' }>;

export interface DataRequestsParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly memory: Pick<StoredMemory, 'facts'>;
  readonly words: Pick<UserTexts, 'hear' | 'hearInPrivate'>;
}

/** The most questions for data, of one context and in one query. Attack: an app asks again and again until the user gives in. */
const MOST_OF_CONTEXT = 3;
const MOST_OF_QUERY = 6;

/** What was asked for in one query. */
interface Asked {
  questions: number;
  readonly ofContext: Map<Context, number>;
  /** By app: the kinds that are being asked for, and those that the user did not release. The hub does not ask for them again. */
  readonly withheld: Map<AppId, Set<DataKind>>;
}

export class DataRequests {
  readonly #parts: DataRequestsParts;
  readonly #asked = new WeakMap<Query, Asked>();

  constructor(parts: DataRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Releases to the context the values of these kinds that the user allows. A question for no tool of the context is malformed.
   * A question beyond the limit, or for kinds that the user did not release before in this query, gets the answer of a no.
   */
  async ask(context: Context, query: Query, start: TurnContext, request: NeedRequest): Promise<Served> {
    const { app } = context;
    const { recorder } = this.#parts;
    if (app === null)
      return malformed(recorder, context, 'a question for data by a context without app', NOBODYS);
    if (!toolsThatTakeData(start).includes(request.for))
      return malformed(recorder, context, 'a question for data that is for no tool of its context', NO_TOOL);
    const kinds = this.#due(context, app, query, request.kinds);
    if (kinds.length === 0) return NOTHING;
    const fields = kinds.map((kind) => this.#field(kind, app, query));
    const items = fields.flatMap(({ known }) => known ?? []);
    const proposal: DataRelease = { effect: 'data-release', context: context.id, to: app, items };
    const carried = await this.#parts.gate.deliver(context, proposal, {
      causes: context.causes,
      label: USER_LABEL,
      requirement: dataRequestRequirement(query.plan, {
        context,
        purpose: request.for,
        uses: this.#usesOf(context, app, request.for),
        fields,
      }),
      revise: reviseForm(proposal, fields),
    });
    if (carried.kind === 'failed') return failed(carried.fault);
    if (carried.kind === 'refused') {
      query.withheld(carried.reasons);
      return NOTHING;
    }
    return this.#released(context, app, query, fields, carried.value.items);
  }

  /** Whether an app still lacks something that it asked the user for in this query. */
  isLacking(query: Query): boolean {
    const apps = this.#asked.get(query)?.withheld.values() ?? [];
    return [...apps].some((kinds) => kinds.size > 0);
  }

  #released(
    context: Context,
    app: AppId,
    query: Query,
    fields: readonly RequestedField[],
    items: readonly ReleasedItem[],
  ): Served {
    const withheld = this.#of(query).withheld.get(app);
    const values: Partial<Record<DataKind, string>> = {};
    for (const { kind, known } of fields) {
      const item = items.find(({ name }) => name === labelOfData(kind));
      if (item === undefined) continue;
      withheld?.delete(kind);
      values[kind] = item.value;
      context.sees(item.label, item.origin);
      if (item.value !== known?.value) this.#hear(query, item.value);
      // What was changed for one app is for that app, and no other fact about the user.
      if (known === null) query.states({ name: item.name, value: item.value, origin: app });
    }
    return ok({ type: 'data', values });
  }

  #hear(query: Query, value: string): void {
    const { words } = this.#parts;
    if (query.isPrivate) words.hearInPrivate(value);
    else words.hear(value);
  }

  /** The kinds about which the hub asks the user now. They count as withheld until the user releases them. */
  #due(context: Context, app: AppId, query: Query, wanted: readonly DataKind[]): readonly DataKind[] {
    const asked = this.#of(query);
    const withheld = asked.withheld.get(app) ?? new Set();
    const kinds = [...new Set(wanted)].filter((kind) => !withheld.has(kind));
    if (kinds.length === 0) {
      this.#parts.recorder.drop(context, 'a question for data that were not released before');
      return [];
    }
    const ofContext = (asked.ofContext.get(context) ?? 0) + 1;
    if (ofContext > MOST_OF_CONTEXT || asked.questions >= MOST_OF_QUERY) {
      this.#parts.recorder.drop(context, 'one question for data too many');
      return [];
    }
    asked.questions += 1;
    asked.ofContext.set(context, ofContext);
    asked.withheld.set(app, new Set([...withheld, ...kinds]));
    return kinds;
  }

  #of(query: Query): Asked {
    const known = this.#asked.get(query);
    if (known !== undefined) return known;
    const asked: Asked = { questions: 0, ofContext: new Map(), withheld: new Map() };
    this.#asked.set(query, asked);
    return asked;
  }

  /** A private query knows no fact. Of several values, the one that the user told this app counts. */
  #field(kind: DataKind, app: AppId, query: Query): RequestedField {
    const facts = query.isPrivate ? [] : this.#parts.memory.facts(query.past);
    const ofKind = facts.filter(({ name }) => entityName(name) === labelOfData(kind));
    const fact = ofKind.find(({ origin }) => origin === app) ?? ofKind[0];
    if (fact === undefined) return { kind, known: null };
    const { value, origin } = fact;
    return { kind, known: { name: labelOfData(kind), value, origin, label: USER_LABEL } };
  }

  /** The names under which the plan may know the own tool; null: it is an offer, which the plan has made. */
  #usesOf(context: Context, app: AppId, tool: string): readonly string[] | null {
    const installed = this.#parts.registry.get(app);
    return context.tools.has(tool) && installed !== undefined
      ? [tool, ...usesOf(installed.manifest, tool)]
      : null;
  }
}

const QUESTION_MARKS = '?？؟';
const CLOSING = '"\'”’»)]*_';

/** Whether the last thing that a text says is a question, whatever marks close it. */
export function endsWithQuestion(text: string): boolean {
  const said = text.trimEnd();
  let at = said.length - 1;
  while (at >= 0 && CLOSING.includes(said.charAt(at))) at--;
  return at >= 0 && QUESTION_MARKS.includes(said.charAt(at));
}

const NOBODYS = 'this context has no app';
const NO_TOOL = '`for` names no tool of yours that takes data';
const NOTHING: Served = ok({ type: 'data', values: {} });

/** The form as the user filled it in. An empty field releases nothing. */
function reviseForm(proposal: DataRelease, fields: readonly RequestedField[]): Revise<DataRelease> {
  return (edits) => {
    const unknown = edits.find(({ name }) => !fields.some(({ kind }) => labelOfData(kind) === name));
    if (unknown !== undefined) return failed('it is for something that was not asked for');
    const items: ReleasedItem[] = [];
    for (const field of fields) {
      const item = filledIn(field, edits);
      if (!item.ok) return item;
      if (item.value !== null) items.push(item.value);
    }
    return ok({ proposal: { ...proposal, items }, label: USER_LABEL });
  };
}

function filledIn(
  { kind, known }: RequestedField,
  edits: readonly PromptEdit[],
): Result<ReleasedItem | null, string> {
  const name = labelOfData(kind);
  const value = edits.find((edit) => edit.name === name)?.value.trim();
  if (value === undefined) return ok(known);
  if (value === '') return ok(null);
  const misfit = misfitOfData(kind, value);
  return misfit === null ? ok({ name, value, origin: null, label: USER_LABEL }) : failed(misfit);
}
