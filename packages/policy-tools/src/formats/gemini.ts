/**
 * Contents of the Gemini API: requests with `systemInstruction`, `tools` and `contents`, responses with
 * `candidates`, and lists of contents. Fields may be written in camel or in snake case, as its libraries do.
 *
 * Recordings are read with it; the hub does not use it.
 */
import type { Json, JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { elementKeys } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys } from '../reading/note-shape.ts';
import { OpenCalls } from '../reading/open-calls.ts';
import { Frames, join, type Reading } from '../reading/reading.ts';
import { emitTools } from '../reading/tool.ts';
import { attachment, dataUrl, loneText, namedCall, Turn, textChunk } from '../reading/turn.ts';

/** Calls need not have an id: an output then answers the oldest open call of its name. */
export class GeminiReader {
  readonly #reading: Reading;
  readonly #open = new OpenCalls();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  preamble(request: JsonObject, path: string): void {
    const key = this.#reading.keyIn(request, ...both('systemInstruction'));
    const system = own(request, key) ?? null;
    if (system !== null) this.#content(system, join(path, key), 'system');
    for (const [tool, at] of this.#reading.objectsAt(request, 'tools', path, 'a tool')) {
      this.#reading.knows(tool, TOOL_KEYS, at, 'a tool');
      const declared = this.#reading.keyIn(tool, ...both('functionDeclarations'));
      emitTools(this.#reading, tool, declared, at, ['parameters', 'parametersJsonSchema']);
    }
  }

  messages(contents: Json, path: string): void {
    if (!isList(contents)) this.#content(contents, path, 'user');
    else this.#reading.each(contents, path, (content, at) => this.#content(content, at, 'user'));
  }

  /** A response: each candidate's content. */
  response(value: Json, path: string): void {
    const response = this.#reading.object(value, path, 'a response');
    this.#reading.answers(response, ['candidates', 'promptFeedback', 'prompt_feedback', 'error'], path);
    for (const [candidate, at] of this.#reading.objectsAt(response, 'candidates', path, 'a candidate')) {
      this.#reading.beside(candidate, CANDIDATE_KEYS, at);
      const content = own(candidate, 'content') ?? null;
      if (content !== null) this.#content(content, join(at, 'content'), 'model');
    }
  }

  #content(value: Json, path: string, usualRole: string): void {
    const reading = this.#reading;
    if (typeof value === 'string') {
      const turn = new Turn(reading, Frames.none(), usualRole, path);
      turn.say(loneText(value, path));
      turn.end();
      return;
    }
    const content = reading.object(value, path, 'a content');
    const role = usualRole === 'system' ? 'system' : reading.roleAt(content, path, usualRole);
    const turn = new Turn(
      reading,
      Frames.of(reading, content, path),
      role === 'model' ? 'assistant' : role,
      path,
    );
    reading.refuse(content, ['content', 'tool_calls'], path, 'a content');
    reading.knows(content, CONTENT_KEYS, path, 'a content');
    const parts = reading.listAt(content, 'parts', path);
    reading.each(parts, join(path, 'parts'), (part, at) => this.#part(turn, part, at));
    turn.end();
  }

