/** The version of this package, as `--version` and `cordon doctor` say it. */
export const VERSION = '0.1.0';
