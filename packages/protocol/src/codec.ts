/**
 * Bytes to messages and back. A spoke's LLM may have been taken over by what it read, and its loop by a fault in
 * our code: everything is checked, unknown keys are refused, and values are rebuilt into fresh objects.
 *
 * Written by hand because the spoke's start-up pays for every import (a schema library costs as much as Node).
 *
 * Ring 0.
 */
import {
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelMessage,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { HubMessage, SpokeMessage } from './message.ts';

/** Longest text field that a spoke may send: a whole prompt with its tool outputs fits, a flood does not. */
const TEXT_LIMIT = 2 * 1024 * 1024;
const NAME_LIMIT = 256;
const MESSAGES_LIMIT = 2_000;

/** One line of JSON without its line end. */
export function encode(message: HubMessage | SpokeMessage): string {
  return JSON.stringify(message);
}

/** Reads what a spoke sent. The fault is one sentence for the journal; it is never shown to a user as a prompt. */
export function decodeSpokeMessage(line: string): Result<SpokeMessage, string> {
  const parsed = parseJson(line);
  if (!parsed.ok) return parsed;
  try {
    return ok(readSpokeMessage(new Fields(parsed.value)));
  } catch (error) {
    if (error instanceof Malformed) return failed(error.message);
    throw error;
  }
}

/** The hub is trusted, so its messages are only parsed. */
export function decodeHubMessage(line: string): HubMessage {
  const message: HubMessage = JSON.parse(line);
  return message;
}

function readSpokeMessage(fields: Fields): SpokeMessage {
  const type = fields.text('type', NAME_LIMIT);
  switch (type) {
    case 'ready':
      return fields.done({ type, version: fields.integer('version') });
    case 'model':
      return fields.done({
        type,
        id: fields.integer('id'),
        messages: fields.list('messages', MESSAGES_LIMIT).map(readModelMessage),
      });
    case 'tool':
      return fields.done({
        type,
        id: fields.integer('id'),
        name: fields.text('name', NAME_LIMIT),
        arguments: fields.object('arguments'),
      });
    case 'probe':
      return fields.done({
        type,
        id: fields.integer('id'),
        functionality: fields.text('functionality', NAME_LIMIT),
      });
    case 'request':
      return fields.done({
        type,
        id: fields.integer('id'),
        peer: fields.text('peer', NAME_LIMIT),
        message: fields.json('message'),
      });
    case 'open':
      return fields.done({ type, id: fields.integer('id'), reference: fields.text('reference', NAME_LIMIT) });
    case 'answer':
      return fields.done({ type, id: fields.integer('id'), text: fields.text('text', TEXT_LIMIT) });
    case 'exhausted':
      return fields.done({ type, id: fields.integer('id'), steps: fields.integer('steps') });
    default:
      throw new Malformed('the type is unknown');
  }
}

function readModelMessage(value: Json): ModelMessage {
  const fields = new Fields(value);
  const role = fields.text('role', NAME_LIMIT);
  const text = fields.text('text', TEXT_LIMIT);
  switch (role) {
    case 'system':
    case 'user':
      return fields.done({ role, text });
    case 'assistant':
      return fields.done({ role, text, calls: fields.list('calls', MESSAGES_LIMIT).map(readCall) });
    case 'tool':
      return fields.done({
        role,
        text,
        callId: fields.text('callId', NAME_LIMIT),
        name: fields.text('name', NAME_LIMIT),
        isError: fields.boolean('isError'),
      });
    default:
      throw new Malformed('the role is unknown');
  }
}

function readCall(value: Json) {
  const fields = new Fields(value);
  return fields.done({
    id: fields.text('id', NAME_LIMIT),
    name: fields.text('name', NAME_LIMIT),
    arguments: fields.object('arguments'),
  });
}

/** Thrown and caught inside this file only. */
class Malformed extends Error {}

/** Takes fields out of an untrusted object; what is left over at the end is an error. */
class Fields {
  readonly #object: JsonObject;
  readonly #taken = new Set<string>();

  constructor(value: Json) {
    if (!isJsonObject(value)) throw new Malformed('a message is no object');
    this.#object = value;
  }

  json(key: string): Json {
    if (!Object.hasOwn(this.#object, key)) throw new Malformed(`\`${key}\` is missing`);
    this.#taken.add(key);
    return this.#object[key] ?? null;
  }

  text(key: string, limit: number): string {
    const value = this.json(key);
    if (typeof value !== 'string') throw new Malformed(`\`${key}\` is no text`);
    if (value.length > limit) throw new Malformed(`\`${key}\` is longer than ${limit} characters`);
    return value;
  }

  integer(key: string): number {
    const value = this.json(key);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw new Malformed(`\`${key}\` is no count`);
    return value;
  }

  boolean(key: string): boolean {
    const value = this.json(key);
    if (typeof value !== 'boolean') throw new Malformed(`\`${key}\` is neither true nor false`);
    return value;
  }

  object(key: string): JsonObject {
    const value = this.json(key);
    if (!isJsonObject(value)) throw new Malformed(`\`${key}\` is no object`);
    return value;
  }

  list(key: string, limit: number): readonly Json[] {
    const value = this.json(key);
    if (!Array.isArray(value)) throw new Malformed(`\`${key}\` is no list`);
    if (value.length > limit) throw new Malformed(`\`${key}\` has more than ${limit} items`);
    return value;
  }

  /** The finished value, if nothing unknown is left. */
  done<T>(value: T): T {
    for (const key of Object.keys(this.#object)) {
      if (!this.#taken.has(key)) throw new Malformed('a field is unknown');
    }
    return value;
  }
}