  #part(turn: Turn, value: Json, path: string): void {
    const reading = this.#reading;
    if (typeof value === 'string') {
      turn.say(loneText(value, path));
      return;
    }
    const part = reading.object(value, path, 'a part');
    reading.knows(part, PART_KEYS, path, 'a part');
    for (const [key, kind] of DATA)
      if ((own(part, key) ?? null) !== null) this.#datum(turn, part, kind, key, path);
  }

  /** A part holds one of these; if it holds several, none is hidden. */
  #datum(turn: Turn, part: JsonObject, kind: (typeof KINDS)[number], key: string, path: string): void {
    const reading = this.#reading;
    const at = join(path, key);
    if (kind === 'text') {
      const text = reading.nameAt(part, 'text', path);
      turn.say(textChunk(text, path, own(part, 'thought') === true ? 'thinking' : undefined));
      return;
    }
    const inner = reading.object(own(part, key), at, `\`${key}\``);
    const textOf = (field: string) => reading.textAt(inner, reading.keyIn(inner, ...both(field)), at);
    switch (kind) {
      case 'functionCall':
        this.#call(turn, inner, at);
        return;
      case 'functionResponse':
        this.#response(turn, inner, at);
        return;
      case 'inlineData': {
        reading.knows(inner, DATUM_KEYS.data, at, 'a datum');
        const mediaType = textOf('mimeType');
        turn.say(attachment(dataUrl(mediaType, reading.nameAt(inner, 'data', at)), mediaType, path));
        return;
      }
      case 'fileData':
        reading.knows(inner, DATUM_KEYS.file, at, 'a file');
        turn.say(attachment(textOf('fileUri'), textOf('mimeType'), path));
        return;
      case 'executableCode': {
        this.#open.opened(CODE, path);
        const places = { path, namePath: at, argumentsPath: at };
        turn.call({ callId: path, kind: 'server', name: CODE, arguments: inner, ...places });
        return;
      }
      case 'codeExecutionResult': {
        reading.knows(inner, DATUM_KEYS.result, at, 'a result of code');
        const output = reading.textAt(inner, 'output', at);
        turn.output({
          callId: this.#open.answered(CODE),
          path,
          pieces: output === null ? [] : [loneText(output, join(at, 'output'))],
          isError: own(inner, 'outcome') !== 'OUTCOME_OK',
        });
        return;
      }
    }
  }

  #call(turn: Turn, call: JsonObject, path: string): void {
    this.#reading.knows(call, CALL_KEYS, path, 'a call');
    const named = namedCall(this.#reading, call, path, 'args');
    const id = this.#reading.textAt(call, 'id', path);
    if (id === null) this.#open.opened(named.name, path);
    turn.call({ ...named, callId: id ?? path, kind: 'function' });
  }

  #response(turn: Turn, response: JsonObject, path: string): void {
    this.#reading.knows(response, RESPONSE_KEYS, path, 'a response to a call');
    const name = this.#reading.nameAt(response, 'name', path);
    const id = this.#reading.textAt(response, 'id', path);
    const callId = id ?? this.#open.answered(name);
    const content = this.#reading.objectAt(response, 'response', path) ?? {};
    const at = join(path, 'response');
    const [entry, second] = Object.entries(content);
    const isError = Object.hasOwn(content, 'error');
    if (entry === undefined) turn.output({ callId, path, pieces: [], isError });
    else if (second === undefined && WRAPPERS.has(entry[0]) && typeof entry[1] === 'string') {
      turn.output({ callId, path, pieces: [loneText(entry[1], join(at, entry[0]))], isError });
    } else turn.output({ callId, path, object: { content, path: at }, isError });
  }
}

const CANDIDATE_KEYS = knownKeys(['content']);

const CONTENT_KEYS = elementKeys(['role', 'parts']);

/** What the interface itself runs. */
const CODE = 'code_execution';

/** The keys under which a plain text is wrapped, because a response must be an object. */
const WRAPPERS: ReadonlySet<string> = new Set(['output', 'result', 'content', 'error']);

/** A key in camel and in snake case; the same twice if it is one word. */
function both(key: string): readonly [string, string] {
  return [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

const KINDS = [
  ...(['functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'] as const),
  ...(['inlineData', 'fileData', 'text'] as const),
] as const;

/** Each kind under its keys. */
const DATA = new Map(KINDS.flatMap((kind) => both(kind).map((key) => [key, kind] as const)));

/** What is called, given back or said, and what stands beside it and says nothing. */
const PART_KEYS = knownKeys([...DATA.keys()], {
  mark: ['thought'],
  sealed: both('thoughtSignature'),
  notes: ['videoMetadata', 'mediaResolution', 'partMetadata'].flatMap(both),
});

const CALL_KEYS = knownKeys(['id', 'name', 'args']);

const RESPONSE_KEYS = knownKeys(['id', 'name', 'response'], { mark: ['scheduling'] });

/** Of data, files and results of code. */
const DATUM_KEYS: Readonly<Record<'data' | 'file' | 'result', KnownKeys>> = {
  data: knownKeys(['data', ...both('mimeType')], { line: both('displayName') }),
  file: knownKeys([...both('mimeType'), ...both('fileUri')], { line: both('displayName') }),
  result: knownKeys(['outcome', 'output'], { mark: ['id'] }),
};

/** Tools of the provider, which the model gets without a description. */
const TOOL_KEYS = knownKeys(both('functionDeclarations'), {
  notes: [
    ...['googleSearch', 'googleSearchRetrieval', 'codeExecution', 'urlContext', 'computerUse'],
    ...['fileSearch', 'googleMaps', 'retrieval', 'enterpriseWebSearch'],
  ].flatMap(both),
});
