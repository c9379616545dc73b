/**
 * What one part of `cordon bench` is: units that are run one by one and leave a record each, and what all records
 * together say. The frame around it runs, keeps, resumes, compares and shows; a suite only knows its own subject.
 */
import type { Fault, JsonObject, Model, Result } from '@cordon/core';

export interface Suite {
  /** As the user names it: `cordon bench protection`. */
  readonly id: SuiteId;
  /** One sentence: which question it answers. */
  readonly question: string;
  /** How many units may run at once and still mean the same; 1 where time is measured. */
  readonly jobs: number;
  /** Which data of others may be given for those of the repository; to give one that nothing takes is a mistake. */
  readonly takes: readonly OtherData[];
  /** Whether a model of a provider may take the place of the obedient one, `--model`. Absent: no. */
  readonly playsModels?: boolean;
  /** Parts that can be measured alone, `--part`. Absent: it is measured as a whole. */
  readonly parts?: readonly string[];
  /** What there is to run, the cheapest way to know first. Refuses data that are missing or unreadable. */
  prepare(request: BenchRequest): Promise<Result<PreparedSuite, Fault>>;
}

export type SuiteId =
  | 'protection'
  | 'functionality'
  | 'plans'
  | 'overhead'
  | 'machine'
  | 'detectors'
  | 'descriptions'
  | 'peers';

export type OtherData = 'traces' | 'labels' | 'pairs' | 'plans';

/** What the user asked for. Paths are absolute. */
export interface BenchRequest {
  /** A seeded sample of the units, in seconds instead of minutes or hours. Each result says so. */
  readonly isQuick: boolean;
  /** Data that are not in the repository; null: none are given. */
  readonly data: string | null;
  /** Recorded traces of others, and the label file that holds for them; null: those of the repository. */
  readonly traces: string | null;
  readonly labels: string | null;
  /** Scripted pairs of others for the obedient model; null: those of the repository. */
  readonly pairs: string | null;
  /** Plans for recorded traces, as `cordon bench plans SUITES` prints them. Absent: of the repository's traces the tasks' own. */
  readonly plans?: string;
  /** The only part that is to be measured, one of the suite's `parts`. Absent: all of them. */
  readonly part?: string;
  /** Only units whose key contains this. Absent: all of them. */
  readonly only?: string;
  /** Of these about one in so many, from 2 on, by the digest of their keys: the same each time. Absent: each. */
  readonly every?: number;
  /** `provider/model`, instead of the obedient model: each unit is handed it. Absent: the obedient model plays. */
  readonly model?: string;
}

export interface PreparedSuite {
  /** The data that the result depends on, with what they are known again by. */
  readonly data: readonly DataFile[];
  readonly units: readonly Unit[];
  /** What the user must know before he reads the figures: what was left out, and why. Absent: nothing. */
  readonly notices?: readonly string[];
  /** Ends with what the units share: processes, folders. Called once, also after an interruption. */
  close(): Promise<void>;
  /** @param records of this and of earlier, interrupted runs, by key; a unit without a record was not run */
  report(records: ReadonlyMap<string, JsonObject>): SuiteReport;
}

export interface DataFile {
  readonly name: string;
  /** Of the bytes as they lie on disk, hexadecimal. */
  readonly sha256: string;
}

export interface Unit {
  /** Unique in the suite, and the same in every run: it is what an interrupted run goes on by. */
  readonly key: string;
  /** How long it takes beside the others, so that the time left can be told. */
  readonly weight: number;
  /** Model calls that are to be expected, where a model of a provider plays. Absent: none. */
  readonly calls?: number;
  /**
   * Never throws for what the measured system does; a unit that could not be measured throws, and is told and run again.
   *
   * @param model the request's; absent: it names none
   */
  run(signal: AbortSignal, model?: Model): Promise<JsonObject>;
}

export interface SuiteReport {
  /** The fields of the last line of `--json`, beside `kind`, `suite` and what the frame adds of the run. */
  readonly result: JsonObject;
  readonly aims: readonly Aim[];
  /** In the order in which they are shown, in the terminal, in the page and in `docs/benchmarks.md`. */
  readonly sections: readonly Section[];
}

export interface Aim {
  /** Of a suite that has parts: the one that it belongs to. */
  readonly part?: string;
  readonly what: string;
  /** As it is read: `98.4 %`. */
  readonly measured: string;
  readonly aim: string;
  readonly isMet: boolean;
}

/** `part`: of a suite that has parts, the one that it belongs to. */
export type Section = { readonly part?: string } & Content;

type Content =
  | { readonly kind: 'text'; readonly title: string | null; readonly text: string }
  | {
      readonly kind: 'table';
      readonly title: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** What the reader must know to read it right; null: nothing. */
      readonly note: string | null;
    }
  /** One bar for each name, or one for each name and series. */
  | {
      readonly kind: 'bars';
      readonly title: string;
      readonly unit: string;
      readonly series: readonly string[];
      readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
    }
  /** Lines through points, the axes linear or logarithmic. */
  | {
      readonly kind: 'lines';
      readonly title: string;
      readonly x: Axis;
      readonly y: Axis;
      readonly lines: readonly {
        readonly name: string;
        readonly points: readonly (readonly [x: number, y: number])[];
      }[];
    };

export interface Axis {
  readonly name: string;
  readonly scale: 'linear' | 'logarithmic';
}
