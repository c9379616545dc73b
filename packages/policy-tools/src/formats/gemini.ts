/**
 * Contents of the Gemini API: requests with `systemInstruction`, `tools` and `contents`, responses with
 * `candidates`, and lists of contents. Fields may be written in camel or in snake case, as its libraries do.
 *
 * Ring 1: recordings are read with it; the hub does not use it.
 */
import type { Json, JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { elementKeys } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys } from '../reading/note-shape.ts';
import { OpenCalls } from '../reading/open-calls.ts';
import { Frames, join, type Reading } from '../reading/reading.ts';
import { emitTool } from '../reading/tool.ts';
import { attachment, dataUrl, loneText, namedCall, Turn, textChunk } from '../reading/turn.ts';

/** Calls need not have an id: an output then answers the oldest open call of its name. */
export class GeminiReader {
  readonly #reading: Reading;
  readonly #open = new OpenCalls();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  preamble(request: JsonObject, path: string): void {
    const key = this.#reading.keyIn(request, 'systemInstruction', 'system_instruction');
    const system = own(request, key) ?? null;
    if (system !== null) this.#content(system, join(path, key), 'system');
    for (const [index, value] of this.#reading.listAt(request, 'tools', path).entries()) {
      this.#tool(value, join(path, 'tools', index));
    }
  }

  messages(contents: Json, path: string): void {
    if (!isList(contents)) this.#content(contents, path, 'user');
    else {
      for (const [index, content] of contents.entries()) {
        if (this.#reading.fault !== null) return;
        this.#content(content, join(path, index), 'user');
      }
    }
  }

  /** A response: each candidate's content. */
  response(value: Json, path: string): void {
    const response = this.#reading.object(value, path, 'a response');
    this.#reading.answers(response, ['candidates', 'promptFeedback', 'prompt_feedback', 'error'], path);
    for (const [index, value] of this.#reading.listAt(response, 'candidates', path).entries()) {
      const at = join(path, 'candidates', index);
      const candidate = this.#reading.object(value, at, 'a candidate');
      this.#reading.beside(candidate, CANDIDATE_KEYS, at);
      const content = own(candidate, 'content') ?? null;
      if (content !== null) this.#content(content, join(at, 'content'), 'model');
    }
  }

  #tool(value: Json, path: string): void {
    const tool = this.#reading.object(value, path, 'a tool');
    this.#reading.knows(tool, TOOL_KEYS, path, 'a tool');
    const key = this.#reading.keyIn(tool, 'functionDeclarations', 'function_declarations');
    for (const [index, declaration] of this.#reading.listAt(tool, key, path).entries()) {
      const at = join(path, key, index);
      const declared = this.#reading.object(declaration, at, 'a declaration');
      emitTool(this.#reading, {}, declared, at, ['parameters', 'parametersJsonSchema']);
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
    for (const [index, part] of reading.listAt(content, 'parts', path).entries()) {
      this.#part(turn, part, join(path, 'parts', index));
    }
    turn.end();
  }

  #part(turn: Turn, value: Json, path: string): void {
    const reading = this.#reading;
    if (reading.fault !== null) return;
    if (typeof value === 'string') {
      turn.say(loneText(value, path));
      return;
    }
    const part = reading.object(value, path, 'a part');
    const keys = KINDS.filter((name) => isPresent(part, name));
    reading.knows(part, PART_KEYS, path, 'a part');
    for (const key of keys) this.#datum(turn, part, key, path);
  }

  /** A part holds one of these; if it holds several, none is hidden. */
  #datum(turn: Turn, part: JsonObject, key: (typeof KINDS)[number], path: string): void {
    const reading = this.#reading;
    const at = join(path, key);
    if (key === 'text') {
      const text = reading.nameAt(part, 'text', path);
      const isThought = own(part, 'thought') === true;
      turn.say(isThought ? textChunk(text, path, 'thinking') : textChunk(text, path));
      return;
    }
    const inner = reading.object(own(part, key), at, `\`${key}\``);
    switch (key) {
      case 'functionCall':
      case 'function_call':
        this.#call(turn, inner, at);
        return;
      case 'functionResponse':
      case 'function_response':
        this.#response(turn, inner, at);
        return;
      case 'inlineData':
      case 'inline_data': {
        reading.knows(inner, DATUM_KEYS.data, at, 'a datum');
        const mediaType = reading.textAt(inner, reading.keyIn(inner, 'mimeType', 'mime_type'), at);
        turn.say(attachment(dataUrl(mediaType, reading.nameAt(inner, 'data', at)), mediaType, path));
        return;
      }
      case 'fileData':
      case 'file_data': {
        reading.knows(inner, DATUM_KEYS.file, at, 'a file');
        const mediaType = reading.textAt(inner, reading.keyIn(inner, 'mimeType', 'mime_type'), at);
        turn.say(
          attachment(reading.textAt(inner, reading.keyIn(inner, 'fileUri', 'file_uri'), at), mediaType, path),
        );
        return;
      }
      case 'executableCode':
      case 'executable_code':
        this.#open.opened(CODE, path);
        turn.call({
          callId: path,
          kind: 'server',
          name: CODE,
          arguments: inner,
          path,
          namePath: at,
          argumentsPath: at,
        });
        return;
      case 'codeExecutionResult':
      case 'code_execution_result': {
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
    } else turn.objectOutput({ callId, path, content, contentPath: at, isError });
  }
}

const CANDIDATE_KEYS = knownKeys(['content']);

const CONTENT_KEYS = elementKeys(['role', 'parts']);

/** What the interface itself runs. */
const CODE = 'code_execution';

/** The keys under which a plain text is wrapped, because a response must be an object. */
const WRAPPERS: ReadonlySet<string> = new Set(['output', 'result', 'content', 'error']);

const KINDS = [
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
  'executableCode',
  'executable_code',
  'codeExecutionResult',
  'code_execution_result',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'text',
] as const;

/** What is called, given back or said, and what stands beside it and says nothing. */
const PART_KEYS = knownKeys(KINDS, {
  mark: ['thought'],
  sealed: ['thoughtSignature', 'thought_signature'],
  notes: [
    ...['videoMetadata', 'video_metadata', 'mediaResolution', 'media_resolution'],
    ...['partMetadata', 'part_metadata'],
  ],
});

const CALL_KEYS = knownKeys(['id', 'name', 'args']);

const RESPONSE_KEYS = knownKeys(['id', 'name', 'response'], { mark: ['scheduling'] });

/** Of data, files and results of code. */
const DATUM_KEYS: Readonly<Record<'data' | 'file' | 'result', KnownKeys>> = {
  data: knownKeys(['mimeType', 'mime_type', 'data'], { line: ['displayName', 'display_name'] }),
  file: knownKeys(['mimeType', 'mime_type', 'fileUri', 'file_uri'], {
    line: ['displayName', 'display_name'],
  }),
  result: knownKeys(['outcome', 'output'], { mark: ['id'] }),
};

/** Tools of the provider, which the model gets without a description. */
const TOOL_KEYS = knownKeys(['functionDeclarations', 'function_declarations'], {
  notes: [
    ...['googleSearch', 'google_search', 'googleSearchRetrieval', 'google_search_retrieval'],
    ...['codeExecution', 'code_execution', 'urlContext', 'url_context', 'computerUse', 'computer_use'],
    ...['fileSearch', 'file_search', 'googleMaps', 'google_maps', 'retrieval'],
    ...['enterpriseWebSearch', 'enterprise_web_search'],
  ],
});

function isPresent(part: JsonObject, key: string): boolean {
  return (own(part, key) ?? null) !== null;
}
