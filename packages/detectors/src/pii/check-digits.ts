/** Check digits of numbers that are issued to persons: what a mistyped or invented number seldom has. */

function digitsOf(text: string): readonly number[] {
  return [...text].map(Number);
}

function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * (digits[at] ?? 0), 0);
}

/** ISO/IEC 7812: payment cards, Canada's social insurance number, Sweden's personal number. */
export function luhn(number: string): boolean {
  let sum = 0;
  for (const [at, digit] of digitsOf(number).toReversed().entries()) {
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 7064, MOD 97-10: IBAN. Letters count as 10 to 35. */
export function mod97(text: string): number {
  let rest = 0;
  for (const one of text) {
    const value = Number.parseInt(one, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/** ISO 7064, MOD 11,10: Germany's tax number. */
function mod11And10(number: string): boolean {
  let product = 10;
  for (const digit of digitsOf(number.slice(0, -1))) {
    const sum = (digit + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  const check = 11 - product;
  return (check === 10 ? 0 : check) === Number(number.at(-1));
}

const DIHEDRAL = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
].map(digitsOf);
const PERMUTED = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
].map(digitsOf);

/** Verhoeff: India's Aadhaar. */
export function verhoeff(number: string): boolean {
  let check = 0;
  for (const [at, digit] of digitsOf(number).toReversed().entries())
    check = DIHEDRAL[check]?.[PERMUTED[at % 8]?.[digit] ?? 0] ?? 0;
  return check === 0;
}

/** The digits, each times its weight, have a sum that the modulus divides. */
function weightedSum(number: string, weights: readonly number[], modulus: number): boolean {
  return weighted(digitsOf(number), weights) % modulus === 0;
}

/** United Kingdom, health service: ten digits, modulo 11. */
export function nhs(number: string): boolean {
  return weightedSum(number, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11) && !isOneDigit(number);
}

/** Netherlands: nine digits, the *elfproef*. */
export function bsn(number: string): boolean {
  return weightedSum(number, [9, 8, 7, 6, 5, 4, 3, 2, -1], 11) && !isOneDigit(number);
}

/** Poland: eleven digits, the first six a day. */
export function pesel(number: string): boolean {
  if (!weightedSum(number, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10)) return false;
  const month = Number(number.slice(2, 4)) % 20;
  const day = Number(number.slice(4, 6));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/** Germany, taxes: one of the first ten digits is there twice or thrice, no more than one is. */
export function germanTax(number: string): boolean {
  if (number.startsWith('0') || !mod11And10(number)) return false;
  const counts = new Map<string, number>();
  for (const digit of number.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 0) <= 3;
}

/** Germany, pension insurance: the letter counts as its two-digit place in the alphabet. */
export function germanPension(number: string): boolean {
  const letter = (number.codePointAt(8) ?? 0) - 64;
  const digits = digitsOf(`${number.slice(0, 8)}${String(letter).padStart(2, '0')}${number.slice(9, 11)}`);
  let sum = 0;
  for (const [at, weight] of [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1].entries()) {
    const product = weight * (digits[at] ?? 0);
    sum += Math.floor(product / 10) + (product % 10);
  }
  return sum % 10 === Number(number.at(-1));
}

/** France: the last two digits are 97 less the rest; Corsica's letters count as digits. */
export function frenchNir(number: string): boolean {
  const body = number.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return 97 - Number(BigInt(body) % 97n) === Number(number.slice(13));
}

const SPANISH = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** Spain: the letter is the number modulo 23; foreigners' first letter counts as 0, 1 or 2. */
export function spanishLetter(id: string): boolean {
  const number = id.slice(0, -1).replace(/^[XYZ]/, (one) => String('XYZ'.indexOf(one)));
  return SPANISH[Number(number) % 23] === id.at(-1);
}

const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Italy: fifteen characters by their places, and a letter. */
export function codiceFiscale(code: string): boolean {
  let sum = 0;
  for (const [at, one] of [...code.slice(0, 15)].entries()) {
    const value = /\d/.test(one) ? Number(one) : (one.codePointAt(0) ?? 0) - 65;
    sum += at % 2 === 0 ? (ODD[value] ?? 0) : value;
  }
  return sum % 26 === (code.codePointAt(15) ?? 0) - 65;
}

function modulo11(digits: readonly number[], weights: readonly number[]): number {
  const rest = weighted(digits, weights) % 11;
  return rest < 2 ? 0 : 11 - rest;
}

/** Brazil, persons: two check digits. */
export function cpf(number: string): boolean {
  return hasTwoCheckDigits(number, [10, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/** Brazil, companies: two check digits. */
export function cnpj(number: string): boolean {
  return hasTwoCheckDigits(number, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/** The second one checks the first, too. */
function hasTwoCheckDigits(number: string, weights: readonly [number, ...number[]]): boolean {
  const digits = digitsOf(number);
  const first = modulo11(digits, weights);
  const second = modulo11(digits, [weights[0] + 1, ...weights]);
  const [one, other] = digits.slice(weights.length);
  return first === one && second === other && !isOneDigit(number);
}

/** China, residents: ISO 7064, MOD 11-2, the last character may be X; within it a day. */
export function chineseResident(id: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
  return '10X98765432'[weighted(digitsOf(id.slice(0, 17)), weights) % 11] === id.at(-1);
}

/** Korea, residents. */
export function koreanResident(number: string): boolean {
  const sum = weighted(digitsOf(number), [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
  return (11 - (sum % 11)) % 10 === Number(number.at(-1));
}

/** Singapore: a letter that depends on the digits and on the first letter. */
export function singaporeLetter(id: string): boolean {
  const sum = weighted(digitsOf(id.slice(1, 8)), [2, 7, 6, 5, 4, 3, 2]);
  const first = id[0] ?? '';
  const table = /[ST]/.test(first) ? 'JZIHGFEDCBA' : first === 'M' ? 'KLJNPQRTUWX' : 'XWUTRQPNMLK';
  return table[(sum + (/[TG]/.test(first) ? 4 : first === 'M' ? 3 : 0)) % 11] === id.at(-1);
}

/** Switzerland: EAN-13. */
export function ean13(number: string): boolean {
  return weightedSum(number, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1], 10);
}

/** Australia, taxes: nine digits. */
export function australianTax(number: string): boolean {
  return weightedSum(number, [1, 4, 3, 7, 5, 8, 6, 9, 10], 11) && !isOneDigit(number);
}

/** Finland: day, century sign, number, and a character that is both numbers modulo 31. */
export function finnish(code: string): boolean {
  const number = Number(code.slice(0, 6) + code.slice(-4, -1));
  return '0123456789ABCDEFHJKLMNPRSTUVWXY'[number % 31] === code.at(-1);
}

const CURP = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';

/** Mexico: seventeen characters by their places, and a digit. */
export function curp(code: string): boolean {
  let sum = 0;
  for (const [at, one] of [...code.slice(0, 17)].entries()) sum += CURP.indexOf(one) * (18 - at);
  return (10 - (sum % 10)) % 10 === Number(code.at(-1));
}

function isOneDigit(number: string): boolean {
  return /^(\d)\1*$/.test(number);
}

/** The number of the United States’ Drug Enforcement Administration: two letters, six digits, and a check digit. */
export function deaNumber(number: string): boolean {
  const digits = digitsOf(number.slice(2));
  return weighted(digits, [1, 2, 1, 2, 1, 2]) % 10 === digits[6];
}
