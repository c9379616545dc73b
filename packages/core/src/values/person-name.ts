/** Names of people as they are compared: by their words, in small letters, whatever stands between them. */

/** The words of a name: of `Miller, Dora` these are `miller` and `dora`. */
export function personWords(name: string): readonly string[] {
  const words = name
    .normalize('NFC')
    .toLowerCase()
    .split(/[\s,;()<>"]+/);
  return words.map((word) => word.replace(/\.$/, '')).filter((word) => word !== '');
}

/** The words one after the other. */
export function personName(name: string): string {
  return personWords(name).join(' ');
}
