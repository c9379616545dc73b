/**
 * Wordings that an honest description has no use for. Servers of good faith say "call list_accounts first", "you must
 * pass a date", "the password of the user": each pattern needs more than an order or a noun, namely something that lies
 * outside of the tool: the conversation, keys, a stranger's address, other tools, or silence towards the user.
 *
 * They match plain text: small letters, one space for each blank. Every gap is bounded, so the time is linear.
 */
import type { DescriptionFinding } from '@cordon/console/review';

export interface Wording {
  readonly kind: DescriptionFinding['kind'];
  readonly pattern: RegExp;
}

/** What the signs of a pattern stand for: a gap, up to five words, and anything up to the end of the sentence. */
const SHORTHAND: readonly (readonly [string, string])[] = [
  ['~', '[ ,:;\'"*_`-]{1,8}'],
  ['…', '(?:[a-z]{1,20}[ ,]{1,4}){0,5}?'],
  ['≈', '(?:[^.!?]|[.!?](?! )){0,120}?'],
];

function patternOf(text: string): RegExp {
  return new RegExp(
    SHORTHAND.reduce((source, [sign, meaning]) => source.replaceAll(sign, meaning), text),
    'gu',
  );
}

/** "Do not include …" asks for nothing. */
const NOT_DENIED = "(?<!\\b(?:not|never|avoid|without|don't|don’t) )";
const HANDS_OVER = `${NOT_DENIED}\\b(?:paste|include|pass|send|forward|copy|append|attach|provide|submit|put|insert|embed|upload|collect|gather)`;
const SENDS =
  '\\b(?:send|sends|forward|forwards|post|posts|upload|uploads|submit|submits|copy|copies|e-?mail|mail|report|share|deliver|write|go|goes|transmit)';
const SECRET =
  '(?:passwords?|api~?keys?|secret~keys?|private~keys?|access~tokens?|credentials|ssh~keys?|credit~cards?)';
const READS =
  '(?:read|reads|open|load|fetch|get|cat|pass|send|include|forward|upload|copy|append|attach|return)';
/** Nobody can receive mail at the domains that are kept for examples. */
const STRANGER =
  '(?:(?:https?|ftp|wss?|data)://?[^ <>"\']{3,200}|[a-z0-9._%+-]{1,64}@(?!example\\.(?:com|org|net)(?!\\.?[a-z0-9-]))[a-z0-9.-]{1,100}\\.[a-z]{2,10}\\b)';
const TAGS = '(?:important|system|instruction|instructions|assistant|admin|secret)';

