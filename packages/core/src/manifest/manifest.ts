/**
 * What an app declares and may do. The user's configuration holds it; the app itself never speaks here, so what
 * stands in a manifest is vetted. Where it is silent the strict reading holds.
 */

import type { JsonSchema } from '../json/json.ts';
import type { Fault } from '../values/fault.ts';
import type { AppId, FunctionalityName } from '../values/id.ts';
import type { Result } from '../values/result.ts';
import { type AppLimits, DEFAULT_APP_LIMITS } from './limits.ts';
import type { ToolLabelEntry } from './tool-label.ts';

/** One thing an app can do for others: the unit of inter-spoke exchange (paper, IV-C1). */
export interface Functionality {
  readonly name: FunctionalityName;
  /** One line, shown to every spoke; must name no app. */
  readonly description: string;
  readonly request: JsonSchema;
  readonly response: JsonSchema;
  /** The tool that serves it, if exactly one does: then no second model call is spent. */
  readonly tool: string | null;
}

/**
 * What Node's permission model refuses unless it is named: `--allow-…` (Node, "Permissions"). `unrestricted` goes
 * without the model: it also refuses `fsync` and the like, which no flag allows and some databases need.
 */
export const NODE_GRANTS = ['addons', 'child-process', 'unrestricted', 'wasi', 'worker'] as const;
export type NodeGrant = (typeof NODE_GRANTS)[number];

export interface Manifest {
  /** Vetted text for the planner; null where the user gave none (the planner then sees the app's id only). */
  readonly description: string | null;
  readonly functionalities: readonly Functionality[];
  /** Entries as docs/apps.md describes them: `example.com`, `api.example.com:8443`, `127.0.0.1:8080`, `mail.corp.example:993@10.1.2.3`; empty: no network. */
  readonly network: readonly string[];
  /** What the hub adds to requests that it makes for the app; the app never sees the secrets. */
  readonly credentials: readonly Credential[];
  /** Absolute paths; empty means no files. */
  readonly files: { readonly read: readonly string[]; readonly write: readonly string[] };
  readonly limits: AppLimits;
  /** What else a JavaScript app may do; empty: it starts no programs, native code, WASI or threads. */
  readonly node: readonly NodeGrant[];
  /** Whether it may open Unix sockets: then it can connect to any that lies in a folder it sees. Absent: it may not. */
  readonly unixSockets?: boolean;
  /** Tools that cannot be undone. `null`: silent, so every tool without `readOnlyHint` is one. */
  readonly irreversible: readonly string[] | null;
  /** Tools whose output an attacker may have written. `null`: silent, so all of them. */
  readonly untrusted: readonly string[] | null;
  /** Values of outputs that the hub keeps as facts of this app; absent: the fields of its functionalities of closed types. */
  readonly remembers?: readonly RememberedValue[];
  /** Tools whose output is the user's own and must not spread. `null`: silent, so all of them. */
  readonly private: readonly string[] | null;
  /** What the user's label file says of this app's tools, whose `app` is null here; absent: nothing. */
  readonly labels?: readonly ToolLabelEntry[];
}

/** What an app has of which the user's configuration says nothing: no rights, and the strict reading of each tool. */
export const SILENT_MANIFEST: Manifest = Object.freeze({
  description: null,
  functionalities: [],
  network: [],
  credentials: [],
  files: { read: [], write: [] },
  limits: DEFAULT_APP_LIMITS,
  node: [],
  irreversible: null,
  untrusted: null,
  private: null,
});

/** A value of a closed type in a tool's structured output. */
export interface RememberedValue {
  /** Of the fact; unique in the manifest. */
  readonly name: string;
  readonly tool: string;
  /** Keys that lead to the value, from the outermost on. */
  readonly at: readonly string[];
  /** Of the value. What is not of a closed type under it (`isClosedValue`) is not remembered. */
  readonly schema: JsonSchema;
}

export interface Credential {
  /** By this name the app asks for it. */
  readonly name: string;
  /** Lower case. */
  readonly header: string;
  /** The header's value, with `${secret}` in it once. */
  readonly format: string;
  /** Entries in the notation of `network`, each within it; none in the clear. */
  readonly hosts: readonly string[];
  readonly secret: SecretSource;
}

/** Where the user keeps a secret. It is read when it is needed, and kept nowhere. */
export type SecretSource =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** The text of a secret; it is asked for anew for each request, and kept nowhere. */
export type ReadSecret = (source: SecretSource) => Result<string, Fault>;

/** How the app comes to life. */
export type AppSource =
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly args: readonly string[];
      /** The only variables the app sees besides HOME, PATH, LANG and TMPDIR. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | { readonly kind: 'url'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** A description that is the whole app: it acts inside its own spoke and nowhere else. */
  | { readonly kind: 'instructions'; readonly instructions: string };

export interface InstalledApp {
  readonly id: AppId;
  readonly source: AppSource;
  readonly manifest: Manifest;
  /** `provider/model` for this app's context; null: the session's. */
  readonly model: string | null;
}

/** Whether the user's file leaves it to the app's own tools what the app can be used for. */
export function isPlannedByTools({ manifest, source }: InstalledApp): boolean {
  return manifest.functionalities.length === 0 && source.kind !== 'instructions';
}
