import { describe, expect, test } from 'bun:test';
import { parse, stringify } from 'yaml';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { edgeKubeconfig, type EdgeKubeconfigInput } from './kubeconfig-document.ts';

const CA = Buffer.from('the CA of the kubeconfig').toString('base64');

function kubeconfigOf(user: object, cluster: object = {}, context: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'admin@blue',
    clusters: [
      { name: 'other', cluster: { server: 'https://other:6443' } },
      {
        name: 'blue',
        cluster: { server: 'https://10.0.0.9:6443', 'certificate-authority-data': CA, ...cluster },
      },
    ],
    users: [{ name: 'admin', user }],
    contexts: [{ name: 'admin@blue', context: { cluster: 'blue', user: 'admin', ...context } }],
  });
}

const INPUT = {
  name: 'tenants/blue',
  server: 'https://tenants-blue.k8s.example.com:443',
} as const;

function made(input: Partial<EdgeKubeconfigInput> & { text: string }): unknown {
  return parse(edgeKubeconfig({ ...INPUT, ...input }).text);
}

test('has the same user, the edge as server, and the names of the Exposure', () => {
  const text = kubeconfigOf({ token: '1_000' }, {}, { namespace: 'apps' });

  expect(edgeKubeconfig({ ...INPUT, text })).toEqual({
    text: `apiVersion: v1
kind: Config
clusters:
  - name: tenants/blue
    cluster:
      server: https://tenants-blue.k8s.example.com:443
      certificate-authority-data: ${CA}
users:
  - name: tenants/blue
    user:
      token: "1_000"
contexts:
  - name: tenants/blue
    context:
      cluster: tenants/blue
      user: tenants/blue
      namespace: apps
current-context: tenants/blue
`,
    warnings: [],
  });
});

test('has the server name for the edge and the CA of the tenant if the server is an address', () => {
  const insecure = {
    'insecure-skip-tls-verify': true,
    'certificate-authority-data': '',
    'certificate-authority': '/etc/ca.crt',
    'tls-server-name': 'kubernetes',
  };
  const server = 'https://203.0.113.10:443';

  const document = made({
    text: kubeconfigOf({ token: 'a' }, insecure),
    server,
    ca: 'the CA of the tenant',
    serverName: 'tenants-blue.k8s.example.com',
  });

  expect(document).toMatchObject({
    clusters: [
      {
        cluster: {
          server,
          'tls-server-name': 'tenants-blue.k8s.example.com',
          'certificate-authority-data': Buffer.from('the CA of the tenant').toString('base64'),
        },
      },
    ],
  });
  expect(JSON.stringify(document)).not.toMatch(/insecure|ca\.crt/);
});

test('keeps exec plugins unchanged', () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'get-token',
    args: ['--cluster', 'blue'],
    env: null,
    interactiveMode: 'Always',
    unknownToUs: [1],
  };
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { a: 'on' } }];

  expect(made({ text: kubeconfigOf({ exec }, { extensions }) })).toMatchObject({
    users: [{ user: { exec } }],
    clusters: [{ cluster: { extensions } }],
  });
});

test('warns about files of another machine', () => {
  const text = kubeconfigOf({ 'client-certificate': '/etc/a.crt', 'client-key': 'a.key' });

  expect(edgeKubeconfig({ ...INPUT, text }).warnings).toEqual([
    'the kubeconfig references the file /etc/a.crt as client-certificate: it works only on a machine with that file',
    'the kubeconfig references the file a.key as client-key: it works only on a machine with that file',
  ]);
});

describe('the error quotes no secret:', () => {
  const secret = { token: 'hunter2' };

  test.each([
    [
      'no YAML',
      'token: "hunter2\n  a: [',
      /^the tenant's kubeconfig is not a valid kubeconfig: it is not/,
    ],
    ['nothing', '', /has no context "", its current-context \(contexts: none\); compare/],
    ['no cluster', kubeconfigOf(secret, {}, { cluster: 'x' }), /has no cluster "x"/],
    ['no user', kubeconfigOf(secret, {}, { user: 'x' }), /has no user "x"/],
    [
      'no CA',
      kubeconfigOf(secret, { 'certificate-authority-data': null }),
      /has no certificate-authority-data and .*; set spec\.controlPlane\.caSecretRef$/,
    ],
  ])('%s', (_, text, sentence) => {
    let refusal: unknown;
    try {
      edgeKubeconfig({ ...INPUT, text });
    } catch (error) {
      refusal = error;
    }

    expect(refusal).toBeInstanceOf(AccessError);
    expect((refusal as Error).message).toMatch(sentence);
    expect(Bun.inspect(refusal)).not.toContain('hunter2');
  });
});

test('warns about the proxy that kubectl would use, without its password', () => {
  const proxy = { 'proxy-url': 'http://me:hunter2@proxy.example.test:3128' };
  const text = kubeconfigOf({ token: 'x' }, proxy);

  expect(edgeKubeconfig({ ...INPUT, text }).warnings).toEqual([
    'the kubeconfig has a proxy-url (proxy.example.test:3128): kubectl connects to the edge only through that proxy',
  ]);
});
