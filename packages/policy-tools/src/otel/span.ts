/**
 * One span of an export.
 *
 * Recordings are read with it; the hub does not use it.
 */
import type { JsonObject } from '@cordon/core';
import type { Located } from './located.ts';

export interface Span {
  readonly id: string | null;
  readonly traceId: string | null;
  readonly parent: Span | null;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, Located>;
  readonly value: JsonObject;
  readonly path: string;
  /** Ids of spans that it is linked with. */
  readonly links: readonly string[];
  /** Its place in a walk through the forest: a span is within another if its numbers are. */
  readonly begun: number;
  readonly ended: number;
}

export function isWithin(inner: Span, outer: Span): boolean {
  return outer.begun < inner.begun && inner.ended < outer.ended;
}
