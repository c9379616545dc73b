/**
 * The traces of unit tests, in short forms that are quick to write: `{"user": "…"}`, `{"call": "send_mail", "arguments":
 * {…}}`, `{"output": "…"}`, and the events of the hub. A message, call or list of tools in full stands for itself.
 *
 * See docs/policy/testing.md.
 */

import { type Located, type ObjectReader, plainJson, quoted } from '@cordon/config/reading';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type Label,
  type PlannedSources,
  plannedSourcesIn,
} from '@cordon/core';
import type { CalledTool, ToolCallEvent, TraceEvent } from '@cordon/policy';
import { type Dialect, MessageStream } from '@cordon/scan/traces';

const TEXT_FORMS = ['system', 'user', 'assistant'] as const;
const HUB_FORMS = ['request', 'response', 'release', 'egress'] as const;
const FULL_FORMS = ['role', 'type', 'tools'] as const;
const FORMS = [...TEXT_FORMS, 'call', 'output', ...HUB_FORMS, ...FULL_FORMS] as const;

type Form = (typeof FORMS)[number];
type HubForm = (typeof HUB_FORMS)[number];

/** The events of a list of steps; the path of each is its position in the list. What is wrong is reported. */
export function readTrace(at: Located, dialect: Dialect): readonly TraceEvent[] {
  const trace = new TraceReader(dialect);
  return at.items('a list of steps, or the name of a file').flatMap((item, index) => trace.step(item, index));
}

interface Call {
  readonly id: string;
  readonly name: string;
  isAnswered: boolean;
}

class TraceReader {
  readonly #stream: MessageStream;
  readonly #calls: Call[] = [];

  constructor(dialect: Dialect) {
    this.#stream = new MessageStream(dialect);
  }

  step(at: Located, index: number): readonly TraceEvent[] {
    const object = at.object();
    if (object === null) return [];
    const found = FORMS.filter((form) => object.get(form) !== null);
    const [form] = found;
    if (form === undefined || (found.length > 1 && !isFull(form))) {
      const message =
        form === undefined ? 'this is no step of a trace' : `a step is one of ${listed(found)}, not both`;
      at.report({ code: 'TST003', message, help: `a step has one of ${listed(FORMS)}` });
      return [];
    }
    if (isFull(form)) return this.#decoded(at, plainJson(at.node));
    const events = isHub(form)
      ? this.#hubEvent(form, object, index)
      : this.#decoded(at, this.#message(form, object));
    const frame = readFrame(object);
    const said = form === 'call' ? readSaidOfCall(object) : {};
    object.finish();
    return events.map((event) => framed(event, frame, said));
  }

  #decoded(at: Located, element: Json): readonly TraceEvent[] {
    const next = this.#stream.next([element]);
    if (next.ok) {
      next.value.happened();
      return next.value.events;
    }
    const { path, message } = next.fault;
    const place = path.replace(/^0\.?/, '');
    at.report({ code: 'TRC002', message: place === '' ? message : `${place}: ${message}` });
    return [];
  }

  /** The message in full. */
  #message(form: Exclude<Form, HubForm>, object: ObjectReader): JsonObject {
    const given: Record<string, Json> = {};
    for (const key of ['context', 'causes', 'metadata']) {
      const at = object.get(key);
      if (at !== null) given[key] = plainJson(at.node);
    }
    const content = readJson(object, form);
    if (form === 'call')
      return { ...given, role: 'assistant', content: null, tool_calls: [this.#call(object)] };
    if (form === 'output') return { ...given, role: 'tool', tool_call_id: this.#answered(object), content };
    const calls = object.read('calls', (at) => this.#callsOf(at));
    const message = { ...given, role: form, content };
    return calls === null ? message : { ...message, tool_calls: calls };
  }

  #callsOf(at: Located): readonly JsonObject[] {
    return at.list('a list of calls', (item) => {
      const object = item.object();
      const call = object === null ? null : this.#call(object);
      object?.finish();
      return call;
    });
  }

  #call(object: ObjectReader): JsonObject {
    const name = object.required('call', 'name the tool')?.string() ?? '';
    const id = object.string('id') ?? `call-${this.#calls.length + 1}`;
    const given = object.get('arguments');
    this.#calls.push({ id, name, isAnswered: false });
    return {
      id,
      type: 'function',
      function: { name, arguments: given === null ? {} : plainJson(given.node) },
    };
  }

  /** The id of the call that an output answers: the one that it names, else the first without an output. */
  #answered(object: ObjectReader): string {
    const of = object.string('of');
    const open = this.#calls.filter(({ isAnswered }) => !isAnswered);
    const named = (calls: readonly Call[]) => calls.find(({ id, name }) => id === of || name === of);
    const call = of === null ? open[0] : (named(open) ?? named(this.#calls));
    if (call === undefined) {
      const message =
        of === null ? 'no call waits for an output here' : `no call ${quoted(of)} stands before this`;
      const help = 'write `{"call": "tool"}` before it, or name one with `"of": "tool"`';
      (object.get('of') ?? object.at).report({ code: 'TST004', message, help });
      return '';
    }
    call.isAnswered = true;
    return call.id;
  }

  #hubEvent(form: HubForm, object: ObjectReader, index: number): readonly TraceEvent[] {
    // Takes its place among the messages, so that the paths behind it are right.
    const place = this.#stream.next([{ role: 'hub', content: null }]);
    if (place.ok) place.value.happened();
    const frame = { path: String(index), ...readLinks(object) };
    switch (form) {
      case 'request':
      case 'response':
        return [
          {
            ...frame,
            type: form === 'request' ? 'AppRequest' : 'AppResponse',
            functionality: object.string(form) ?? '',
            from: object.string('from'),
            to: object.string('to'),
            message: readJson(object, 'message') ?? {},
            callId: null,
          },
        ];
      case 'release':
        return [
          {
            ...frame,
            type: 'DataRelease',
            to: object.string('to'),
            items: object.read('release', readReleased) ?? [],
          },
        ];
      case 'egress': {
        const [, host = '', port = '443'] = ADDRESS.exec(object.string('egress') ?? '') ?? [];
        return [
          {
            ...frame,
            type: 'Egress',
            method: object.string('method') ?? 'CONNECT',
            host,
            port: Number(port),
            resource: object.string('resource'),
            bytes: object.read('bytes', (at) => at.number()),
            holdsOwnOnly: object.boolean('ownOnly') === true,
          },
        ];
      }
    }
  }
}

