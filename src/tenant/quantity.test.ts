import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { amountOf, canonicalQuantity } from './quantity.ts';

// e2e/tenant-objects.test.ts compares these with a real API server.
test.each([
  ['10m', '10m'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['2', '2'],
  ['1000', '1k'],
  ['1000k', '1M'],
  ['1024', '1024'],
  ['32Mi', '32Mi'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Gi', '512Mi'],
  ['0.5Ki', '512'],
  ['1000Mi', '1000Mi'],
  ['1.0001Ki', '1024103m'],
  ['1n', '1m'],
  ['0', '0'],
  ['0Mi', '0'],
])('writes %s as %s', (written, canonical) => {
  expect(canonicalQuantity(written)).toBe(canonical);
});

test.each(['', '.', 'Mi', 'much', '1e3', '10 m', '007', '1.'])('does not change %p', (text) => {
  expect(canonicalQuantity(text)).toBe(text);
});

test('does not change canonical quantities', () => {
  const quantity = fc
    .tuple(
      fc.nat(1_000_000),
      fc.nat(999),
      fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'),
    )
    .map(([whole, fraction, unit]) => `${whole}.${fraction}${unit}`);

  fc.assert(
    fc.property(quantity, (text) => {
      const once = canonicalQuantity(text);

      expect(canonicalQuantity(once)).toBe(once);
    }),
  );
});

test.each<[string, number]>([
  ['2', 2],
  ['.5', 0.5],
  ['500m', 0.5],
  ['1e3', 1000],
  ['1E3', 1000],
  ['1E', 1e18],
  ['512Mi', 512 * 1024 * 1024],
  ['1.5Gi', 1536 * 1024 * 1024],
])('%s is %d', (text, amount) => {
  expect(amountOf(text)).toBe(amount);
});
