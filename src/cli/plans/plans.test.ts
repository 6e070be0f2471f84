import { expect, setDefaultTimeout, test } from 'bun:test';
import { planText } from './plans.ts';

setDefaultTimeout(240_000);

test('escapes a line break in a name, so that the comment stays one line', () => {
  const metadata = { name: 'blue\nkind: Secret', namespace: 'tenants' };
  const object = { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', metadata };

  const text = planText({ object, findings: [] });

  expect(text).toBe('# Exposure tenants/blue\\u000akind: Secret has no plan\n');
});
