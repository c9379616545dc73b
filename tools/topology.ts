/** Who imports whom: of files, of the rooms of a package, and of packages; and how a drawing says it. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { localTarget, ROOT, type SourceFile, sourceFiles } from './imports.ts';

/** By place, the places that it imports, in the order of their names. A place is a file, a room or a package. */
export type Graph = ReadonlyMap<string, readonly string[]>;

const NO_WORKSPACES: ReadonlySet<string> = new Set(['node_modules', 'docs', 'policies']);

/** The sources and tests of every workspace, whatever it is called. */
export function everySourceFile(): readonly SourceFile[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NO_WORKSPACES.has(entry.name))
    .flatMap(({ name }) => sourceFiles(name));
}

/** `packages/hub`, `examples/apps`, `bench`. */
export function workspaceOf(path: string): string {
  const [first = '', second] = path.split('/');
  return first === 'packages' || (first === 'examples' && second === 'apps') ? `${first}/${second}` : first;
}

/** Files and what they import by a path, type imports included. */
export function fileGraph(files: readonly SourceFile[]): Graph {
  return graphOf(files.map((file) => [file.path, localTargets(file)]));
}

function localTargets(file: SourceFile): readonly string[] {
  return file.imports.flatMap((specifier) => localTarget(file, specifier) ?? []);
}

/** Rooms are the folders below `sources`; what lies in none is the root. */
export function roomGraph(files: readonly SourceFile[], sources: string): Graph {
  const room = (path: string) => {
    const [folder = '', file] = path.slice(sources.length + 1).split('/');
    return file === undefined ? 'root' : folder;
  };
  return graphOf(
    files.map((file) => {
      const from = room(file.path);
      const inside = localTargets(file).filter((target) => target.startsWith(`${sources}/`));
      return [from, inside.map(room).filter((to) => to !== from)];
    }),
  );
}

/** Packages and the packages that their sources import by name. */
export function packageGraph(names: readonly string[], files: readonly SourceFile[]): Graph {
  const arrows = files
    .filter(({ path }) => path.includes('/src/'))
    .map((file): [string, readonly string[]] => [
      file.path.split('/')[1] ?? '',
      file.imports.flatMap((specifier) => /^@cordon\/([^/]+)/.exec(specifier)?.[1] ?? []),
    ]);
  return graphOf([...names.map((name): [string, readonly string[]] => [name, []]), ...arrows]);
}

/** A drawing of `places ─► places`, a line each; `nothing` stands for no place. */
export function drawn(drawing: string): Graph {
  const lines = drawing.split('\n').filter((line) => line.includes('─►'));
  const arrows = lines.map((line) => line.split('─►').map((names) => names.trim().split(/, */)));
  return graphOf(
    arrows.flatMap(([from = [], to = []]) =>
      from.map((place): [string, readonly string[]] => [place, to.filter((name) => name !== 'nothing')]),
    ),
  );
}

/** The first block of a page below a heading; null: the page has no such heading, or no block below it. */
export function blockBelow(page: string, heading: string): string | null {
  const [, below = ''] = new RegExp(`^#+ ${heading}$(.*)`, 'ms').exec(page) ?? [];
  const [section = ''] = below.split(/^#/m);
  return /^```\n(.*?)^```$/ms.exec(section)?.[1] ?? null;
}

/** The arrows that only one of two graphs has, for instance `missing: hub ─► core`. */
export function differences(drawing: Graph, real: Graph): readonly string[] {
  const only = (what: string, one: Graph, other: Graph) =>
    [...one].flatMap(([from, targets]) => [
      ...(other.has(from) ? [] : [`${what}: ${from}`]),
      ...targets
        .filter((to) => other.get(from)?.includes(to) !== true)
        .map((to) => `${what}: ${from} ─► ${to}`),
    ]);
  return [...only('missing', real, drawing), ...only('surplus', drawing, real)];
}

/** One cycle, from a place to itself; empty: there is none. */
export function cycleIn(graph: Graph): readonly string[] {
  const done = new Set<string>();
  const visit = (place: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(place)) return [...trail.slice(trail.indexOf(place)), place];
    if (done.has(place)) return [];
    for (const next of graph.get(place) ?? []) {
      const found = visit(next, [...trail, place]);
      if (found.length > 0) return found;
    }
    done.add(place);
    return [];
  };
  for (const place of graph.keys()) {
    const found = visit(place, []);
    if (found.length > 0) return found;
  }
  return [];
}

/** Files that import sources or tests of another workspace by a path. */
export function reaching(files: readonly SourceFile[]): readonly string[] {
  const reaches = (file: SourceFile, target: string) => {
    const workspace = workspaceOf(target);
    return workspace !== workspaceOf(file.path) && /^\/(?:src|test)\//.test(target.slice(workspace.length));
  };
  return files
    .filter((file) => localTargets(file).some((target) => reaches(file, target)))
    .map(({ path }) => path);
}

/** Folders with more loose files than `most`. */
export function crowded(files: readonly SourceFile[], most: number): readonly string[] {
  const counts = Map.groupBy(files, ({ path }) => dirname(path));
  return [...counts].filter(([, loose]) => loose.length > most).map(([folder]) => folder);
}

/** The packages of the workspace. */
export function packageNames(): readonly string[] {
  return readdirSync(join(ROOT, 'packages')).sort();
}

function graphOf(arrows: readonly (readonly [string, readonly string[]])[]): Graph {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of arrows) targets.set(from, new Set([...(targets.get(from) ?? []), ...to]));
  return new Map([...targets].map(([from, to]) => [from, [...to].sort()]));
}
