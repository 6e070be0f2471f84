import { expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { objectOf, secretOf } from '../../operator/testing/objects.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import { allAuthorities } from './all-authorities.ts';

const { signal } = new AbortController();

function exposure(name: string): KubeObject {
  const controlPlane = {
    type: 'Endpoints',
    endpoints: { api: ['192.0.2.1:6443'] },
    caSecretRef: { name },
    kubeconfigSecretRef: { name },
  };
  return objectOf('Exposure', { name, namespace: 'tenants' }, { spec: { controlPlane } });
}

/** Returns a cluster with two tenants. `blue` returns the Secret of tenant blue. */
async function redAndBlue(blue: () => Promise<KubeObject>) {
  const red = await makeCa();
  const secret = secretOf(
    { name: 'red', namespace: 'tenants' },
    { 'tls.crt': red.certificate, 'tls.key': red.key },
  );
  const get = async ({ kind }: { readonly kind: string }, { name }: { readonly name: string }) => {
    if (kind !== 'Secret') return undefined;
    return name === 'red' ? secret : blue();
  };
  const objects = [exposure('blue'), exposure('red')];
  const client = { get } as ManagementSnapshot['client'];
  return { red, management: new ManagementSnapshot(objects, { has: () => false }, client) };
}

test.each([
  [
    'contains no valid certificate',
    async () =>
      secretOf({ name: 'blue', namespace: 'tenants' }, { 'tls.crt': 'no', 'tls.key': '' }),
  ],
  ['is forbidden', async () => Promise.reject(new KubeError('Forbidden', 'no'))],
])('reads the CAs of other tenants if a Secret %s', async (_, blue) => {
  const { red, management } = await redAndBlue(blue);

  const known = await allAuthorities(management, signal);

  expect(known.ownerOf([new X509Certificate(red.certificate)])).toBe('tenants/red');
});

test('throws an error of the program, instead of taking it for an unreadable CA', async () => {
  const mistake = async () => Promise.reject(new TypeError('undefined is not an object'));
  const { management } = await redAndBlue(mistake);

  await expect(allAuthorities(management, signal)).rejects.toThrow('undefined is not an object');
});
