/** The general categories of Unicode, by which rules name kinds of characters. */
export const CATEGORY_NAMES: readonly string[] =
  'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn'.split(' ');
