/**
 * Whether something that was hidden says anything: a marker of a template, a hash or a picture does not, a sentence
 * does. Everything here looks at a bounded part or passes once.
 */

const WORD = /\p{L}[\p{L}\p{M}'’]+/gu;
/** Scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu;
const UNSPACED_A_WORD = 2;
const READ = 4_000;

/** Words that turn a few words into an order to an agent; in the languages that models are most often spoken to. */
const DIRECTIVE =
  /\b(?:ignore|disregard|forget|override|bypass|instead|instructions?|prompt|system|assistant|agent|model|ai|llm|gpt|send|forward|e-?mail|transfer|wire|pay|upload|post|share|reveal|leak|delete|remove|execute|run|call|curl|wget|password|passphrase|secret|token|key|credentials?|admin|ignorier\w*|vergiss|anweisung\w*|sende|ignorez|oublie\w*|envoie\w*|ignora\w*|olvida\w*|env[ií]a\w*|instru[cç]\w*|negeer|wyślij|zignoruj|yoksay|gönder)\b|игнориру|забудь|отправь|инструкци|忽略|指令|发送|無視|指示|送信|무시|지시|تجاهل|التعليمات|अनदेखा|निर्देश/iu;
const ADDRESS = /https?:\/\/|www\.|[\w.]@[\w-]+\.\w/i;

export function wordsIn(text: string): number {
  const read = text.slice(0, READ);
  const spaced = read.match(WORD)?.length ?? 0;
  const unspaced = read.match(UNSPACED)?.length ?? 0;
  return Math.max(spaced, Math.floor(unspaced / UNSPACED_A_WORD));
}

/** A sentence, or a short order or address: what someone wrote to be read. */
export function saysSomething(text: string): boolean {
  const words = wordsIn(text);
  if (words >= 6) return true;
  const read = text.slice(0, READ);
  return (words >= 2 && DIRECTIVE.test(read)) || (words >= 1 && ADDRESS.test(read));
}

const READABLE = /[\p{L}\p{M}\p{N}\p{P}\p{Zs}\p{Sc}\p{Sm}\p{So}\n\r\t]/u;
const LETTERS = /[\p{L}\p{M}\p{N} ]/gu;
const WORDS_IN_A_ROW = /\p{L}{2,}[,;:.!?]? \p{L}+/u;
const SENTENCE = /(?:\p{L}{1,24}[,;:]?[ \n]){5}\p{L}/u;
const STRUCTURED = /^\s*(?:[[{<]|---|#!|\/\*|<\?)/;

/**
 * Decoded bytes that are a text in words. Configuration, markup and keys are decoded every day and are none, unless
 * a whole sentence is in them.
 */
export function isProse(text: string): boolean {
  const read = text.slice(0, READ);
  if (read.length < 4 || !isReadable(read)) return false;
  if (STRUCTURED.test(read)) return SENTENCE.test(read) && saysSomething(read);
  const letters = read.match(LETTERS)?.length ?? 0;
  if (letters < read.length * 0.7) return SENTENCE.test(read);
  return WORDS_IN_A_ROW.test(read) || wordsIn(read) >= 4 || saysSomething(read);
}

/** Whether all of it can be shown; a tenth of a text may be strange, because encodings are cut anywhere. */
export function isReadable(text: string): boolean {
  let strange = 0;
  let all = 0;
  for (const character of text) {
    all++;
    if (character === '\ufffd' || !READABLE.test(character)) strange++;
  }
  return all > 0 && strange <= Math.floor(all / 50);
}
