import { expect, test } from 'bun:test';
import { dataStoreObjects } from './data-store.ts';

test('a DataStore references existing keys of its Secret', () => {
  const [namespace, secret, dataStore] = dataStoreObjects('kamaji.clastix.io', 'kamaji-system', {
    endpoint: '172.30.2.1:2379',
    authority: { certificate: 'authority', key: 'authority key' },
    root: { certificate: 'root', key: 'root key' },
  }) as [Named, Named & { stringData: Record<string, string> }, Named & { spec: Spec }];

  const { certificateAuthority, clientCertificate } = dataStore.spec.tlsConfig;
  const references = [certificateAuthority, clientCertificate].flatMap((pair) => [
    pair.certificate.secretReference,
    pair.privateKey.secretReference,
  ]);

  expect(dataStore.spec.endpoints).toEqual(['172.30.2.1:2379']);
  expect(
    new Set(references.map((reference) => `${reference.namespace}/${reference.name}`)),
  ).toEqual(new Set([`${namespace.metadata.name}/${secret.metadata.name}`]));
  expect(references.map(({ keyPath }) => secret.stringData[keyPath])).toEqual([
    'authority',
    'authority key',
    'root',
    'root key',
  ]);
});

interface Named {
  metadata: { name: string };
}

interface Spec {
  endpoints: string[];
  tlsConfig: Record<'certificateAuthority' | 'clientCertificate', Pair>;
}

type Pair = Record<'certificate' | 'privateKey', { secretReference: Reference }>;
type Reference = Record<'name' | 'namespace' | 'keyPath', string>;
