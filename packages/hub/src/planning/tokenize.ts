/**
 * Words of a text, as the hub's own indexes compare them. No language is known here: letters, digits, and the
 * commonest endings.
 *
 * By these words `planned-task` finds what the user told another app.
 */
import type { InstalledApp } from '@cordon/core';

/** Words of at least three letters without their commonest endings, so that `rides` finds `ride`. */
export function contentWords(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => word.replace(/(ing|es|s|e)$/, ''))
    .filter((word) => !STOP_WORDS.has(word));
}

/** The words of a name: `travel-mate`, `travel_mate` and `travelMate` are the same two. */
export function nameWords(name: string): readonly string[] {
  const parts = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? [];
  return parts.map((part) => part.toLowerCase());
}

/** Descriptions speak of whom an app serves; one that is about users says so otherwise. */
const WHOM_IT_SERVES = /\bthe user(?:['’]s)?\b/giu;

/** The words that say what an app is for. */
export function describedWords(text: string): readonly string[] {
  return contentWords(text.replace(WHOM_IT_SERVES, ' '));
}

/** The words by which an app is known: its name, and what the user's configuration says of it. */
export function vettedWords({ id, manifest }: InstalledApp): ReadonlySet<string> {
  const served = manifest.functionalities.flatMap(({ name, description }) => [name, description]);
  return new Set(describedWords([id, ...nameWords(id), manifest.description ?? '', ...served].join(' ')));
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  'the and for with that this from use you your what are can app please all'.split(' '),
);
