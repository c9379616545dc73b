/** What programs write where an argument is left out. */
const NOTHING = /^(?:none|null)?$/i;
/** Names that programs give to what is the user's own, such as their account or calendar. */
const OWN = /^(?:default|primary|me|self)$/i;

/** Whether a value says nothing at all: `None`, an empty text. */
export function saysNothing(value: string): boolean {
  return NOTHING.test(value.trim());
}

/** Whether a value names nobody but the user, or nothing. */
export function namesNobody(value: string): boolean {
  return saysNothing(value) || OWN.test(value.trim());
}
