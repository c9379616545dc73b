/**
 * A text area whose parts can be marked. Behind it stands the same text, invisible, in the same places; its marks are
 * seen. The keyboard, selection, undo and screen readers have the plain text area.
 */
import { element } from './element.ts';

export interface Mark {
  /** UTF-16 units of the text; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'error' | 'warning' | 'range' | 'chosen' | 'chosen-whole';
  /** Shown where the pointer rests. */
  readonly title: string;
}

/** Nobody sees more, and each costs an element. */
const MAX_MARKS = 400;

export class Editor {
  readonly #area: HTMLTextAreaElement;
  readonly #lines: HTMLElement;
  #marks: readonly Mark[] = [];
  #drawn = '';

  /** Takes over the text area; `onInput` is called after each change by the user. */
  constructor(area: HTMLTextAreaElement, onInput: () => void) {
    this.#area = area;
    this.#lines = element('div', { class: 'lines', 'aria-hidden': 'true' });
    area.before(this.#lines);
    area.addEventListener('input', () => {
      this.#marks = [];
      this.#draw();
      onInput();
    });
    area.addEventListener('mousemove', ({ clientX, clientY }) => this.#showTitle(clientX, clientY));
  }

  get text(): string {
    return this.#area.value;
  }

  set text(text: string) {
    this.#area.value = text;
    this.#marks = [];
    this.#draw();
  }

  mark(marks: readonly Mark[]): void {
    this.#marks = marks.slice(0, MAX_MARKS);
    this.#area.setAttribute('aria-invalid', String(marks.some(({ kind }) => kind === 'error')));
    this.#draw();
  }

  /** Puts the cursor there and brings it into sight. */
  select(start: number, end: number): void {
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(start, end);
    this.reveal(start);
  }

  /** Brings a place into sight and leaves the focus where it is. */
  reveal(offset: number): void {
    const number = this.text.slice(0, offset).split('\n').length - 1;
    const line = this.#lines.children[number];
    const frame = this.#area.closest('.editor');
    if (!(line instanceof HTMLElement) || frame === null) return;
    const mark = line.querySelector('[data-kind^="chosen"]');
    const top = (mark instanceof HTMLElement ? mark : line).offsetTop;
    if (top < frame.scrollTop || top + line.offsetHeight > frame.scrollTop + frame.clientHeight)
      frame.scrollTop = top - frame.clientHeight / 3;
  }

  /** UTF-16 offsets of lines and columns, both from 1, in the text as it is now. */
  offsets(): (line: number, column: number) => number {
    const starts = [0];
    const { text } = this;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    return (line, column) => (starts[line - 1] ?? text.length) + column - 1;
  }

  #showTitle(x: number, y: number): void {
    const under = document.elementsFromPoint(x, y).find((one) => one.matches('mark[title]'));
    const title = under?.getAttribute('title') ?? '';
    if (this.#area.title !== title) this.#area.title = title;
  }

  #draw(): void {
    const { text } = this;
    const state = JSON.stringify([text, this.#marks]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    const pieces = piecesOf(text, this.#marks);
    const lines: HTMLElement[] = [];
    let line = element('div');
    for (const piece of pieces) {
      for (const [index, part] of piece.text.split('\n').entries()) {
        if (index > 0) {
          lines.push(line);
          line = element('div');
        }
        line.append(pieceElement(part, piece.marks));
      }
    }
    lines.push(line);
    this.#lines.replaceChildren(...lines);
  }
}

function pieceElement(text: string, marks: readonly Mark[]): Node {
  if (marks.length === 0) return document.createTextNode(text);
  const kinds = [...new Set(marks.map(({ kind }) => kind))].join(' ');
  const titles = [...new Set(marks.map(({ title }) => title))].join('\n');
  return element('mark', { 'data-kind': kinds, title: titles }, text);
}

interface Piece {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** The text cut wherever a mark begins or ends; an empty mark takes a character. */
function piecesOf(text: string, given: readonly Mark[]): readonly Piece[] {
  const marks = given.map((mark) => ({
    ...mark,
    start: Math.min(mark.start, Math.max(0, text.length - 1)),
    end: Math.min(Math.max(mark.end, mark.start + 1), text.length),
  }));
  const cuts = [...new Set([0, text.length, ...marks.flatMap(({ start, end }) => [start, end])])];
  cuts.sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, index) => {
    const end = cuts[index + 1] ?? text.length;
    const here = marks.filter((mark) => mark.start < end && mark.end > start);
    return { text: text.slice(start, end), marks: here };
  });
}
