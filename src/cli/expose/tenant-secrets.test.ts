import { beforeAll, describe, expect, test } from 'bun:test';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import { secretOf } from '../../operator/testing/objects.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { issueLeaf } from '../../pki/leaf.ts';
import { makeCa, type TestCa } from '../../pki/testing/test-ca.ts';
import { caIn, kubeconfigIn, likelyCas, likelyKubeconfigs } from './tenant-secrets.ts';

let ca: TestCa;
let other: TestCa;
beforeAll(async () => {
  [ca, other] = await Promise.all([makeCa(), makeCa()]);
});

function secret(name: string, files: Readonly<Record<string, string>>): Secret {
  return secretOf({ name, namespace: 'tenants' }, files);
}

function kubeconfig(of: TestCa = ca): string {
  return writeKubeconfig({
    server: 'https://10.0.0.5:6443',
    ca: of.certificate,
    credentials: { token: 'a' },
    names: { cluster: 'a', user: 'a' },
  });
}

describe('a kubeconfig', () => {
  test('is found by its content, that of an administrator first', () => {
    const files = { 'a.conf': kubeconfig(), 'admin.conf': kubeconfig(), value: 'no' };

    expect(kubeconfigIn(secret('a', files))?.key).toBe('admin.conf');
    expect(kubeconfigIn(secret('a', { x: kubeconfig() }))?.key).toBe('x');
    expect(kubeconfigIn(secret('a', { 'admin.conf': 'clusters: [' }))).toBeUndefined();
    expect(kubeconfigIn(secret('a', {}))).toBeUndefined();
  });

  test.each([
    ['the only one', ['x'], 'x'],
    ['the one that is called like it', ['blue-conf', 'red-conf'], 'blue-conf'],
    ['that of the administrator', ['blue-admin-conf', 'blue-scheduler-conf'], 'blue-admin-conf'],
    ['none for sure', ['x', 'y'], undefined],
  ])('is chosen among several Secrets: %s', (_, names, sure) => {
    const secrets = names.map((name) => secret(name, { 'x.conf': kubeconfig() }));

    expect(likelyKubeconfigs(secrets, 'blue').sure?.name).toBe(sure as string);
  });

  test.each([
    ['red', 'red-admin-conf'],
    ['blue-2', 'blue-2-admin-conf'],
  ])('named after neighbor %s is not used', (neighbor, name) => {
    const secrets = [secret(name, { 'admin.conf': kubeconfig() })];

    expect(likelyKubeconfigs(secrets, 'blue', ['blue', neighbor])).toEqual({ all: [] });
    expect(likelyKubeconfigs(secrets, neighbor, ['blue', neighbor]).sure?.name).toBe(name);
  });
});

describe('a CA', () => {
  test('is a CA certificate, preferably with its key', async () => {
    const now = new Date();
    const leaf = await issueLeaf({ ca, names: ['a.test'], addresses: [], now });

    expect(caIn(secret('a', { 'tls.crt': ca.certificate, 'tls.key': ca.key }))).toMatchObject({
      certificateKey: 'tls.crt',
      privateKeyKey: 'tls.key',
    });
    // As in cert-manager: the certificate of a server, and the CA that signed it.
    expect(
      caIn(secret('a', { 'tls.crt': leaf.certificate, 'ca.crt': ca.certificate })),
    ).toMatchObject({ certificateKey: 'ca.crt' });
    expect(caIn(secret('a', { 'tls.crt': leaf.certificate }))).toBeUndefined();
    expect(caIn(secret('a', { 'tls.crt': 'nonsense' }))).toBeUndefined();
  });

  test('is the one that the kubeconfig trusts', () => {
    const cas = [
      secret('blue-ca', { 'tls.crt': other.certificate }),
      secret('x', { 'ca.crt': ca.certificate }),
    ];

    expect(likelyCas(cas, 'blue', { name: 'k', text: kubeconfig() }).sure?.name).toBe('x');
    // The kubeconfig could not be read, so the name decides.
    expect(likelyCas(cas, 'blue', { name: 'k' }).sure?.name).toBe('blue-ca');
    expect(likelyCas(cas.slice(0, 1), 'blue', { name: 'k', text: kubeconfig() }).all).toEqual([]);
  });
});
