/**
 * Numbers that are issued to persons, and accounts: one row a form. A row is tried where a number begins, and says for how
 * sure it is alone, and how sure beside a word that announces it: nine digits are a tax number where someone says so.
 */
import {
  australianTax,
  bsn,
  chineseResident,
  cnpj,
  codiceFiscale,
  cpf,
  curp,
  deaNumber,
  ean13,
  finnish,
  frenchNir,
  germanPension,
  germanTax,
  koreanResident,
  luhn,
  mod97,
  nhs,
  pesel,
  singaporeLetter,
  spanishLetter,
  verhoeff,
} from './check-digits.ts';

export interface NumberForm {
  readonly kind: string;
  /** Sticky, from the first letter or digit. */
  readonly pattern: RegExp;
  /** Gets the match without blanks and punctuation, in capitals. */
  readonly isValid: (compact: string) => boolean;
  /** Confidence where no word announces it, and where one does. */
  readonly alone: number;
  readonly announced: number;
  readonly announcing: RegExp | null;
}

const GAP = '[ \\u00a0-]?';
/** A month and a day of it. */
const DATE = '(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])';

function form(
  kind: string,
  pattern: string,
  isValid: NumberForm['isValid'],
  [alone, announced]: readonly [number, number],
  announcing: RegExp | null = null,
): NumberForm {
  return {
    kind,
    pattern: new RegExp(`${pattern}(?![A-Za-z0-9])`, 'y'),
    isValid,
    alone,
    announced,
    announcing,
  };
}

const ALWAYS = () => true;

/** By country: the length of an IBAN (registry of SWIFT). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((one) => [one.slice(0, 2), Number(one.slice(2))]),
);

export function ibanLength(country: string): number | null {
  return Object.hasOwn(IBAN_LENGTHS, country) ? (IBAN_LENGTHS[country] ?? null) : null;
}

export function isIban(compact: string): boolean {
  return (
    compact.length === ibanLength(compact.slice(0, 2)) && mod97(compact.slice(4) + compact.slice(0, 4)) === 1
  );
}

/** First digits and lengths of the networks that issue cards. */
const CARDS =
  /^(?:4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d{4}|222[1-9]\d{2}|22[3-9]\d{3}|2[3-6]\d{4}|27[01]\d{3}|2720\d{2})\d{10}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|4[4-9]\d|5\d{2})\d{12}(?:\d{3})?|35(?:2[89]|[3-8]\d)\d{12}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}|62\d{14,17}|(?:81|82|508|60|65)\d{13,14}|220[0-4]\d{12})$/;

function isCard(compact: string): boolean {
  return CARDS.test(compact) && luhn(compact) && !/^(\d)\1+$/.test(compact);
}

function isSocialSecurity(compact: string): boolean {
  const [area, group, serial] = [compact.slice(0, 3), compact.slice(3, 5), compact.slice(5)];
  if (area === '000' || area === '666' || area.startsWith('9')) return false;
  // Printed in advertisements, and typed by everybody who needs nine digits.
  if (/^(?:078051120|219099999|123456789|987654321)$/.test(compact)) return false;
  return group !== '00' && serial !== '0000';
}

