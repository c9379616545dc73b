/**
 * The entry of `cordon.json` for an app that another client starts: command, description, files, hosts, secrets and labels,
 * each with its reason. Nothing takes effect here: the user sees it all, changes it, and says yes.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: values name placeholders as the file writes them
import { absolutePath, type Environment } from '@cordon/config/reading';
import { NAME_PATTERN, SILENT_MANIFEST, type ToolLabels } from '@cordon/core';
import type { FoundServer, FoundSource, Obstacle } from '../clients/found-server.ts';
import { secretName } from '../clients/placeholders.ts';
import { type ReadCommand, readCommandLine } from './command-line.ts';
import { namedHosts } from './hosts.ts';
import { type KnownPackage, knownPackage } from './known-packages.ts';
import { type ProposedTool, proposeLabels } from './labels.ts';
import { isInventedFile, type NamedPath, pathsInArguments, pathsInVariables } from './paths.ts';
import { holdsPassword, isExample, isSecretName } from './secret-values.ts';

export interface ProposalPlace {
  /** The folder of `cordon.json`. */
  readonly folder: string;
  readonly home: string;
  readonly environment: Environment;
  /** Whether the entry stands in `cordon.json` already, where the names of secrets are its own. */
  readonly isOwnEntry?: boolean;
  /** What the app says of its tools; absent: it was not asked. */
  readonly tools?: readonly ProposedTool[];
}

/** A right that the app gets, and why. Each one loosens: without it the app has none. */
export interface ProposedGrant {
  readonly kind: 'read' | 'write' | 'network';
  /** As the manifest writes it. */
  readonly value: string;
  readonly reason: string;
}

/** A value of `env` or `headers` that does not stand in the file. */
export interface ProposedSecret {
  /** Of `${secret:NAME}`. */
  readonly name: string;
  /** The variable or header. */
  readonly key: string;
  readonly description: string;
  /** Stands in the other client's file; null: the user is asked. */
  readonly value: string | null;
  /** Under this name the other client asks for it once, for all its apps; null: it is of this app alone. */
  readonly input: string | null;
}

/** A value of `env` that is only an example: the user is asked, and it stands in the file. */
export interface ProposedQuestion {
  readonly key: string;
  readonly example: string;
}

export interface ProposedLabels {
  readonly says: Partial<ToolLabels>;
  readonly tools: readonly string[];
  readonly reasons: readonly string[];
  /** From what the app says of its tools; absent: the package is known. */
  readonly isListed?: true;
}

/** What has to be said of an app and is no part of its entry. */
export interface ProposalNote {
  readonly text: string;
  /** Whether the app will not work before the user has changed something. */
  readonly isUrgent: boolean;
}

export interface AppProposal {
  readonly id: string;
  readonly origin: string;
  /** Null: it is not taken over; `notes` say why and what to do instead. */
  readonly source: FoundSource | null;
  /** Only with a source. */
  readonly isTaken: boolean;
  /** Whether a package has to be fetched before it starts. */
  readonly isPackage: boolean;
  readonly description: string;
  readonly grants: readonly ProposedGrant[];
  /** Whether the app keeps data in its own folder, `${state}`; why, or null. */
  readonly state: string | null;
  readonly secrets: readonly ProposedSecret[];
  readonly questions: readonly ProposedQuestion[];
  readonly labels: readonly ProposedLabels[];
  readonly notes: readonly ProposalNote[];
}

/** What the user changes in a proposal before saying yes. */
export interface ProposalEdits {
  /** Null: as proposed. */
  readonly isTaken: boolean | null;
  readonly description: string | null;
  /** Words of the command and values of variables, old and new; without a new one, the word goes. */
  readonly replaced: readonly (readonly [old: string, now: string])[];
  /** Keys of grants, `state`, `labels`. */
  readonly dropped: ReadonlySet<string>;
  readonly added: readonly Pick<ProposedGrant, 'kind' | 'value'>[];
}

