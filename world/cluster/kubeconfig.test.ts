import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kubeconfig, kubeconfigContent, writeKubeconfig } from './kubeconfig.ts';

const content = {
  name: 'a',
  server: 'https://a.k8s.snicket.test:6443',
  authority: 'the authority\n',
  credential: { certificate: 'the certificate\n', key: 'the key\n' },
};

test('a kubeconfig contains context, server and user with all their data', () => {
  const config = parse(kubeconfig(content));

  const context = config.contexts.find(named(config['current-context'])).context;
  const { cluster } = config.clusters.find(named(context.cluster));
  const { user } = config.users.find(named(context.user));

  expect(config).toMatchObject({ apiVersion: 'v1', kind: 'Config' });
  expect(cluster.server).toBe('https://a.k8s.snicket.test:6443');
  expect(decoded(cluster['certificate-authority-data'])).toBe('the authority\n');
  expect(decoded(user['client-certificate-data'])).toBe('the certificate\n');
  expect(decoded(user['client-key-data'])).toBe('the key\n');
});

test('parses the kubeconfig that it writes', () => {
  expect(kubeconfigContent(kubeconfig(content))).toEqual(content);
});

test('rejects a kubeconfig without a user', () => {
  const { users: _, ...config } = parse(kubeconfig(content));

  const text = JSON.stringify({ ...config, users: [] });

  expect(() => kubeconfigContent(text)).toThrow('without a user');
});

test.each(['yes', 'on', 'n', '1e3', '0x10'])(
  'the name %p stays a text for kubectl, which reads YAML 1.1',
  (name) => {
    const text = kubeconfig({ ...content, name });

    expect(parse(text, { version: '1.1' })['current-context']).toBe(name);
  },
);

test('writes a kubeconfig that only its owner can read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'snicket-kubeconfig-'));

  const path = writeKubeconfig(join(folder, 'admin.conf'), content);

  const [text, { mode }] = [readFileSync(path, 'utf8'), statSync(path)];
  rmSync(folder, { recursive: true });
  expect(text).toBe(kubeconfig(content));
  expect(mode & 0o777).toBe(0o600);
});

function named(name: string) {
  return (entry: { name: string }) => entry.name === name;
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
