/**
 * Texts that somebody may not want said: insults, hatred of groups, threats, harm to oneself, sexual explicitness. By words
 * and turns of phrase, in English with a little German, French and Spanish: it finds what is said plainly and nothing that is only
 * meant, and has no list of slurs. Ring 1.
 */
import type { Finding } from '../finding.ts';

interface Turn {
  readonly category: string;
  readonly pattern: RegExp;
  readonly confidence: number;
}

const INSULT =
  'idiots?|morons?|imbeciles?|losers?|scum|pathetic|worthless|stupid|dumb|trash|garbage|useless|disgusting|filthy|ugly|retarded|pigs?|rats?|clowns?|bitch(?:es)?|bastards?|assholes?|jerks?|cretins?|fools?|cowards?|parasites?';
const GROUP =
  'immigrants?|migrants?|refugees?|foreigners?|muslims?|jews?|christians?|hindus?|women|men|gays?|lesbians?|homosexuals?|trans(?: people)?|blacks?(?: people)?|whites?(?: people)?|asians?|arabs?|africans?|mexicans?|gypsies|disabled people|old people|poor people|atheists?|(?:those|these|that) people';
const SUBHUMAN =
  'vermin|animals|subhuman|parasites|cockroaches|rats|pigs|a disease|a plague|scum|filth|inferior|criminals by nature|not human|less than human';
const KILL = 'kill|murder|shoot|stab|strangle|hurt|beat|burn|hang|slaughter|behead|cripple|end';

/** Of small letters. Between words; bounded, so that no text takes long. */
const turn = (category: string, confidence: number, source: string): Turn => ({
  category,
  confidence,
  pattern: new RegExp(
    source.replaceAll('~', '[\\s,]{1,4}').replaceAll('…', "(?:[\\p{L}']{1,20}[\\s,]{1,4}){0,3}?"),
    'gu',
  ),
});

