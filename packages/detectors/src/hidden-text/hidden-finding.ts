/** What hidden text is reported as. See docs/detectors.md explains each kind. */
import type { Finding } from '../text/finding.ts';

export type HiddenKind =
  | 'ZERO_WIDTH'
  | 'TAG_CHARACTERS'
  | 'BIDI_CONTROL'
  | 'VARIATION_SELECTORS'
  | 'HOMOGLYPH'
  | 'STYLED_LETTERS'
  | 'HTML_COMMENT'
  | 'MARKDOWN_COMMENT'
  | 'HIDDEN_STYLE'
  | 'BASE64'
  | 'BASE32'
  | 'HEX'
  | 'BINARY'
  | 'PERCENT'
  | 'HTML_ENTITIES'
  | 'UNICODE_ESCAPES'
  | 'QUOTED_PRINTABLE'
  | 'ROT13'
  | 'REVERSED'
  | 'SPACED_LETTERS'
  | 'COMPRESSED'
  | 'TOO_DEEP';

export interface HiddenFinding extends Finding {
  readonly kind: HiddenKind;
  /** What it says once it is made visible; empty where it only disturbs. */
  readonly revealed: string;
}

export function hidden(
  kind: HiddenKind,
  start: number,
  end: number,
  confidence: number,
  reason: string,
  revealed = '',
): HiddenFinding {
  return { kind, start, end, confidence, reason, revealed };
}