/** Names a grant among all that can be left out of an app. */
export function grantKey({ kind, value }: Pick<ProposedGrant, 'kind' | 'value'>): string {
  return `${kind} ${value}`;
}

export const NO_EDITS: ProposalEdits = {
  isTaken: null,
  description: null,
  replaced: [],
  dropped: new Set(),
  added: [],
};

/** An id that Cordon takes, made of the name in the other client. */
export function appIdOf(name: string, taken: ReadonlySet<string>): string {
  const cleaned = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 60);
  const base = NAME_PATTERN.test(cleaned) ? cleaned : 'app';
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(id.toLowerCase())) return id;
  }
}

/** Never throws. What the user changed on the screen is part of the input, so that all that follows from it follows. */
export function propose(
  id: string,
  server: FoundServer,
  place: ProposalPlace,
  edits: ProposalEdits = NO_EDITS,
): AppProposal {
  if (server.source === null) return leftOut(id, server, server.obstacle ?? NOTHING_TO_START);
  const read = readCommandLine(withReplaced(server.source, edits.replaced, place));
  if (!read.ok) return leftOut(id, server, read.fault);
  const proposed = new Proposer(id, server, read.value, place).proposal();
  const isDefault = !server.isDisabled && server.loss === null;
  return {
    id,
    origin: server.origin,
    isTaken: edits.isTaken ?? isDefault,
    isPackage: read.value.call !== null,
    ...proposed,
    description: edits.description ?? proposed.description,
    ...withEdits(proposed, edits, place.tools ?? []),
  };
}

function leftOut(id: string, { origin }: FoundServer, { message, help }: Obstacle): AppProposal {
  return {
    id,
    origin,
    source: null,
    isTaken: false,
    isPackage: false,
    description: '',
    grants: [],
    state: null,
    secrets: [],
    questions: [],
    labels: [],
    notes: [{ text: `left out: ${message}; ${help}`, isUrgent: true }],
  };
}

const NOTHING_TO_START: Obstacle = { message: 'the entry cannot be read', help: 'correct it in that file' };

type Proposed = Pick<
  AppProposal,
  'source' | 'description' | 'grants' | 'state' | 'secrets' | 'questions' | 'labels' | 'notes'
>;

/** Grants without those that were left out, with those that were added; labels that still hold with them. */
function withEdits(
  { grants, state, labels }: Proposed,
  { dropped, added }: ProposalEdits,
  tools: readonly ProposedTool[],
): Pick<AppProposal, 'grants' | 'state' | 'labels'> {
  const kept = grants.filter((grant) => !dropped.has(grantKey(grant)));
  const all = [...kept, ...added.map((grant) => ({ ...grant, reason: 'you added it' }))];
  const hasNetwork = all.some(({ kind }) => kind === 'network');
  const known = labels.map((one) => (hasNetwork ? withoutStaying(one) : one));
  return {
    grants: all,
    state: dropped.has('state') ? null : state,
    labels: dropped.has('labels') ? [] : [...known, ...listedLabels(tools, known, all)],
  };
}

/** For tools of which nothing is known, from what the app says of them, with the network that it would get. */
function listedLabels(
  tools: readonly ProposedTool[],
  known: readonly ProposedLabels[],
  grants: readonly ProposedGrant[],
): readonly ProposedLabels[] {
  const network = grants.flatMap(({ kind, value }) => (kind === 'network' ? [value] : []));
  const isKnown = (name: string) => known.some((one) => one.tools.includes(name));
  return proposeLabels({ ...SILENT_MANIFEST, network }, tools)
    .filter(({ tool, reasons }) => reasons.length > 0 && !isKnown(tool))
    .map(({ tool, says, reasons }) => ({ says, tools: [tool], reasons, isListed: true }));
}

/** Attack: a host is added to an app whose tools were labelled as staying here because it had none. */
function withoutStaying({ says, tools, reasons }: ProposedLabels): ProposedLabels {
  const { outward: _, ...rest } = says;
  return { says: rest, tools, reasons: reasons.filter((reason) => !reason.includes('outward')) };
}

