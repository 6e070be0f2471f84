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

test('the way may go over authorities in between, in whatever order they were presented', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const upper = await makeCa({ name: 'CN=upper', parent: root });
  const lower = await makeCa({ name: 'CN=lower', parent: upper });
  const leaf = await leafBy(lower);
  const presented = [upper, root, lower].map(certificate);

  const path = pathTo([certificate(root)], [certificate(leaf), ...presented]);

  expect(subjects(path)).toEqual(['CN=kube-apiserver', 'CN=lower', 'CN=upper', 'CN=root']);
});

test('a way with a gap is none', async () => {
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

test('a CA with the name of the right one, and another key, is another', async () => {
  const ca = await makeCa();
  const impostor = await makeCa();
  const leaf = await leafBy(impostor);

  const path = pathTo([certificate(ca)], [certificate(leaf), certificate(impostor)]);

  expect(path).toBeUndefined();
});

test('one of several authorities is enough, as while a CA changes', async () => {
  const [before, after] = [await makeCa(), await makeCa()];
  const own = parseAuthorities(`${before.certificate}\n# the next one\n${after.certificate}`);

  const path = pathTo(own, [certificate(await leafBy(after))]);

  expect(own).toHaveLength(2);
  expect(path?.at(-1)?.fingerprint256).toBe(certificate(after).fingerprint256);
});

test('a certificate that signed itself is trusted as an authority only', async () => {
  const own = await makeCa({ name: 'CN=self' });
  const other = await makeCa({ name: 'CN=self' });

  expect(pathTo([certificate(own)], [certificate(own)])).toBeDefined();
  expect(pathTo([certificate(own)], [certificate(other)])).toBeUndefined();
});

test('two authorities that signed each other are not gone round for ever', async () => {
  const first = await makeCa({ name: 'CN=one' });
  const second = await makeCa({ name: 'CN=two', parent: first });
  const firstAgain = await makeCa({ name: 'CN=one', parent: second, keys: first.keys });
  const leaf = await leafBy(second);
  const stranger = await makeCa({ name: 'CN=stranger' });

  const path = pathTo(
    [certificate(stranger)],
    [certificate(leaf), certificate(second), certificate(firstAgain)],
  );

  expect(path).toBeUndefined();
});

test('finds the tenant whose CA it is among many of the same name', async () => {
  const known = new KnownAuthorities();
  const tenants = await Promise.all(Array.from({ length: 20 }, () => makeCa()));
  for (const [index, ca] of tenants.entries()) known.set(`tenants/t${index}`, ca.certificate);
  const leaf = await leafBy(tenants[13]!);

  expect(known.ownerOf([certificate(leaf)])).toBe('tenants/t13');
});

test('finds no owner for a certificate of an unknown CA', async () => {
  const known = new KnownAuthorities();
  known.set('tenants/a', (await makeCa()).certificate);
  const stranger = await leafBy(await makeCa());

  expect(known.ownerOf([certificate(stranger)])).toBeUndefined();
});

test('a tenant has the CA that it was last given, and none once it is gone', async () => {
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

test('a CA that cannot be read is refused, and the one before it forgotten', async () => {
  const known = new KnownAuthorities();
  const ca = await makeCa();
  known.set('tenants/a', ca.certificate);

  expect(() => known.set('tenants/a', 'nothing')).toThrow('there is no certificate in it');

  expect(known.ownerOf([certificate(await leafBy(ca))])).toBeUndefined();
});
