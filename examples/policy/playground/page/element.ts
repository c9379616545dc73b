/**
 * How anything comes into the page: elements whose contents are texts and elements, never markup. What stands in a
 * trace or a policy is written by strangers.
 */

type AttributeName =
  | 'class'
  | 'id'
  | 'title'
  | 'type'
  | 'tabindex'
  | 'data-kind'
  | 'aria-label'
  | 'aria-hidden'
  | 'aria-pressed';

export type Attributes = Readonly<Partial<Record<AttributeName, string>>>;

export type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function button(
  attributes: Attributes,
  onPress: () => void,
  ...children: readonly Child[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, ...children);
  made.addEventListener('click', onPress);
  return made;
}

/** The element of the page with this id. */
export function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

/**
 * A text of strangers for people: what is invisible, moves the cursor, or turns the direction of writing is spelt, and
 * what is longer than `limit` is cut.
 */
export function visible(text: string, limit = 400): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    character === '\n' ? '⏎' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
