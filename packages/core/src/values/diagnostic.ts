/**
 * A diagnostic is a problem in a text that a person wrote (policy, manifest, configuration). Diagnostics are
 * collected and reported all at once, never thrown.
 */
export interface Diagnostic {
  /** Stable and searchable, e.g. `CFG004`, `POL017`; each has a line in the docs. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** The file, and inside it either a range of the text or the path of a key. */
  readonly file: string;
  readonly range?: SourceRange;
  /** e.g. `apps.mail.manifest.network[0]` */
  readonly path?: string;
  /** One sentence, lower-case start, no full stop, user text in backticks. */
  readonly message: string;
  /** The remedy, in the same style. */
  readonly help?: string;
}

/** Lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
export interface SourceRange {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}
