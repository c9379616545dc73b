/**
 * The port between an exchange and the turn of the context that serves a request: the exchange hands over a task, and itself for
 * the requests that the serving context makes in turn.
 */
import type {
  AppId,
  EventId,
  Fault,
  Functionality,
  InstalledApp,
  Json,
  JsonSchema,
  Label,
  Result,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Served } from '../spokes/spoke-link.ts';

/** What a context serves for another, by its own model. */
export interface ServingTask {
  readonly app: InstalledApp;
  readonly functionality: Functionality;
  readonly message: Json;
  readonly depth: number;
  /** The request that the new context carries on, how trustworthy its message is, and whose words it may hold. */
  readonly cause: EventId;
  readonly label: Label;
  readonly origins: readonly AppId[];
  /** Whether the asking context knows closed values of others, which may stand in the message. */
  readonly holdsOthersValues: boolean;
  /** Aborts when the turn that asked is over. */
  readonly signal: AbortSignal;
}

/** The answer as the context that served gave it: its references mean something in it alone. */
export interface ServedTask {
  readonly text: string;
  readonly context: Context;
}

/** What a context asks of others during its turn. */
export interface PeerRequests {
  request(context: Context, query: Query, sent: SentRequest, signal: AbortSignal): Promise<Served>;
  open(context: Context, query: Query, reference: string): Promise<Served>;
  read(context: Context, query: Query, reference: string, schema: JsonSchema): Promise<Served>;
}

/** A request as a spoke sends it, to whom it knows by an ephemeral id. */
export interface SentRequest {
  readonly peer: string;
  readonly message: Json;
}

/** Runs a context of the app that serves the task. `peers`: for the requests of that context. */
export type TaskServer = (
  query: Query,
  task: ServingTask,
  peers: PeerRequests,
) => Promise<Result<ServedTask, Fault>>;
