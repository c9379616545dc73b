/**
 * Makes the contexts of a session, and names them. No name is used twice in a session; a resumed query finds its contexts again.
 */
import { type AppId, type ContextId, type ContextKind, type EventId, id } from '@cordon/core';
import type { Registry } from './apps/registry.ts';
import { Context, type ContextOptions } from './context/context.ts';
import type { Recorder } from './journal/recorder.ts';

export interface SessionContextsParts {
  readonly recorder: Recorder;
  readonly registry: Registry;
  /** `provider/model` for contexts whose app names none; the user may change it between queries. */
  readonly modelId: () => string;
  /** At least as many as the session has had contexts before. */
  readonly made: number;
}

export class SessionContexts {
  readonly #parts: SessionContextsParts;
  #made: number;

  constructor(parts: SessionContextsParts) {
    this.#parts = parts;
    this.#made = parts.made;
  }

  /** @param cause the event that the context is made for; by it a resumed query finds the context again */
  create(options: ContextOptions, cause?: EventId): Context {
    const { kind, app } = options;
    const before = this.#parts.recorder.cursor?.context(kind, app, cause) ?? null;
    return this.#named(before ?? this.#newId(kind, app), options, cause);
  }

  /** Carries one tool call that another context asked for: it has seen what that context has, and answers to nobody. */
  errand(from: Context, app: AppId, request: EventId): Context {
    const options: ContextOptions = { kind: 'errand', app, depth: from.depth + 1, begins: request };
    const context = this.create(options, request);
    context.sees(from.label, null);
    return context;
  }

  /** For what an app's process does by itself. The process is a new one also where a query is resumed, and so is the context. */
  ofProcess(app: AppId): Context {
    return this.#named(this.#newId('errand', app), { kind: 'errand', app });
  }

  #newId(kind: ContextKind, app: AppId | null): ContextId {
    // No app is called so: a rule can tell a reader by the name of its context.
    const owner = kind === 'reader' ? '~reader' : (app ?? kind);
    return id(`${owner}#${++this.#made}`);
  }

  #named(contextId: ContextId, options: ContextOptions, cause?: EventId): Context {
    const { recorder, registry, modelId } = this.#parts;
    const { kind, app, modelOf, model } = options;
    const whose = modelOf ?? app;
    const own = whose === null ? null : registry.get(whose)?.model;
    const context = new Context({ ...options, id: contextId, model: model ?? own ?? modelId() });
    const apps = app === null ? [...new Set([...context.tools.values()].map((tool) => tool.app))] : [app];
    const causes = cause === undefined ? [] : [cause];
    recorder.record(context, { kind: 'context.created', of: kind, apps }, { causes });
    return context;
  }
}
