/**
 * Quantities of resources as an API server writes them, whatever way a person does: what is read back has to equal what
 * was written.
 */

const FORM = /^(0|[1-9]\d*)?(?:\.(\d+))?([numkMGTPE]|[KMGTPE]i)?$/;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** Of the unit `n` in one. */
const NANOS = 10n ** 9n;

/**
 * `0.5` is `500m`, `1024Mi` is `1Gi`, `1000m` is `1`. What is written in another way, `1e3` or `007`, stays as it is, as
 * it does on a server.
 */
export function canonicalQuantity(text: string): string {
  const [, whole = '', fraction = '', suffix = ''] = FORM.exec(text) ?? [];
  if (whole + fraction === '') return text;
  const power = suffix.endsWith('i') ? BINARY.findIndex((unit) => unit === suffix) : 0;
  const scale =
    power > 0
      ? 1024n ** BigInt(power) * NANOS
      : 1000n ** BigInt(DECIMAL.findIndex((unit) => unit === suffix));
  const nanos = divideUp(BigInt(whole + fraction) * scale, 10n ** BigInt(fraction.length));
  // A server knows thousandths, and powers of two where they come out even.
  const millis = divideUp(nanos, 10n ** 6n);
  const ones = millis / 1000n;
  return power > 0 && ones >= 1024n && millis % 1000n === 0n
    ? inUnits(ones, 1024n, BINARY)
    : inUnits(millis, 1000n, DECIMAL.slice(2));
}

/** A quantity as a number, however it is written: close enough to tell which of two is more. */
export function amountOf(text: string): number {
  const [, number = '', suffix = ''] = /^([\d.]+)([numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  // With an exponent, `1e3`, it is a number as JavaScript has them.
  if (number === '') return Number(text);
  const power = BINARY.findIndex((unit) => unit === suffix);
  return power > 0
    ? Number(number) * 1024 ** power
    : Number(number) * 1000 ** (DECIMAL.findIndex((unit) => unit === suffix) - 3);
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}

/** With the largest unit that leaves a whole number. */
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