/** `sin` and `nas` are ordinary words of Spanish and Portuguese: they announce what stands right behind them. */
const SIN =
  /\b(?:sin|nas)(?: (?:no|nr|number|is|est)\b){0,3}[\s.:#(-]{0,4}$|social insurance|assurance sociale/;

/** What stands right before the number of a bank account of the United States, which has no fixed form. */
const US_BANK =
  /\b(?:(?:bank|checking|savings)(?: account| acct\.?)?|(?:account|acct\.?)(?= ?(?:n|#)))(?: ?(?:no\.?|nr\.?|number|#))?(?: is)?[\s:=-]{1,4}$/;

/** Those that begin with a digit. */
export const DIGITS_FIRST: readonly NumberForm[] = [
  form('CREDIT_CARD', '\\d{4}([ \\u00a0-]?)\\d{4}\\1\\d{4}\\1\\d{1,4}(?:\\1\\d{1,3})?', isCard, [0.9, 1]),
  form('CREDIT_CARD', '\\d{4}([ \\u00a0-]?)\\d{6}\\1\\d{4,5}', isCard, [0.9, 1]),
  form('US_SSN', '\\d{3}([- ])\\d{2}\\1\\d{4}', isSocialSecurity, [0.85, 0.95], /ssn|social|security|tax/),
  form('US_SSN', '\\d{9}', isSocialSecurity, [0, 0.7], /ssn|social.{0,3}security/),
  form(
    'US_ITIN',
    '9\\d{2}([- ])(?:5\\d|6[0-5]|7\\d|8[0-8]|9[0-24-9])\\1\\d{4}',
    ALWAYS,
    [0.7, 0.9],
    /itin|taxpayer|tax/,
  ),
  form('UK_NHS', '\\d{3}([- ])\\d{3}\\1\\d{4}', nhs, [0.4, 0.95], /nhs|health|patient/),
  form('UK_NHS', '\\d{10}', nhs, [0, 0.9], /nhs/),
  form('US_BANK_NUMBER', '\\d{8,17}', ALWAYS, [0, 0.6], US_BANK),
  form('DE_TAX_ID', '[1-9]\\d([ ])\\d{3}\\1\\d{3}\\1\\d{3}', germanTax, [0.9, 1], null),
  form('DE_TAX_ID', '[1-9]\\d{10}', germanTax, [0.3, 0.95], /steuer|tax|idnr|tin\b|identifikation/),
  form(
    'DE_SOCIAL_SECURITY',
    '\\d{2}[ ]?\\d{6}[ ]?[A-Za-z][ ]?\\d{3}',
    germanPension,
    [0.6, 0.95],
    /renten|sozial|versicherung|rvnr|svnr|social|pension/,
  ),
  form(
    'FR_NIR',
    `[12]${GAP}\\d{2}${GAP}(?:0[1-9]|1[0-2]|[2-9]\\d)${GAP}(?:\\d{2}|2[AB])${GAP}\\d{3}${GAP}\\d{3}${GAP}\\d{2}`,
    frenchNir,
    [0.8, 1],
    /s[ée]cu|nir\b|insee|social/,
  ),
  form('ES_NIF', '\\d{8}[ -]?[A-Za-z]', spanishLetter, [0.85, 1], /dni|nif|documento/),
  form('NL_BSN', '\\d{9}', bsn, [0, 0.95], /bsn|burger|sofi|citizen/),
  form('NL_BSN', '\\d{4}([. ])\\d{2}\\1\\d{3}', bsn, [0.5, 0.95], /bsn|burger|sofi|citizen/),
  form('PL_PESEL', '\\d{11}', pesel, [0.3, 0.95], /pesel|identyfikac|polish|poland/),
  form('IN_AADHAAR', '[2-9]\\d{3}([ -])\\d{4}\\1\\d{4}', verhoeff, [0.85, 1], /aadhaar|aadhar|uidai|आधार/),
  form('IN_AADHAAR', '[2-9]\\d{11}', verhoeff, [0, 0.95], /aadhaar|aadhar|uidai|आधार/),
  form('BR_CPF', '\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}', cpf, [0.95, 1]),
  form('BR_CPF', '\\d{11}', cpf, [0.3, 0.95], /cpf|pessoa/),
  form('BR_CNPJ', '\\d{2}\\.\\d{3}\\.\\d{3}/\\d{4}-\\d{2}', cnpj, [0.95, 1]),
  form('CA_SIN', '\\d{3}([- ])\\d{3}\\1\\d{3}', luhn, [0.4, 0.95], SIN),
  form('CA_SIN', '\\d{9}', luhn, [0, 0.95], SIN),
  form('AU_TFN', '\\d{3} ?\\d{3} ?\\d{3}', australianTax, [0, 0.95], /tfn|tax file/),
  form('CN_RESIDENT_ID', `[1-9]\\d{5}(?:19|20)\\d{2}${DATE}\\d{3}[\\dXx]`, chineseResident, [0.95, 1]),
  form('KR_RRN', `\\d{2}${DATE}-[1-8]\\d{6}`, koreanResident, [0.85, 1]),
  form('CH_AHV', '756\\.\\d{4}\\.\\d{4}\\.\\d{2}', ean13, [0.95, 1]),
  form(
    'SE_PERSONAL_NUMBER',
    `(?:19|20)?\\d{2}${DATE}[-+]\\d{4}`,
    (compact) => luhn(compact.slice(-10)),
    [0.7, 1],
    /person/,
  ),
  form(
    'FI_PERSONAL_IDENTITY_CODE',
    '(?:0[1-9]|[12]\\d|3[01])(?:0[1-9]|1[0-2])\\d{2}[-+A-FU-Y]\\d{3}[0-9A-Y]',
    finnish,
    [0.85, 1],
  ),
];

/** Those that begin with letters. */
export const LETTERS_FIRST: readonly NumberForm[] = [
  form(
    'UK_NINO',
    `(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-Da-d]`,
    ALWAYS,
    [0.8, 0.95],
    /national insurance|nino|\bni\b/,
  ),
  form(
    'MEDICAL_LICENSE',
    '[ABCDEFGHJKLMPRSTUXabcdefghjklmprstux][A-Za-z9]\\d{7}',
    deaNumber,
    [0.4, 0.95],
    /\bdea\b|medical licen|prescri|practitioner|physician/,
  ),
  form('ES_NIE', '[XYZxyz]-?\\d{7}-?[A-Za-z]', spanishLetter, [0.9, 1], null),
  form(
    'IT_FISCAL_CODE',
    '[A-Za-z]{6}\\d{2}[A-EHLMPR-Ta-ehlmpr-t]\\d{2}[A-Za-z]\\d{3}[A-Za-z]',
    codiceFiscale,
    [0.95, 1],
  ),
  form(
    'IN_PAN',
    '[A-Z]{3}[ABCFGHLJPT][A-Z]\\d{4}[A-Z]',
    ALWAYS,
    [0.65, 0.95],
    /\bpan\b|income tax|permanent account/,
  ),
  form('SG_NRIC_FIN', '[STFGM]\\d{7}[A-Z]', singaporeLetter, [0.9, 1], null),
  form('MX_CURP', `[A-Z]{4}\\d{2}${DATE}[HMX][A-Z]{5}[A-Z0-9]\\d`, curp, [0.95, 1]),
];

/** `compact` of a match. */
export function compactOf(match: string): string {
  return match.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
}
