/**
 * Apps name their tools as they like (`files/read`, `search.web`); providers accept letters, digits, `_` and `-`.
 * One request's names are translated on the way out and back on the way in.
 */

/** What OpenAI, Anthropic and Google all accept. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

export interface ToolNames {
  /** The name the provider sees. A name that was not given to `toolNames` stays as it is. */
  readonly out: (name: string) => string;
  /** The name the app uses; what the model made up stays as it is, and fits no tool. */
  readonly in: (name: string) => string;
}

/**
 * Names that are accepted keep themselves; the others get a similar one that no other tool of this request has: an
 * app must not be able to name a tool such that the model's call reaches another one.
 */
export function toolNames(names: Iterable<string>): ToolNames {
  const given = new Set(names);
  const taken = new Set([...given].filter((name) => ACCEPTED.test(name)));
  const outward = new Map<string, string>();
  for (const name of given) {
    if (taken.has(name)) continue;
    const chosen = freeName(name, taken);
    taken.add(chosen);
    outward.set(name, chosen);
  }
  const inward = new Map([...outward].map(([name, chosen]) => [chosen, name]));
  return {
    out: (name) => outward.get(name) ?? name,
    in: (name) => inward.get(name) ?? name,
  };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const similar = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 56);
  const base = /^[A-Za-z_]/.test(similar) ? similar : `_${similar}`;
  let chosen = base;
  for (let number = 2; taken.has(chosen); number++) chosen = `${base}_${number}`;
  return chosen;
}