function readReleased(at: Located) {
  return at.list('a list of what is released', (item) => {
    const object = item.object();
    if (object === null) return null;
    const released = {
      name: object.string('name') ?? '',
      value: object.string('value') ?? '',
      origin: object.string('origin'),
      labels: object.read('labels', readLabels) ?? [],
    };
    object.finish();
    return released;
  });
}

function readLinks(object: ObjectReader): Pick<TraceEvent, 'context' | 'causes' | 'metadata'> {
  const context = object.string('context');
  const causes = object.read('causes', (at) => readTexts(at, 'a list of ids')) ?? [];
  const metadata = readJson(object, 'metadata');
  return {
    ...(context === null ? {} : { context }),
    ...(causes.length === 0 ? {} : { causes }),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}

/** What no chat log says of an event. */
function readFrame(object: ObjectReader): Frame {
  const id = object.get('call') === null ? object.string('id') : null;
  const app = object.string('app');
  const labels = object.read('labels', readLabels);
  return {
    ...(id === null ? {} : { id }),
    ...(app === null ? {} : { app }),
    ...(labels === null ? {} : { label: labelOf(labels) }),
  };
}

/** What only a session of the hub knows of a call. */
function readSaidOfCall(object: ObjectReader): SaidOfCall {
  const identifying = object.read('identifying', (at) => readTexts(at, 'a list of names of arguments'));
  const [isOffPlan, mayLeave] = [object.boolean('offPlan'), object.boolean('mayLeave')];
  const sources = object.read('sources', readSources);
  return {
    ...(isOffPlan === null ? {} : { isOffPlan }),
    ...(sources === null ? {} : { sources }),
    ...(mayLeave === true ? { tool: { ...AT_ITS_WORD, identifying } } : {}),
  };
}

/** As a plan has them: `{"to": [{"kind": "result", "tool": "read_mail", "within": "text"}]}`. */
function readSources(at: Located): PlannedSources {
  const sources = plannedSourcesIn(plainJson(at.node));
  if (sources === null)
    at.report({
      code: 'TST003',
      message: '`sources` are no sources of arguments',
      help: 'name each argument with a list of `{"kind": "user"}`, `{"kind": "asked"}`, or `{"kind": "result", "tool": "…", "within": "field"}` (or `"text"`)',
    });
  return sources ?? {};
}

function readLabels(at: Located): readonly LabelName[] {
  return at.list('a list of labels', (item) =>
    item.word(LABELS, (name) => ({
      code: 'TST003',
      message: `${quoted(name)} is no label`,
      help: `labels: ${listed(LABELS)}`,
    })),
  );
}

function readTexts(at: Located, wanted: string): readonly string[] {
  return at.items(wanted).map((item) => item.string() ?? '');
}

function readJson(object: ObjectReader, key: string): Json | null {
  const at = object.get(key);
  return at === null ? null : plainJson(at.node);
}

const ADDRESS = /^(.+?)(?::(\d{1,5}))?$/s;

const LABELS = ['trusted', 'untrusted', 'public', 'private'] as const;
type LabelName = (typeof LABELS)[number];

interface Frame {
  readonly id?: string;
  readonly app?: string;
  readonly label?: Label;
}

type SaidOfCall = Pick<ToolCallEvent, 'isOffPlan' | 'sources' | 'tool'>;

/** A tool of which its app alone says that what goes in stays here. */
const AT_ITS_WORD: CalledTool = { readOnly: false, outward: false, identifying: null, mayLeave: true };

/** What is not said to be worse is trusted and public. */
function labelOf(labels: readonly LabelName[]): Label {
  return {
    integrity: labels.includes('untrusted') ? 'untrusted' : 'trusted',
    confidentiality: labels.includes('private') ? 'private' : 'public',
  };
}

function framed(event: TraceEvent, frame: Frame, said: SaidOfCall): TraceEvent {
  if (event.type !== 'Message') return { ...event, ...frame };
  const { id: _, ...rest } = frame;
  const shared = { ...rest, ...said };
  return { ...event, ...frame, toolCalls: event.toolCalls.map((call) => ({ ...call, ...shared })) };
}

function isFull(form: Form): boolean {
  return FULL_FORMS.some((full) => full === form);
}

function isHub(form: Form): form is HubForm {
  return HUB_FORMS.some((hub) => hub === form);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
