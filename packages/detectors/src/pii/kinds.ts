/** The kinds of personal data that rules can ask for; named as Presidio names them where it has them. */

/** Kinds that are names: found by what words mean, not by their form. */
export const NAMED_KINDS: readonly string[] = ['PERSON', 'LOCATION', 'ORGANIZATION'];

/** Alone they say nothing of a person, and most texts hold some: found only where a rule names them. */
export const GENERAL_KINDS: readonly string[] = ['DATE_TIME', 'NRP', 'URL'];

const ISSUED =
  'AU_TFN BR_CNPJ BR_CPF CA_SIN CH_AHV CN_RESIDENT_ID CREDIT_CARD DE_SOCIAL_SECURITY DE_TAX_ID ES_NIE ES_NIF FI_PERSONAL_IDENTITY_CODE FR_NIR IBAN_CODE IN_AADHAAR IN_PAN IT_FISCAL_CODE KR_RRN MEDICAL_LICENSE MX_CURP NL_BSN PASSPORT PL_PESEL SE_PERSONAL_NUMBER SG_NRIC_FIN UK_NHS UK_NINO US_BANK_NUMBER US_DRIVER_LICENSE US_ITIN US_PASSPORT US_SSN';

export const KINDS: ReadonlySet<string> = new Set([
  ...['ADDRESS', 'CRYPTO', 'DATE_OF_BIRTH', 'EMAIL_ADDRESS', 'IP_ADDRESS', 'MAC_ADDRESS', 'PHONE_NUMBER'],
  ...ISSUED.split(' '),
  ...NAMED_KINDS,
  ...GENERAL_KINDS,
]);