const SAID: Readonly<Partial<Record<Wording['kind'], readonly string[]>>> = {
  instruction: [
    '\\b(?:ignore|disregard|forget|override|bypass)~…(?:previous|prior|above|earlier|all|any|other|system|everything)~…(?:instruction|rule|prompt|message|direction|polic|guideline|tool|safety|told|before)[a-z]{0,6}',
    '\\b(?:disregard|forget)~…(?:rules|instructions|guidelines)~…(?:above|before)\\b',
    '\\bbefore~(?:(?:using|calling|invoking|running)~)?(?:any|every|all|each)~(?:other~)?(?:tools?|functions?|apps?|plugins?|servers?|requests?|queries|answers?|responses?|messages?|file~operations?)\\b',
    "\\b(?:never|do~not|don't|don’t|must~not)~…(?:use|call|invoke|prefer)~…other~(?:tools?|apps?|servers?|functions?|plugins?)\\b",
    '\\b(?:always|must|for~any|for~every)~(?:be~)?(?:call|called|use|used|invoke|invoked|run)~(?:this~(?:tool|function)|it)~first\\b',
    '\\b(?:modif(?:y|ies)|changes?|alters?|overrides?)~…behaviou?rs?~of~(?:(?:any|every|all|each|other|another)~(?:[a-z_]{1,30} ){0,2}|the~(?:[a-z_]{1,30} ){1,2})(?:tools?|plugins?)\\b',
    '\\b(?:whenever|when|each~time|every~time)~…(?:use|call|invoke|run|using|calling)~(?:any|every|another|all)~…(?:tool|function|app|server|plugin)s?\\b',
    `</?${TAGS}>|<${TAGS}\\b|<!--`,
    '<\\|(?:system|user|assistant|im_start|im_end|end)|\\[/?inst\\]|### ?instructions?:|\\[(?:hidden|secret)\\b',
    '\\b(?:system~(?:annotation|note|instruction|override)s?\\b|absolute~mandate|developer~mode~(?:on|enabled|active)|new~instructions\\b)',
    '\\byou~are~(?:now~…(?:an?|the|in)\\b|compelled|obliged)',
    '\\bthe~user~(?:has~)?already~(?:approved|agreed|consented|confirmed|allowed|authori[sz]ed)\\b',
  ],
  secrecy: [
    "\\b(?:do~not|don't|don’t|never|without)~…(?:tell|mention|inform|notify|reveal|disclose|warn|alert|telling|mentioning|informing|notifying|warning|alerting)~…(?:user|users|this|that|them|anyone|human|person|it|file)\\b",
    "\\b(?:do~not|don't|don’t|never)~…(?:ask|show)~(?:this~to~)?(?:the~|any~)?(?:user|human|person|anyone)~(?:for~(?:confirmation|permission|consent|approval)|this|what|that)\\b",
    '\\b(?:secretly|covertly|hide~this~from|keep~…secret|confidential~instruction)\\b',
    '\\b(?:silently|quietly|discreetly|unseen)~…(?:send|forward|copy|post|upload|call|read|add|include|append)\\b',
  ],
  'wide-request': [
    `${HANDS_OVER}≈\\b(?:the|this|your|our|all|full|entire|whole|complete)~(?:(?:full|entire|whole|complete|current|previous|user's|chat)~){0,2}(?:conversation|chat~history|message~history|previous~messages|system~prompt|chain~of~thought)\\b(?!~(?:ids?|threads?|names?|types?|keys?|urls?|members?)\\b)`,
    '\\b(?:full|entire|whole|complete)~(?:(?:chat|conversation|message)~){1,2}(?:so~far|with~the~user|including)',
    '\\byour~(?:own~)?(?:system|initial)~(?:prompt|instructions)\\b',
    '\\.ssh\\b|\\bid_(?:rsa|ed25519)\\b|\\.aws/credentials|\\.cursor/|/etc/(?:passwd|shadow)\\b|\\.netrc\\b|\\.git-credentials\\b|\\.bash_history\\b',
    '\\b(?:sends?|forwards?|posts?|uploads?|e-?mails?|mails?|transmits?|delivers?)~(?:an?~)?(?:[a-z]{1,20} )?cop(?:y|ies)~of~(?:each|every|all|any|everything|whatever)\\b≈\\bto~(?:the|our|my|an?)~…(?:service|server|endpoint|address|account|mailbox|webhook|url)\\b',
    `\\b${READS}≈\\.env\\b`,
    `${HANDS_OVER}~(?:all|any|every|whatever|other|the~user's)~…${SECRET}\\b`,
    "(?<!\\b(?:not|never|avoid|without|don't|don’t) (?:[a-z]{1,20} ){0,2})\\b(?:any|all|every|whatever)~…(?:personal|private|sensitive|recorded|known)~…(?:information|data|details|fact|facts)\\b",
  ],
  address: [
    `${SENDS}\\b≈\\b(?:to|at|via)[ :]{1,2}(?:the (?:address|server|endpoint|url) )?${STRANGER}`,
    `\\bb?cc~${STRANGER}`,
    `!\\[[^\\]]{0,80}\\]\\(https?:`,
  ],
};

export const WORDINGS: readonly Wording[] = (
  Object.entries(SAID) as [Wording['kind'], readonly string[]][]
).flatMap(([kind, texts]) => texts.map((text) => ({ kind, pattern: patternOf(text) })));