/** The user names a path as the screen shows it, which may be longer than the other client writes it. */
function withReplaced(
  source: FoundSource,
  replaced: ProposalEdits['replaced'],
  { folder, home }: ProposalPlace,
): FoundSource {
  const isSame = (text: string, old: string) => text === old || absolutePath(text, folder, home) === old;
  const swap = (text: string) => replaced.reduce((now, [old, next]) => (isSame(now, old) ? next : now), text);
  const swapAll = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, swap(value)]));
  return source.kind === 'url'
    ? { ...source, url: swap(source.url), headers: swapAll(source.headers) }
    : {
        ...source,
        args: source.args.filter((arg) => arg === '' || swap(arg) !== '').map(swap),
        env: swapAll(source.env),
      };
}

/** One app, from its parts. */
class Proposer {
  readonly #id: string;
  readonly #server: FoundServer;
  readonly #command: ReadCommand;
  readonly #place: ProposalPlace;
  readonly #known: KnownPackage | null;
  readonly #grants: ProposedGrant[] = [];
  readonly #secrets: ProposedSecret[] = [];
  readonly #questions: ProposedQuestion[] = [];
  readonly #notes: ProposalNote[] = [];
  #state: string | null = null;

  constructor(id: string, server: FoundServer, command: ReadCommand, place: ProposalPlace) {
    this.#id = id;
    this.#server = server;
    this.#command = command;
    this.#place = place;
    this.#known = knownPackage(command.call?.packages[0]?.name ?? '');
  }

