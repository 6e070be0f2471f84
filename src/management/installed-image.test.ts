import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../kube/object.ts';
import { installedProxyImage } from './installed-image.ts';

async function imageIn(containers: readonly object[] | undefined): Promise<string | undefined> {
  const metadata = { name: 'snicket-operator', namespace: 'snicket-system' };
  const spec = { template: { spec: { containers } } };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  const get = async <T extends KubeObject>() =>
    Promise.resolve((containers === undefined ? undefined : deployment) as unknown as T);
  return installedProxyImage({ get }, 'snicket-system', AbortSignal.timeout(1000));
}

test('is the image in the manifests of this repository', async () => {
  const file = join(import.meta.dir, '../../deploy/operator.yaml');
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map(
    (document) =>
      document.toJS() as KubeObject & { spec: { template: { spec: { containers: [] } } } },
  );
  const { spec } = documents.find(({ kind }) => kind === 'Deployment')!;

  expect(await imageIn(spec.template.spec.containers)).toMatch(/^snicket\.dev\/snicket:\d/);
});

test('is found in both forms of the flag, with variables expanded', async () => {
  const env = [{ name: 'TAG', value: '7' }];

  expect(await imageIn([{ args: ['--proxy-image', 'a/b:$(TAG)'], env }])).toBe('a/b:7');
  expect(await imageIn([{ args: ['--proxy-image=a/b:$(NONE)'], env }])).toBe('a/b:$(NONE)');
});

test('is unknown without an operator or without the flag', async () => {
  expect(await imageIn(undefined)).toBeUndefined();
  expect(await imageIn([{ args: ['operator'] }, {}])).toBeUndefined();
});
