/**
 * The traces of unit tests, in short forms that are quick to write: `{"user": "…"}`, `{"call": "send_mail", "arguments":
 * {…}}`, `{"output": "…"}`, and the events of the hub. A message, call or list of tools in full stands for itself.
 *
 * Ring 1; see docs/policy/testing.md.
 */

import {
  type ConfigReader,
  type Located,
  type ObjectReader,
  plainJson,
  quoted,
} from '@cordon/config/reading';
import { isJsonObject, type Json, type JsonObject, type Label } from '@cordon/core';
import type { CalledTool, ToolCallEvent, TraceEvent } from '@cordon/policy';
import { type Dialect, MessageStream } from '@cordon/scan/traces';

const TEXT_FORMS = ['system', 'user', 'assistant'] as const;
const HUB_FORMS = ['request', 'response', 'release', 'egress'] as const;
const FULL_FORMS = ['role', 'type', 'tools'] as const;
const FORMS = [...TEXT_FORMS, 'call', 'output', ...HUB_FORMS, ...FULL_FORMS] as const;

type Form = (typeof FORMS)[number];
type HubForm = (typeof HUB_FORMS)[number];

/** The events of a list of steps; the path of each is its position in the list. What is wrong is reported. */
export function readTrace(reader: ConfigReader, at: Located, dialect: Dialect): readonly TraceEvent[] {
  const trace = new TraceReader(reader, dialect);
  return reader
    .items(at, 'a list of steps, or the name of a file')
    .flatMap((item, index) => trace.step(item, index));
}

interface Call {
  readonly id: string;
  readonly name: string;
  isAnswered: boolean;
}

class TraceReader {
  readonly #reader: ConfigReader;
  readonly #stream: MessageStream;
  readonly #calls: Call[] = [];

  constructor(reader: ConfigReader, dialect: Dialect) {
    this.#reader = reader;
    this.#stream = new MessageStream(dialect);
  }

  step(at: Located, index: number): readonly TraceEvent[] {
    const object = this.#reader.object(at);
    if (object === null) return [];
    const found = FORMS.filter((form) => object.get(form) !== null);
    const [form] = found;
    if (form === undefined || (found.length > 1 && !isFull(form))) {
      const message =
        form === undefined ? 'this is no step of a trace' : `a step is one of ${listed(found)}, not both`;
      this.#reader.reportAt(at, { code: 'TST003', message, help: `a step has one of ${listed(FORMS)}` });
      return [];
    }
    if (isFull(form)) return this.#decoded(at, plainJson(at.node));
    const events = isHub(form)
      ? this.#hubEvent(form, object, index)
      : this.#decoded(at, this.#message(form, object));
    const frame = this.#frame(object);
    const said = form === 'call' ? this.#saidOfCall(object) : {};
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
    this.#reader.reportAt(at, { code: 'TRC002', message: place === '' ? message : `${place}: ${message}` });
    return [];
  }

  /** The message in full. */
  #message(form: Exclude<Form, HubForm>, object: ObjectReader): JsonObject {
    const given: Record<string, Json> = {};
    for (const key of ['context', 'causes', 'metadata']) {
      const at = object.get(key);
      if (at !== null) given[key] = plainJson(at.node);
    }
    const at = object.get(form);
    const content = at === null ? null : plainJson(at.node);
    if (form === 'call')
      return { ...given, role: 'assistant', content: null, tool_calls: [this.#call(object)] };
    if (form === 'output') return { ...given, role: 'tool', tool_call_id: this.#answered(object), content };
    const calls = object.get('calls');
    const message = { ...given, role: form, content };
    return calls === null ? message : { ...message, tool_calls: this.#callsOf(calls) };
  }

  #callsOf(at: Located): readonly JsonObject[] {
    return this.#reader.items(at, 'a list of calls').flatMap((item) => {
      const object = this.#reader.object(item);
      if (object === null) return [];
      const call = this.#call(object);
      object.finish();
      return [call];
    });
  }

