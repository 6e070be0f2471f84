import 'reflect-metadata'; // before x509, which requires it
import { expect, test } from 'bun:test';
import { SubjectAlternativeNameExtension } from '@peculiar/x509';
import { X509Certificate } from 'node:crypto';
import { makeCa, type TestCa } from '../../pki/testing/test-ca.ts';
import { KnownAuthorities, parseAuthorities, pathTo } from './authorities.ts';

const NAMES = new SubjectAlternativeNameExtension([{ type: 'dns', value: 'a.k8s.test' }]);

/** Returns a certificate that may not sign others. */
async function leafBy(parent: TestCa): Promise<TestCa> {
  return makeCa({ name: 'CN=kube-apiserver', parent, extensions: [NAMES] });
}

function certificate({ certificate: pem }: TestCa): X509Certificate {
  return new X509Certificate(pem);
}

function subjects(path: readonly X509Certificate[] | undefined): readonly string[] | undefined {
  return path?.map(({ subject }) => subject);
}

test('finds the CA that signed a leaf', async () => {
  const ca = await makeCa();
  const leaf = await leafBy(ca);

  const path = pathTo([certificate(ca)], [certificate(leaf)]);

  expect(subjects(path)).toEqual(['CN=kube-apiserver', 'CN=kubernetes-ca']);
});

test('the path may contain intermediates, in any order', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const upper = await makeCa({ name: 'CN=upper', parent: root });
  const lower = await makeCa({ name: 'CN=lower', parent: upper });
  const leaf = await leafBy(lower);
  const presented = [upper, root, lower].map(certificate);

  const path = pathTo([certificate(root)], [certificate(leaf), ...presented]);

  expect(subjects(path)).toEqual(['CN=kube-apiserver', 'CN=lower', 'CN=upper', 'CN=root']);
});

test('a path with a missing intermediate is not found', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const between = await makeCa({ name: 'CN=between', parent: root });
  const leaf = await leafBy(between);

  expect(pathTo([certificate(root)], [certificate(leaf)])).toBeUndefined();
});

test('a leaf of the CA cannot sign other certificates', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const user = await makeCa({ name: 'CN=user', parent: root, extensions: [] });
  const forged = await leafBy(user);

  const path = pathTo([certificate(root)], [certificate(forged), certificate(user)]);

  expect(path).toBeUndefined();
});

test('a CA with the same name and another key is another CA', async () => {
  const ca = await makeCa();
  const impostor = await makeCa();
  const leaf = await leafBy(impostor);

  const path = pathTo([certificate(ca)], [certificate(leaf), certificate(impostor)]);

  expect(path).toBeUndefined();
});

test('one of several CAs is enough, as during a rotation', async () => {
  const [before, after] = [await makeCa(), await makeCa()];
  const cas = parseAuthorities(`${before.certificate}\n# the next one\n${after.certificate}`);

  const path = pathTo(cas, [certificate(await leafBy(after))]);

  expect(cas).toHaveLength(2);
  expect(path?.at(-1)?.fingerprint256).toBe(certificate(after).fingerprint256);
});

test('a self-signed certificate is trusted only as a CA', async () => {
  const selfSigned = await makeCa({ name: 'CN=self' });
  const other = await makeCa({ name: 'CN=self' });

  expect(pathTo([certificate(selfSigned)], [certificate(selfSigned)])).toBeDefined();
  expect(pathTo([certificate(selfSigned)], [certificate(other)])).toBeUndefined();
});

test('two CAs that signed each other cause no endless loop', async () => {
  const first = await makeCa({ name: 'CN=one' });
  const second = await makeCa({ name: 'CN=two', parent: first });
  const firstAgain = await makeCa({ name: 'CN=one', parent: second, keys: first.keys });
  const leaf = await leafBy(second);
  const unknownCa = await makeCa({ name: 'CN=stranger' });

  const path = pathTo(
    [certificate(unknownCa)],
    [certificate(leaf), certificate(second), certificate(firstAgain)],
  );

  expect(path).toBeUndefined();
});

test('finds the tenant of a CA among many CAs with the same name', async () => {
  const known = new KnownAuthorities();
  const tenants = await Promise.all(Array.from({ length: 20 }, () => makeCa()));
  for (const [index, ca] of tenants.entries()) known.set(`tenants/t${index}`, ca.certificate);
  const leaf = await leafBy(tenants[13]!);

  expect(known.ownerOf([certificate(leaf)])).toBe('tenants/t13');
});

test('finds no owner for a certificate of an unknown CA', async () => {
  const known = new KnownAuthorities();
  known.set('tenants/a', (await makeCa()).certificate);
  const unknownLeaf = await leafBy(await makeCa());

  expect(known.ownerOf([certificate(unknownLeaf)])).toBeUndefined();
});

test('a tenant has the CA that was set last, and none after its removal', async () => {
  const known = new KnownAuthorities();
  const [before, after] = [await makeCa(), await makeCa()];
  const [oldLeaf, newLeaf] = [certificate(await leafBy(before)), certificate(await leafBy(after))];

  known.set('tenants/a', before.certificate);
  known.set('tenants/a', after.certificate);
  expect(known.ownerOf([oldLeaf])).toBeUndefined();
  expect(known.ownerOf([newLeaf])).toBe('tenants/a');

  known.delete('tenants/a');
  expect(known.ownerOf([newLeaf])).toBeUndefined();
});

test('an unreadable CA is rejected, and the previous one is removed', async () => {
  const known = new KnownAuthorities();
  const ca = await makeCa();
  known.set('tenants/a', ca.certificate);

  expect(() => known.set('tenants/a', 'nothing')).toThrow('there is no certificate in it');

  expect(known.ownerOf([certificate(await leafBy(ca))])).toBeUndefined();
});
