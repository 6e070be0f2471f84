import { expect, test } from 'bun:test';
import { ALERTS } from './alert.ts';
import { alertFor, HELLO_REFUSALS, PROXY_REFUSALS, TENANT_REFUSALS } from './outcome.ts';
import type { HelloRefusal } from './outcome.ts';

const helloCodes = Object.keys(HELLO_REFUSALS) as HelloRefusal[];
const codes = [...helloCodes, ...Object.keys(PROXY_REFUSALS), ...Object.keys(TENANT_REFUSALS)];

test('every code is valid as a condition reason and a metric label', () => {
  for (const code of codes) expect(code).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
});

test('codes are unique', () => {
  expect(new Set(codes).size).toBe(codes.length);
});

test('every refusal of a hello has an alert, except for bytes that are not TLS', () => {
  for (const code of helloCodes) {
    const alert = alertFor(code);
    if (code === 'not_tls') expect(alert).toBeUndefined();
    else expect(ALERTS).toHaveProperty(alert!);
  }
});
