/** What is measured: a detector of ours, its labelled texts, and what others offer for the same job. */
import type { Label } from './labelled.ts';

export interface Suite {
  /** As rules import it; its texts are `texts/<detector>.jsonl`. */
  readonly detector: string;
  /** `ranges`: each finding counts; `texts`: whether anything is found in a text. */
  readonly judged: 'ranges' | 'texts';
  readonly rows: readonly Row[];
  readonly find: Find;
  readonly peers: readonly Peer[];
  /** MB/s on ordinary text that the detector shall reach; null: it is no pattern detector. */
  readonly speedAim: number | null;
}

export interface Row {
  readonly name: string;
  /** Null: all kinds, and none is told from another. */
  readonly kinds: readonly string[] | null;
  /** Least recall and precision, from 0 to 1. */
  readonly aim: { readonly recall: number; readonly precision: number } | null;
}

export type Find = (text: string) => readonly Label[] | Promise<readonly Label[]>;

export interface Peer {
  /** With its version, as it stands in the table. */
  readonly name: string;
  /** Rows that it says something about; null: all. */
  readonly rows: readonly string[] | null;
  /** Null: it is not installed. Kinds of its own are translated. */
  readonly load: () => Promise<Find | null>;
}
