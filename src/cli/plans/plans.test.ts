import { expect, setDefaultTimeout, test } from 'bun:test';
import { planText } from './plans.ts';

setDefaultTimeout(240_000);

test('a name with the end of a line in it stays within its comment', () => {
  const metadata = { name: 'blue\nkind: Secret', namespace: 'tenants' };
  const object = { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', metadata };

  const text = planText({ object, findings: [] });

  expect(text).toBe('# Exposure tenants/blue\\u000akind: Secret has no plan\n');
});
