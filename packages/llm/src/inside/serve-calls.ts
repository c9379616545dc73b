/**
 * The process's end of the link: calls of one provider, or questions for one service, side by side, each answered once.
 */
import type { Duplex } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  CALL_LINE_BYTES,
  callLine,
  type HubCallMessage,
  type ProviderMessage,
  readHubCallMessage,
} from '@cordon/broker/wire';
import {
  failed,
  type Json,
  type ModelCallOptions,
  type ModelFault,
  type ModelRequest,
  ok,
  type Question,
  type Result,
} from '@cordon/core';
import { LineDecoder } from '@cordon/protocol';
import { createModelBroker } from '../calls/broker.ts';
import type { ProviderCallParts } from '../calls/provider-call.ts';
import { createService } from '../calls/service.ts';
import { readSettings, type Settings } from './settings.ts';

/** Answers one call. The hub has built the input. */
type Answerer = (input: object, options: ModelCallOptions) => Promise<Result<Json, ModelFault>>;

/** @param end called when the link is over: the process is to end */
export function serveCalls(link: Duplex, parts: ProviderCallParts, end: () => void): void {
  const decoder = new LineDecoder({ lineBytes: CALL_LINE_BYTES });
  const open = new Map<number, AbortController>();
  let answerer: Answerer = async () => NOT_OPEN;
  const send = (said: ProviderMessage): boolean => {
    const line = callLine(said);
    if (line !== null && !link.destroyed) link.write(line);
    return line !== null;
  };
  const call = async ({ id, input, streams }: Extract<HubCallMessage, { type: 'call' }>) => {
    const stop = new AbortController();
    open.set(id, stop);
    const onText = (text: string) => void send({ type: 'text', id, text });
    const options = streams ? { signal: stop.signal, onText } : { signal: stop.signal };
    const answer = await answerer(input, options);
    open.delete(id);
    if (!send(messageOf(id, answer))) send(messageOf(id, TOO_LONG));
  };
  const hear = (said: HubCallMessage | null) => {
    switch (said?.type) {
      case 'open':
        answerer = opened(readSettings(said.settings), parts);
        return;
      case 'call':
        return void call(said);
      case 'cancel':
        return open.get(said.id)?.abort();
      case 'ping':
        return void send({ type: 'pong' });
      case undefined:
        return end();
    }
  };
  link.on('data', (chunk: Buffer) => {
    const lines = decoder.push(chunk);
    if (!lines.ok) return end();
    for (const line of lines.value) hear(readHubCallMessage(line));
  });
  link.on('error', end);
  link.on('close', end);
}

function opened(settings: Settings, parts: ProviderCallParts): Answerer {
  if (settings.authorities.length > 0)
    setDefaultCACertificates([...getCACertificates('default'), ...settings.authorities]);
  switch (settings.kind) {
    case 'provider': {
      const { name, config, limits } = settings;
      const models = createModelBroker({ ...parts, limits, providers: new Map([[name, config]]) });
      return async (input, options) => {
        const answer = await models.complete(input as ModelRequest, options);
        // A response is plain data.
        return answer.ok ? ok(answer.value as unknown as Json) : answer;
      };
    }
    case 'endpoint': {
      const service = createService(settings.service, settings.endpoint, parts.fetch);
      return async (input, { signal }) => {
        const answer = await service.answer(input as Question, signal);
        if (answer.ok) return answer;
        return failed({ kind: 'unavailable', message: answer.fault.message, attempts: 1 });
      };
    }
  }
}

function messageOf(id: number, answer: Result<Json, ModelFault>): ProviderMessage {
  return answer.ok ? { type: 'answer', id, value: answer.value } : { type: 'fault', id, fault: answer.fault };
}

const NOT_OPEN: Result<never, ModelFault> = failed({
  kind: 'unavailable',
  message: 'the hub has named no provider',
  attempts: 0,
});

const TOO_LONG: Result<never, ModelFault> = failed({
  kind: 'invalid-response',
  message: `the answer of the model is longer than ${CALL_LINE_BYTES} bytes`,
  help: 'use another model',
  attempts: 1,
});
