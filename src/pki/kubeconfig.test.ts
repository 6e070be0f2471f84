import { expect, test } from 'bun:test';
import { parse } from 'yaml';
import { writeKubeconfig } from './kubeconfig.ts';

const CONTENT = {
  server: 'https://10.0.0.5:6443',
  ca: '-----BEGIN CERTIFICATE-----\nxyz\n',
  credentials: { token: 'secret' },
  names: { cluster: 'tenant-a', user: 'admin' },
};

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

test('writes one cluster, one user, and a context that joins them', () => {
  const config = parse(writeKubeconfig(CONTENT));

  expect(config).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'tenant-a',
        cluster: {
          server: 'https://10.0.0.5:6443',
          'certificate-authority-data': base64(CONTENT.ca),
        },
      },
    ],
    users: [{ name: 'admin', user: { token: 'secret' } }],
    contexts: [{ name: 'admin@tenant-a', context: { cluster: 'tenant-a', user: 'admin' } }],
    'current-context': 'admin@tenant-a',
  });
});

test('writes client certificate, tls-server-name, context name and namespace', () => {
  const config = parse(
    writeKubeconfig({
      ...CONTENT,
      serverName: 'tenant-a.k8s.example.com',
      credentials: { certificate: 'CERT', key: 'KEY' },
      names: { ...CONTENT.names, context: 'a', namespace: 'kube-system' },
    }),
  );

  expect(config.clusters[0].cluster['tls-server-name']).toBe('tenant-a.k8s.example.com');
  expect(config.users[0].user).toEqual({
    'client-certificate-data': base64('CERT'),
    'client-key-data': base64('KEY'),
  });
  expect(config.contexts[0].context.namespace).toBe('kube-system');
  expect(config['current-context']).toBe('a');
});

test('quotes names and tokens that YAML 1.1 would parse as another type', () => {
  const text = writeKubeconfig({
    ...CONTENT,
    credentials: { token: '1_000' },
    names: { cluster: 'yes', user: 'on', context: 'y' },
  });

  const config = parse(text, { version: '1.1' });
  expect(config.clusters[0].name).toBe('yes');
  expect(config.users[0]).toEqual({ name: 'on', user: { token: '1_000' } });
  expect(config['current-context']).toBe('y');
});