  #call(object: ObjectReader): JsonObject {
    const nameAt = object.required('call', 'name the tool');
    const name = (nameAt === null ? null : this.#reader.string(nameAt)) ?? '';
    const idAt = object.get('id');
    const id = (idAt === null ? null : this.#reader.string(idAt)) ?? `call-${this.#calls.length + 1}`;
    const argumentsAt = object.get('arguments');
    this.#calls.push({ id, name, isAnswered: false });
    return {
      id,
      type: 'function',
      function: { name, arguments: argumentsAt === null ? {} : plainJson(argumentsAt.node) },
    };
  }

  /** The id of the call that an output answers: the one that it names, else the first without an output. */
  #answered(object: ObjectReader): string {
    const ofAt = object.get('of');
    const of = ofAt === null ? null : this.#reader.string(ofAt);
    const open = this.#calls.filter(({ isAnswered }) => !isAnswered);
    const named = (calls: readonly Call[]) => calls.find(({ id, name }) => id === of || name === of);
    const call = of === null ? open[0] : (named(open) ?? named(this.#calls));
    if (call === undefined) {
      const message =
        of === null ? 'no call waits for an output here' : `no call ${quoted(of)} stands before this`;
      const help = 'write `{"call": "tool"}` before it, or name one with `"of": "tool"`';
      this.#reader.reportAt(ofAt ?? object.at, { code: 'TST004', message, help });
      return '';
    }
    call.isAnswered = true;
    return call.id;
  }

  #hubEvent(form: HubForm, object: ObjectReader, index: number): readonly TraceEvent[] {
    // Takes its place among the messages, so that the paths behind it are right.
    const place = this.#stream.next([{ role: 'hub', content: null }]);
    if (place.ok) place.value.happened();
    const frame = { path: String(index), ...this.#links(object) };
    switch (form) {
      case 'request':
      case 'response':
        return [
          {
            ...frame,
            type: form === 'request' ? 'AppRequest' : 'AppResponse',
            functionality: this.#text(object, form) ?? '',
            from: this.#text(object, 'from'),
            to: this.#text(object, 'to'),
            message: this.#json(object, 'message') ?? {},
            callId: null,
          },
        ];
      case 'release':
        return [
          { ...frame, type: 'DataRelease', to: this.#text(object, 'to'), items: this.#released(object) },
        ];
      case 'egress': {
        const [, host = '', port = '443'] = ADDRESS.exec(this.#text(object, 'egress') ?? '') ?? [];
        return [
          {
            ...frame,
            type: 'Egress',
            method: this.#text(object, 'method') ?? 'CONNECT',
            host,
            port: Number(port),
            resource: this.#text(object, 'resource'),
            bytes: this.#bytes(object),
          },
        ];
      }
    }
  }

  #bytes(object: ObjectReader): number | null {
    const at = object.get('bytes');
    return at === null ? null : this.#reader.number(at);
  }

  #released(object: ObjectReader) {
    const at = object.get('release');
    if (at === null) return [];
    return this.#reader.items(at, 'a list of what is released').flatMap((item) => {
      const one = this.#reader.object(item);
      if (one === null) return [];
      const released = {
        name: this.#text(one, 'name') ?? '',
        value: this.#text(one, 'value') ?? '',
        origin: this.#text(one, 'origin'),
        labels: this.#labels(one) ?? [],
      };
      one.finish();
      return [released];
    });
  }

  #links(object: ObjectReader): Pick<TraceEvent, 'context' | 'causes' | 'metadata'> {
    const context = this.#text(object, 'context');
    const causesAt = object.get('causes');
    const causes = causesAt === null ? [] : this.#texts(causesAt, 'a list of ids');
    const metadata = this.#json(object, 'metadata');
    return {
      ...(context === null ? {} : { context }),
      ...(causes.length === 0 ? {} : { causes }),
      ...(isJsonObject(metadata) ? { metadata } : {}),
    };
  }

  /** What no chat log says of an event. */
  #frame(object: ObjectReader): Frame {
    const id = object.get('call') === null ? this.#text(object, 'id') : null;
    const app = this.#text(object, 'app');
    const labels = this.#labels(object);
    return {
      ...(id === null ? {} : { id }),
      ...(app === null ? {} : { app }),
      ...(labels === null ? {} : { label: labelOf(labels) }),
    };
  }

  /** What only a session of the hub knows of a call. */
  #saidOfCall(object: ObjectReader): SaidOfCall {
    const named = object.get('identifying');
    const identifying = named === null ? null : this.#texts(named, 'a list of names of arguments');
    return {
      ...(this.#flag(object, 'offPlan') ? { isOffPlan: true } : {}),
      ...(this.#flag(object, 'mayLeave') ? { tool: { ...AT_ITS_WORD, identifying } } : {}),
    };
  }

  #flag(object: ObjectReader, key: string): boolean {
    const at = object.get(key);
    return at !== null && this.#reader.boolean(at) === true;
  }

  #labels(object: ObjectReader): readonly LabelName[] | null {
    const at = object.get('labels');
    if (at === null) return null;
    return this.#texts(at, 'a list of labels').flatMap((name, index) => {
      const known = LABELS.find((label) => label === name);
      if (known !== undefined) return [known];
      const item = this.#reader.items(at)[index] ?? at;
      this.#reader.reportAt(item, {
        code: 'TST003',
        message: `${quoted(name)} is no label`,
        help: `labels: ${listed(LABELS)}`,
      });
      return [];
    });
  }

  #texts(at: Located, wanted: string): readonly string[] {
    return this.#reader.items(at, wanted).map((item) => this.#reader.string(item) ?? '');
  }

  #text(object: ObjectReader, key: string): string | null {
    const at = object.get(key);
    return at === null ? null : this.#reader.string(at);
  }

  #json(object: ObjectReader, key: string): Json | null {
    const at = object.get(key);
    return at === null ? null : plainJson(at.node);
  }
}

const ADDRESS = /^(.+?)(?::(\d{1,5}))?$/s;

const LABELS = ['trusted', 'untrusted', 'public', 'private'] as const;
type LabelName = (typeof LABELS)[number];

interface Frame {
  readonly id?: string;
  readonly app?: string;
  readonly label?: Label;
}

type SaidOfCall = Pick<ToolCallEvent, 'isOffPlan' | 'tool'>;

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
