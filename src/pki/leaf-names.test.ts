import { expect, test } from 'bun:test';
import { normalNames } from './leaf-names.ts';
import { PkiError } from './pki-error.ts';

test('contains each name and address once, normalized, in order', () => {
  const normal = normalNames({
    names: ['Kubernetes', 'kubernetes', 'kubernetes.default.svc', 'localhost'],
    addresses: ['FD00:0::1', '10.96.0.1', '::ffff:10.96.0.1', 'fd00::1'],
  });

  expect(normal).toEqual({
    names: ['kubernetes', 'kubernetes.default.svc', 'localhost'],
    addresses: ['fd00::1', '10.96.0.1'],
  });
});

test.each([
  ['FieldInvalid', [], [], 'A certificate needs at least one name or address.'],
  [
    'FieldInvalid',
    ['*.example.com'],
    [],
    "Name '*.example.com' is invalid in a certificate (server_name_not_dns).",
  ],
  [
    'FieldInvalid',
    ['10.0.0.1'],
    [],
    "Name '10.0.0.1' is invalid in a certificate (server_name_ip_literal).",
  ],
  ['FieldInvalid', ['kubernetes.'], [], 'without a trailing dot'],
  ['FieldInvalid', [], ['kubernetes'], "Value 'kubernetes' is not an IP address."],
  ['FieldInvalid', [], ['10.96.0.1/12'], "'10.96.0.1/12' is not"],
] as const)('rejects with %s: names %j, addresses %j', (code, names, addresses, sentence) => {
  let error: unknown;
  try {
    normalNames({ names, addresses });
  } catch (caught) {
    error = caught;
  }

  expect(error).toBeInstanceOf(PkiError);
  expect((error as PkiError).finding.code).toBe(code);
  expect((error as PkiError).message).toContain(sentence);
});
