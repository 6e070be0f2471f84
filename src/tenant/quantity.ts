/**
 * Resource quantities in the form in which the API server returns them, so that a read returns what was written.
 */

const QUANTITY = /^(0|[1-9]\d*)?(?:\.(\d+))?([numkMGTPE]|[KMGTPE]i)?$/;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** The canonical form is computed in nanos, the smallest unit. */
const NANOS_PER_UNIT = 10n ** 9n;

/**
 * Returns the canonical form: `0.5` is `500m`, `1024Mi` is `1Gi`, `1000m` is `1`. The API server keeps other forms,
 * such as `1e3` and `007`, unchanged.
 */
export function canonicalQuantity(text: string): string {
  const [, whole = '', fraction = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  if (whole + fraction === '') return text;
  const power = suffix.endsWith('i') ? BINARY.findIndex((unit) => unit === suffix) : 0;
  const scale =
    power > 0
      ? 1024n ** BigInt(power) * NANOS_PER_UNIT
      : 1000n ** BigInt(DECIMAL.findIndex((unit) => unit === suffix));
  const nanos = divideUp(BigInt(whole + fraction) * scale, 10n ** BigInt(fraction.length));
  // The API server rounds up to thousandths, and keeps powers of two if the amount is a whole number.
  const millis = divideUp(nanos, 10n ** 6n);
  const units = millis / 1000n;
  return power > 0 && units >= 1024n && millis % 1000n === 0n
    ? inUnits(units, 1024n, BINARY)
    : inUnits(millis, 1000n, DECIMAL.slice(2));
}

/** Returns the value of a quantity in any form. It is precise enough to compare two quantities. */
export function amountOf(text: string): number {
  const [, number = '', suffix = ''] = /^([\d.]+)([numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  // JavaScript parses the exponent of `1e3`.
  if (number === '') return Number(text);
  const power = BINARY.findIndex((unit) => unit === suffix);
  return power > 0
    ? Number(number) * 1024 ** power
    : Number(number) * 1000 ** (DECIMAL.findIndex((unit) => unit === suffix) - 3);
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}

/** Formats an amount with the largest unit in which it is a whole number. */
function inUnits(amount: bigint, step: bigint, units: readonly string[]): string {
  if (amount === 0n) return '0';
  let rest = amount;
  let unit = 0;
  while (rest % step === 0n && unit < units.length - 1) {
    rest /= step;
    unit++;
  }
  return `${rest}${units[unit]}`;
}