const TURNS: readonly Turn[] = [
  turn('harassment', 0.9, `\\b(?:you|u|he|she|they)(?:~are|['’]re|~is|['’]s)~…(?:${INSULT})\\b`),
  turn('harassment', 0.9, `\\bwhat~an?~…(?:${INSULT})~(?:you|u|he|she|they)(?:~are|['’]re|~is|['’]s)\\b`),
  turn('harassment', 0.9, `\\byou~…(?:${INSULT})(?=[\\s.!,?]|$)`),
  turn(
    'harassment',
    0.85,
    '\\b(?:shut~(?:the~\\w{1,8}~)?up|go~to~hell|drop~dead|nobody~(?:likes|wants|loves)~you|fuck~(?:you|off|yourself)|screw~you|kiss~my~ass|get~lost~you)\\b',
  ),
  turn(
    'harassment',
    0.85,
    "\\b(?:du~(?:bist~)?…(?:idiot|arschloch|versager|trottel|depp|abschaum)|halt~(?:die~klappe|dein~maul)|verpiss~dich|espece~d['’](?:idiot|imbecile)|ferme~ta~gueule|eres~…(?:idiota|imbecil|estupido|basura)|hijo~de~puta|vete~a~la~mierda|connard|salope)\\b",
  ),
  turn('hate', 0.9, `\\b(?:all~|most~|these~|those~)?(?:${GROUP})~(?:are|were|is)~…(?:${SUBHUMAN})\\b`),
  turn(
    'hate',
    0.9,
    `\\b(?:${GROUP})~(?:should|must|ought~to|need~to|deserve~to)~…(?:be~)?(?:exterminated|eradicated|deported|killed|shot|gassed|eliminated|wiped~out|die|drown|suffer|burn|sterilised|sterilized|banned~from~(?:voting|existing))\\b`,
  ),
  turn(
    'hate',
    0.85,
    `\\b(?:i~hate|we~hate|death~to|get~rid~of|no~room~for|kill~all)~(?:all~|the~|every~)?(?:${GROUP})\\b`,
  ),
  turn(
    'hate',
    0.8,
    '\\bgo~back~to~(?:your~(?:own~)?(?:country|land|continent|village|people)|where~you~(?:came|come|belong)|the~jungle)\\b',
  ),
  turn(
    'violence',
    0.9,
    `\\b(?:i|we)(?:~will|['’]ll|~am~going~to|['’]m~(?:going~to|gonna)|~gonna|~want~to|~swear~i~will|~plan~to)~…(?:${KILL})~…(?:you|him|her|them|your~\\w{2,12}|everyone|everybody|people|my~\\w{2,12})\\b`,
  ),
  turn(
    'violence',
    0.85,
    "\\b(?:you~(?:will|are~going~to)~(?:die(?!~(?:laughing|of))|bleed|pay~with~your~life)|you['’]re~dead|watch~your~back|i~know~where~you~live|your~days~are~numbered|ich~bringe~dich~um|te~voy~a~matar|je~vais~te~tuer)\\b",
  ),
  turn('violence', 0.8, `\\b(?:somebody|someone|people)~should~(?:${KILL})~(?:him|her|them|you|that)\\b`),
  turn(
    'self-harm',
    0.9,
    "\\b(?:kill~(?:myself|yourself|herself|himself)|kys|end~my~(?:own~)?life|take~my~(?:own~)?life|hang~(?:myself|yourself)|cut(?:ting)?~(?:myself|my~wrists)|slit~(?:my|your)~wrists|commit~suicide|suicide~note|don['’]t~want~to~(?:live|be~alive)(?:~any ?more)?|better~off~dead|want~to~die|overdose~on~purpose|mich~umbringen|me~suicider|quitarme~la~vida)\\b",
  ),
  turn(
    'sexual',
    0.85,
    '\\b(?:blow ?jobs?|hand ?jobs?|porn(?:o|hub|ography)?|cum~(?:on|in)|hardcore~sex|suck~my~\\w{2,6}|send~(?:me~)?(?:your~)?nudes?|naked~(?:pictures|photos|pics)~of|horny|masturbat(?:e|es|ed|ing|ion)|orgasms?|anal~sex|oral~sex|threesome|gangbang|cock~in|wet~pussy|explicit~sex(?:ual)?~(?:scene|story))\\b',
  ),
  turn('sexual', 0.8, '\\b(?:have|had|having)~…sex~with~(?:me|you|her|him)\\b'),
];

/** Talk about such words: a report, a rule, a quotation. It weakens what is found, and does not hide it from a low threshold. */
const SPOKEN_OF =
  /\b(?:report(?:ed|s)?|policy|guidelines?|moderat(?:e|ed|ion|or)|quot(?:e|ed)|said that|is an offence|prohibit(?:s|ed)?|hotline|prevention|novel|film|movie|lyrics|study|research|dictionary|the word|means)\b/i;
const WEAKENED = 0.5;

/** Small letters without accents: turns are looked for in them, which is quicker than in letters of either case. */
function plainLetters(text: string): string {
  // The long s is no capital, and stands for an s all the same.
  const small = text.toLowerCase().replaceAll('\u017f', 's');
  return small.replace(BEYOND_ASCII, (letters) => letters.normalize('NFD').replace(/\p{M}/gu, ''));
}

/** From the first letter with an accent on. */
const BEYOND_ASCII = /[\u00c0-\uffff]+/g;

/** Linear in the text: each turn is looked for once, and has bounded gaps. */
export function findModerated(text: string): readonly Finding[] {
  const plain = plainLetters(text);
  // Without its accents a text may be shorter: then places are those of the whole.
  const isSame = plain.length === text.length;
  const isSpokenOf = SPOKEN_OF.test(text);
  return TURNS.flatMap(({ category, pattern, confidence }) =>
    [...plain.matchAll(pattern)].map(({ 0: said, index }) => ({
      kind: category,
      start: isSame ? index : 0,
      end: isSame ? index + said.length : text.length,
      confidence: isSpokenOf ? confidence * WEAKENED : confidence,
      reason: 'said in so many words',
    })),
  );
}
