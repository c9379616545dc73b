/**
 * Rows of the store that a list cannot show as what they should be: each is named, the others are listed all the same, and the
 * command fails. Attack: one row that someone breaks hides all grants from the user who wants to take them back.
 */

import { visibleLine } from '@cordon/core';
import type { BrokenRow, TellBroken } from '@cordon/trace';
import type { CommandContext } from './command-context.ts';
import { EXIT, type ExitCode } from './exit.ts';

const MOST_ID = 80;

const WHY: Readonly<Record<BrokenRow['why'], string>> = {
  unreadable: 'cannot be read: its row in the store is damaged, or was sealed with another key',
  changed: 'is not what was written: somebody changed it without the key, and it permits nothing',
};

/** Collects them while a list is made, and names them after it. */
export class BrokenRows {
  readonly #what: string;
  readonly #rows: BrokenRow[] = [];
  readonly collect: TellBroken = (row) => void this.#rows.push(row);

  /** `what`: one of what is listed, in words. */
  constructor(what: string) {
    this.#what = what;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  has(id: string): boolean {
    return this.#rows.some((row) => row.id === id);
  }

  report(context: CommandContext): ExitCode {
    for (const { id, why } of this.#rows) {
      if (context.wantsJson) context.json({ kind: 'broken', what: this.#what, id, why });
      else context.notes.say('!! ', `${this.#what} ${visibleLine(id, MOST_ID)} ${WHY[why]}`, 'bad');
    }
    return this.isEmpty ? EXIT.done : EXIT.refused;
  }
}
