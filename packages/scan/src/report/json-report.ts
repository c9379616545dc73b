/** JSON lines: those of `cordon analyze --json`, and a last one with the counts. See docs/cli.md. */
import { jsonLine, safeJson } from '@cordon/print';
import type { Input } from '../parts/input.ts';
import type { LineRecord } from '../parts/part.ts';
import { placeOf, ScanReport, type ScanResult } from './report.ts';

export class JsonReport extends ScanReport {
  override record(input: Input, line: number | null, record: LineRecord): string {
    const trace = placeOf(input, line);
    if (record.kind === 'broken') return jsonLine({ trace, broken: record.message });
    return `{"trace":${safeJson(trace)},${record.body}\n`;
  }

  override end({ counts, rules, unreadable, isComplete, seconds }: ScanResult): string {
    const { traces, broken, violations, undecided, bytes, events } = counts;
    const result = { traces, broken, violations, undecided, bytes, seconds, rules, events };
    return jsonLine({ kind: 'scan.result', ...result, unreadable, complete: isComplete });
  }
}
