import { expect, test } from 'bun:test';
import { changesText, type ClusterChange } from './diff-text.ts';

const exposure = {
  apiVersion: 'snicket.dev/v1alpha1',
  kind: 'Exposure',
  metadata: { name: 'blue', namespace: 'tenants' },
};

function changed(...fields: ClusterChange['fields']): string {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } };
  const change = { action: 'change', cluster: 'tenant', waits: false } as const;
  return changesText({ exposure, changes: [{ ...change, object, fields }] }, false);
}

test('writes unambiguous values without quotes', () => {
  const text = changed(
    { path: 'a', from: '10.0.0.9', to: 'image:1@sha256:ab' },
    { path: 'b', from: 'two words', to: '' },
    { path: 'c', from: 7, to: { d: ['e'] } },
    { path: 'f', from: '(3 bytes, sha256 ab)', to: 'a,b' },
  );

  expect(text).toBe(`Exposure tenants/blue
  ~ tenant     ConfigMap b/a
      ~ a: 10.0.0.9 -> image:1@sha256:ab
      ~ b: "two words" -> ""
      ~ c: 7 -> {"d":["e"]}
      ~ f: (3 bytes, sha256 ab) -> "a,b"
`);
});

test('quotes a text that looks like a number', () => {
  expect(changed({ path: 'a', from: '443', to: 443 })).toContain('a: "443" -> 443\n');
  expect(changed({ path: 'a', from: 'true', to: true })).toContain('a: "true" -> true\n');
});

test('truncates a long value', () => {
  const text = changed({ path: 'a', from: 'x'.repeat(1000), to: 'y' });

  expect(text).toContain(`a: ${'x'.repeat(160)}... -> y\n`);
});

test('escapes control characters in values', () => {
  const text = changed({ path: 'a', from: '\u001B2Jgone', to: 'a\nb' });

  expect(text).toContain('a: "\\u001b2Jgone" -> "a\\nb"\n');
});

test('explains what a change waits for', () => {
  const object = { apiVersion: 'v1', kind: 'Ingress', metadata: { name: 'a', namespace: 'b' } };
  const change = { action: 'delete', cluster: 'management', waits: true } as const;

  expect(changesText({ exposure, changes: [{ ...change, object, fields: [] }] }, false)).toContain(
    '  - management Ingress b/a (not before the Exposure is Ready with the driver of its Edge: clients may still use the previous routes)\n',
  );
});

test('uses colors on request', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };
  const change = { action: 'delete', cluster: 'management', waits: false } as const;
  const changes = [{ ...change, object, fields: [] }];

  expect(changesText({ exposure, changes }, true)).toBe(
    'Exposure tenants/blue\n\u001B[31m  - management Secret a\u001B[0m\n',
  );
});

test('returns an empty text without changes', () => {
  expect(changesText({ exposure, changes: [] }, true)).toBe('');
});
