import { expect, test } from 'bun:test';
import { admissionObjects } from './admission.ts';

const objects = admissionObjects({
  name: 'kamaji',
  group: 'kamaji.clastix.io',
  url: 'https://172.30.2.1:9443',
  authority: '-----BEGIN CERTIFICATE-----\n',
}) as { kind: string; webhooks: Webhook[] }[];

test('the API server calls the paths that controller-runtime serves', () => {
  const paths = objects.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig));

  expect(paths.map(({ url }) => url)).toEqual([
    'https://172.30.2.1:9443/mutate-kamaji-clastix-io-v1alpha1-tenantcontrolplane',
    'https://172.30.2.1:9443/validate-kamaji-clastix-io-v1alpha1-tenantcontrolplane',
    'https://172.30.2.1:9443/validate-kamaji-clastix-io-v1alpha1-datastore',
  ]);
});

test('only deletions of DataStores are validated', () => {
  const rules = objects.flatMap(({ webhooks }) => webhooks.flatMap((webhook) => webhook.rules));

  const deletable = rules.filter(({ operations }) => operations.includes('DELETE'));

  expect(deletable.flatMap(({ resources }) => resources)).toEqual(['datastores']);
});

interface Webhook {
  clientConfig: { url: string; caBundle: string };
  rules: { operations: string[]; resources: string[] }[];
}
