/** What the names of a text of code stand for, whatever its language. A name that can be two things is both. */

/** Longer chains of members and calls are not followed; a name has no more meanings than this. */
export const DEEPEST = 24;
export const MOST_MEANINGS = 24;
const MOST_ROUNDS = 12;

export abstract class CodeNames<Node> {
  /** Names whose meanings could not all be followed. */
  readonly unfollowed = new Set<Node>();
  /** Full names, by name. */
  protected readonly meanings = new Map<string, Set<string>>();
  /** Names that the text gives to something. */
  protected readonly bound = new Set<string>();
  /** The value of a name that is assigned once; null: there are several, or it cannot be seen. */
  protected readonly constants = new Map<string, Node | null>();

  /** Whether that is new. */
  protected mean(name: string, meaning: string): boolean {
    const known = this.meanings.get(name) ?? new Set<string>();
    this.meanings.set(name, known);
    if (known.has(meaning) || known.size >= MOST_MEANINGS) return false;
    known.add(meaning);
    return true;
  }

  /**
   * Until nothing new is learned, so that the order in which things are written does not matter.
   * @param assignments the node of each name with its text, and what it is given to stand for
   */
  protected follow(assignments: readonly (readonly [Node, string, () => readonly string[]])[]): void {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let learned: Node | null = null;
      for (const [target, name, meaningsOf] of assignments)
        for (const meaning of meaningsOf()) if (this.mean(name, meaning)) learned = target;
      if (learned === null) return;
      if (round === MOST_ROUNDS - 1) this.unfollowed.add(learned);
    }
  }
}