  proposal(): Proposed {
    const { loss, isDisabled } = this.#server;
    if (loss !== null) this.#note(loss);
    if (isDisabled) this.#note('it is switched off there');
    const source = this.#source(this.#command.source);
    if (this.#known?.note !== undefined) this.#note(this.#known.note);
    for (const entry of this.#known?.network ?? [])
      this.#grant('network', entry, 'the package is known to ask it');
    return {
      source,
      description: this.#known?.description ?? neutralDescription(this.#id),
      grants: this.#grants,
      state: this.#state,
      secrets: this.#secrets,
      questions: this.#questions,
      labels: this.#labels(),
      notes: this.#notes,
    };
  }

  #source(source: FoundSource): FoundSource {
    if (source.kind === 'url') return { ...source, headers: this.#values(source.headers) };
    const withKept = this.#withKept(source.env);
    const program = this.#command.call?.args ?? source.args;
    const paths = pathsInArguments(
      program,
      { isPackage: this.#command.call !== null, access: this.#known?.paths ?? null },
      this.#place,
    );
    for (const path of paths) this.#path(path);
    for (const path of pathsInVariables(withKept, this.#place)) this.#path(path);
    for (const named of namedHosts(program, withKept)) {
      if (named.entry !== null) this.#grant('network', named.entry, said(named.where));
      else this.#note(named.problem, true);
    }
    for (const arg of source.args)
      if (holdsPassword(arg)) this.#note('an argument holds a password, which will stand in cordon.json');
    // Arguments reach the app as they are, and it runs in another folder.
    const absolute = new Map(paths.map(({ text, path }) => [text, path]));
    return {
      ...source,
      args: source.args.map((arg) => withPath(arg, absolute)),
      env: this.#values(withKept),
    };
  }

  /** Moves the files in which a known package keeps data into its own folder, unless they are somewhere already. */
  #withKept(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const changed: Record<string, string> = { ...env };
    for (const [variable, file] of Object.entries(this.#known?.keeps ?? {})) {
      const value = env[variable];
      if (value !== undefined && !isInventedFile(value)) {
        if (value.includes('${state}')) this.#state ??= `it keeps ${file} there`;
        continue;
      }
      changed[variable] = `\${state}/${file}`;
      this.#state = `it keeps ${file} there`;
    }
    if (Object.values(changed).some((value) => value.includes('${state}')))
      this.#state ??= 'a variable names it';
    return changed;
  }

  #path({ text, path, where, access, state }: NamedPath): void {
    if (state === 'too-wide')
      return this.#note(`\`${text}\` holds your whole home folder: name the folder that it needs`, true);
    if (state === 'missing')
      return this.#note(`there is nothing at \`${text}\`: create it, or name another`, true);
    this.#grant(access, path, said(where));
  }

  #grant(kind: ProposedGrant['kind'], value: string, reason: string): void {
    if (!this.#grants.some((one) => one.kind === kind && one.value === value))
      this.#grants.push({ kind, value, reason });
  }

  #note(text: string, isUrgent = false): void {
    this.#notes.push({ text, isUrgent });
  }

  /** Values of variables and headers, in which `${secret:NAME}` replaces each secret. */
  #values(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const missing = Object.entries(this.#known?.secrets ?? {}).filter(([key]) => values[key] === undefined);
    return Object.fromEntries([
      ...Object.entries(values).map(([key, value]): [string, string] => [key, this.#value(key, value)]),
      ...missing.map(([key]): [string, string] => [key, this.#value(key, '')]),
    ]);
  }

  #value(key: string, value: string): string {
    const named = value.replace(/\$\{secret:([^}]*)\}/g, (_, input: string) => this.#input(key, input));
    if (named.includes('${')) return named;
    const [, scheme = '', rest = value] = /^(Bearer |Basic |token )?(.*)$/is.exec(value) ?? [];
    const isSecret = isSecretName(key) || holdsPassword(value) || this.#known?.secrets?.[key] !== undefined;
    if (!isExample(rest)) return isSecret ? `${scheme}${this.#secret(key, rest)}` : value;
    // A user who has the variable set already means that one.
    if (isSecret && (this.#place.environment[key] ?? '') !== '') return `${scheme}\${env:${key}}`;
    if (isSecret) return `${scheme}${this.#secret(key, null)}`;
    if (rest.trim() !== '') this.#questions.push({ key, example: value });
    return value;
  }

  #secret(key: string, value: string | null): string {
    const name = secretName(`${this.#id}.${key}`);
    const description = this.#known?.secrets?.[key] ?? key;
    this.#secrets.push({ name, key, description, value, input: null });
    return `\${secret:${name}}`;
  }

  /**
   * Attack: the file of a stranger names the secret of another app, or has an input with the name of another file's. So no app of
   * another file shares a secret.
   */
  #input(key: string, input: string): string {
    const { isOwnEntry = false } = this.#place;
    const name = isOwnEntry ? input : secretName(`${this.#id}.${input.replaceAll('.', '-')}`);
    if (!this.#secrets.some((secret) => secret.name === name)) {
      const found = this.#server.inputs.find((one) => one.name === input);
      const shared = isOwnEntry || found === undefined ? null : input;
      this.#secrets.push({ name, key, description: found?.description ?? key, value: null, input: shared });
    }
    return `\${secret:${name}}`;
  }

  #labels(): readonly ProposedLabels[] {
    const tools = this.#known?.reads ?? [];
    if (tools.length === 0) return [];
    const staysHere = this.#grants.every(({ kind }) => kind !== 'network');
    return [
      {
        tools,
        says: { readOnly: true, ...(staysHere ? { outward: false } : {}) },
        reasons: [
          'looser: readOnly, as is known of this package',
          ...(staysHere ? ['looser: not outward, because the app has no network'] : []),
        ],
      },
    ];
  }
}

function said(where: string): string {
  return where === 'an argument' ? 'an argument names it' : `${where} names it`;
}

function withPath(arg: string, absolute: ReadonlyMap<string, string>): string {
  const [, option = '', text = arg] = /^(--?[\w-]+=)(.*)$/s.exec(arg) ?? [];
  const path = absolute.get(text);
  return path === undefined ? arg : `${option}${path}`;
}

/** For a package that is not known: claims nothing about it. */
function neutralDescription(id: string): string {
  return `The app ${id.replace(/[-_.]+/g, ' ').trim()}.`;
}
