/** Returns the age of something as kubectl does: `5s`, `3m`, `2h`, `8d`; `-` if it is not known. */
export function ageText(since: string | undefined, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(since ?? '')) / 1000);
  if (Number.isNaN(seconds)) return '-';
  const { count, unit } = UNITS.reduce(
    (larger, one) => (seconds >= one.seconds ? { ...one, count: seconds / one.seconds } : larger),
    { unit: 's', count: Math.max(0, seconds) },
  );
  return `${Math.floor(count)}${unit}`;
}

const UNITS: readonly { readonly unit: string; readonly seconds: number }[] = [
  { unit: 'm', seconds: 60 },
  { unit: 'h', seconds: 3600 },
  { unit: 'd', seconds: 86_400 },
];
