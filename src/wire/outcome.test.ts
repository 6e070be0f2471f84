import { expect, test } from 'bun:test';
import { ALERTS } from './alert.ts';
import { alertFor, HELLO_REFUSALS, PROXY_REFUSALS, TENANT_REFUSALS } from './outcome.ts';
import type { HelloRefusal } from './outcome.ts';

const helloCodes = Object.keys(HELLO_REFUSALS) as HelloRefusal[];
const codes = [...helloCodes, ...Object.keys(PROXY_REFUSALS), ...Object.keys(TENANT_REFUSALS)];

test('every code can be the reason of a condition and a metric label', () => {
  for (const code of codes) expect(code).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
});

test('no code has two meanings', () => {
  expect(new Set(codes).size).toBe(codes.length);
});

test('every refused hello is answered by an alert, but for bytes that are not TLS', () => {
  for (const code of helloCodes) {
    const alert = alertFor(code);
    if (code === 'not_tls') expect(alert).toBeUndefined();
    else expect(ALERTS).toHaveProperty(alert!);
  }
});
