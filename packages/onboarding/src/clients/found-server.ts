/** An app as the configuration of another client has it, in the words of `cordon.json`. */

/** How it is started or reached. Values hold Cordon's placeholders: those of the other client are translated. */
export type FoundSource =
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | { readonly kind: 'url'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Its variables, or its headers. */
export function valuesOf(source: FoundSource | null): Readonly<Record<string, string>> {
  if (source === null) return {};
  return source.kind === 'url' ? source.headers : source.env;
}

/** Why an entry cannot be taken over, and what the user can do instead. */
export interface Obstacle {
  readonly message: string;
  readonly help: string;
}

/** A value that the other client asks the user for. */
export interface FoundInput {
  /** Its name in `${secret:NAME}`. */
  readonly name: string;
  /** What it is, in the words of the file. */
  readonly description: string;
}

export interface FoundServer {
  /** As the file writes it. */
  readonly name: string;
  /** Where it stands, as the user is shown it: `Cursor (.cursor/mcp.json)`. */
  readonly origin: string;
  /** Null: there is an obstacle. */
  readonly source: FoundSource | null;
  readonly obstacle: Obstacle | null;
  /** A restriction of the other client that Cordon cannot apply. The app is taken over only if the user says so. */
  readonly loss: string | null;
  /** The other client does not start it. */
  readonly isDisabled: boolean;
  /** What `source` asks for as `${secret:NAME}`. */
  readonly inputs: readonly FoundInput[];
}

/** One file of another client. `problem`: it could not be read. */
export interface FoundFile {
  readonly origin: string;
  readonly servers: readonly FoundServer[];
  readonly problem: string | null;
}
