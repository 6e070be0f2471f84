import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';
import { AccessError } from './cluster-access.ts';
import { parseKubeconfig, type KubeconfigOptions } from './kubeconfig.ts';

let folder: string;
let ca: string;
let pair: Pair;
let otherPair: Pair;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const authority = await TestAuthority.create();
  ca = authority.cert;
  pair = await authority.issue({ commonName: 'admin' });
  otherPair = await authority.issue({ commonName: 'other' });
  writeFileSync(join(folder, 'ca.crt'), ca);
  writeFileSync(join(folder, 'admin.crt'), pair.cert);
  writeFileSync(join(folder, 'admin.key'), pair.key);
});

afterAll(() => rmSync(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Returns a kubeconfig with one context and the given fields. */
function kubeconfig(user: unknown, cluster: object = {}, context: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'blue',
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'blue', context: { cluster: 'c', user: 'u', ...context } }],
  });
}

function refusalOf(text: string, options?: KubeconfigOptions): AccessError {
  try {
    parseKubeconfig(text, options);
  } catch (error) {
    if (error instanceof AccessError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('the access of a kubeconfig has', () => {
  test('an inline certificate and CA', () => {
    const text = kubeconfig(
      {
        'client-certificate-data': base64(pair.cert),
        'client-key-data': base64(pair.key),
      },
      { 'certificate-authority-data': base64(ca), 'tls-server-name': 'kubernetes' },
      { namespace: 'team' },
    );

    expect(parseKubeconfig(text)).toEqual({
      server: 'https://10.0.0.1:6443',
      serverName: 'kubernetes',
      ca,
      credentials: { kind: 'certificate', cert: pair.cert, key: pair.key },
      namespace: 'team',
    });
  });

  test('a certificate and a CA from files in its folder', () => {
    const text = kubeconfig(
      { 'client-certificate': 'admin.crt', 'client-key': join(folder, 'admin.key') },
      { 'certificate-authority': './ca.crt' },
    );

    const access = parseKubeconfig(text, { folder });

    expect(access.ca).toBe(ca);
    expect(access.credentials).toEqual({ kind: 'certificate', cert: pair.cert, key: pair.key });
  });

  test('inline data rather than the file that is also named', () => {
    const text = kubeconfig(
      {},
      {
        'certificate-authority': 'not-there.crt',
        'certificate-authority-data': base64(ca),
      },
    );

    expect(parseKubeconfig(text, { folder }).ca).toBe(ca);
  });

  test('a token', () => {
    const { credentials } = parseKubeconfig(kubeconfig({ token: 'abc' }));

    expect(credentials).toEqual({ kind: 'token', token: 'abc' });
  });

  test('a token file rather than a token', () => {
    const text = kubeconfig({ token: 'abc', tokenFile: 'token' });

    const { credentials } = parseKubeconfig(text, { folder });

    expect(credentials).toEqual({ kind: 'token-file', path: join(folder, 'token') });
  });

  test('no credentials for a context without a user', () => {
    const text = kubeconfig({}, {}, { user: '' });

    expect(parseKubeconfig(text).credentials).toEqual({ kind: 'none' });
  });

  test('the system roots and the namespace default, unless they are set', () => {
    const access = parseKubeconfig(kubeconfig({ token: 'abc' }));

    expect(access.ca).toBeUndefined();
    expect(access.namespace).toBe('default');
  });

  test('a server with a path, without the trailing slash', () => {
    const text = kubeconfig({}, { server: 'https://rancher.example.com/k8s/clusters/c-1/' });

    expect(parseKubeconfig(text).server).toBe('https://rancher.example.com/k8s/clusters/c-1');
  });

  test('the context that is passed rather than the current one', () => {
    const text = stringify({
      'current-context': 'blue',
      clusters: [
        { name: 'blue', cluster: { server: 'https://blue:6443' } },
        { name: 'green', cluster: { server: 'https://green:6443' } },
      ],
      contexts: [
        { name: 'blue', context: { cluster: 'blue' } },
        { name: 'green', context: { cluster: 'green' } },
      ],
    });

    expect(parseKubeconfig(text, { context: 'green' }).server).toBe('https://green:6443');
  });

  test('plain HTTP on loopback, as kubectl proxy serves it', () => {
    const text = kubeconfig({}, { server: 'http://127.0.0.1:8001' });

    expect(parseKubeconfig(text).server).toBe('http://127.0.0.1:8001');
  });

  test('an exec plugin with its configuration', () => {
    const text = kubeconfig(
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: './bin/login',
          args: ['--cluster', 'blue'],
          env: [{ name: 'REGION', value: 'north' }],
          provideClusterInfo: true,
          interactiveMode: 'IfAvailable',
          installHint: 'see the manual',
        },
      },
      { extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }] },
    );

    expect(parseKubeconfig(text, { folder }).credentials).toEqual({
      kind: 'exec',
      plugin: {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: join(folder, 'bin/login'),
        args: ['--cluster', 'blue'],
        env: { REGION: 'north' },
        provideClusterInfo: true,
        clusterConfig: { audience: 'a' },
        installHint: 'see the manual',
      },
    });
  });

  test('the bare name of a program, which is looked up in $PATH', () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', args: null };

    const { credentials } = parseKubeconfig(kubeconfig({ exec }), { folder });

    expect(credentials).toMatchObject({ plugin: { command: 'login', args: [] } });
  });
});

describe('an unsupported setting is rejected with an alternative:', () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };

  test.each([
    [
      'insecure-skip-tls-verify',
      {},
      { 'insecure-skip-tls-verify': true },
      /certificate-authority-data/,
    ],
    ['proxy-url', {}, { 'proxy-url': 'http://proxy:3128' }, /is directly reachable/],
    ['auth-provider', { 'auth-provider': { name: 'gcp' } }, {}, /gcp.*exec plugin/],
    [
      'a user name',
      { username: 'admin', password: 'hunter2' },
      {},
      /a token or a client certificate/,
    ],
    ['impersonation', { token: 'abc', as: 'boss' }, {}, /credentials of that user/],
    ['a group', { token: 'abc', 'as-groups': ['system:masters'] }, {}, /credentials of that user/],
    [
      'an exec plugin of an old version',
      { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } },
      {},
      /v1alpha1.*set one that/,
    ],
    [
      'an exec plugin that needs a terminal',
      { exec: { ...exec, interactiveMode: 'Always' } },
      {},
      /without a terminal/,
    ],
  ] as const)('%s', (_, user, cluster, alternative) => {
    const refusal = refusalOf(kubeconfig(user, cluster), { folder });

    expect(refusal.code).toBe('AccessRefused');
    expect(refusal.message).toMatch(alternative);
    expect(refusal.message).not.toContain('hunter2');
  });

  test.each([
    ['a token file', { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }, {}],
    ['a key file', { 'client-certificate': '/etc/a.crt', 'client-key': '/etc/a.key' }, {}],
    ['a CA file', {}, { 'certificate-authority': '/etc/ca.crt' }],
    ['a program', { exec }, {}],
  ])('%s in a kubeconfig that is not a file', (_, user, cluster) => {
    expect(refusalOf(kubeconfig(user, cluster)).code).toBe('AccessRefused');
  });
});

describe('an invalid kubeconfig is rejected with the reason:', () => {
  test.each([
    ['text that is not YAML', 'a: [', /not YAML/],
    ['a list', '- a', /: expected a mapping with clusters, users and contexts, found a list; /],
    [
      'a text',
      'hunter2',
      /^the kubeconfig is not a valid kubeconfig: expected a mapping with clusters, users and contexts, found a single string; pass another file, or compare it with the output of `kubectl config view`$/,
    ],
    [
      'a token of two lines',
      kubeconfig({ token: 'hunter2\nx-two: 2' }),
      /^user "u" in .* has a token with line breaks[^"]*; write only the token, on one line$/,
    ],
    [
      'a number as a token',
      kubeconfig({ token: 1 }),
      /: users\.0\.user\.token: expected string, received number; pass another file/,
    ],
    [
      'no current context',
      stringify({ contexts: [{ name: 'a', context: { cluster: 'c' } }] }),
      /contexts: a$/,
    ],
    ['an empty file', '', /no current-context.*none$/],
    ['a missing cluster', kubeconfig({}, {}, { cluster: 'x' }), /references cluster "x"/],
    ['a missing user', kubeconfig({}, {}, { user: 'x' }), /references user "x"/],
    ['a missing server', kubeconfig({}, { server: null }), /such as https/],
    [
      'a server without a scheme',
      kubeconfig({}, { server: '10.0.0.1:6443' }),
      /"10.0.0.1:6443".*such as https/,
    ],
    [
      'plain HTTP to another machine',
      kubeconfig({}, { server: 'http://10.0.0.1:8080' }),
      /such as https/,
    ],
    [
      'a CA that is not a certificate',
      kubeconfig({}, { 'certificate-authority-data': base64('x') }),
      /no PEM certificate/,
    ],
    [
      'data that is not base64',
      kubeconfig({}, { 'certificate-authority-data': '-----BEGIN' }),
      /not base64/,
    ],
    [
      'a missing file',
      kubeconfig({}, { 'certificate-authority': 'x.crt' }),
      /cannot be read: .*x\.crt/,
    ],
  ])('%s', (_, text, sentence) => {
    const refusal = refusalOf(text, { folder });

    expect(refusal.code).toBe('AccessInvalid');
    expect(refusal.message).toMatch(sentence);
  });

  test('a missing context', () => {
    const refusal = refusalOf(kubeconfig({}), { context: 'green' });

    expect(refusal.message).toBe('the kubeconfig has no context "green"; available contexts: blue');
  });

  test('a certificate without its key', () => {
    const refusal = refusalOf(kubeconfig({ 'client-certificate-data': base64(pair.cert) }));

    expect(refusal.message).toContain('has no client-key');
  });

  test('a certificate with the key of another certificate', () => {
    const refusal = refusalOf(
      kubeconfig({
        'client-certificate-data': base64(pair.cert),
        'client-key-data': base64(otherPair.key),
      }),
    );

    expect(refusal.message).toContain('do not match');
    expect(refusal.message).not.toContain('BEGIN');
  });

  test('a password in the URL, which is not quoted', () => {
    const refusal = refusalOf(kubeconfig({}, { server: 'https://admin:hunter2@10.0.0.1' }));

    expect(refusal.message).not.toContain('hunter2');
  });

  test('a kubeconfig in a Secret that is too large', () => {
    const refusal = refusalOf(`a: ${'x'.repeat(128 * 1024)}`);

    expect(refusal.message).toContain('characters, at most 131072');
  });

  test.each([
    ['thousands of keys', Array.from({ length: 20_000 }, (_, key) => `k${key}:`).join('\n')],
    ['keys within keys', '? '.repeat(300)],
    ['aliases of aliases', yamlBomb()],
    ['deeply nested brackets', '['.repeat(100_000)],
  ])('%s, within seconds', (_, text) => {
    const before = process.cpuUsage();

    const refusal = refusalOf(text);

    expect(refusal.code).toBe('AccessInvalid');
    // Parsing once took a minute, and a Lease expires after 15 s. CPU time, since other processes may run
    // too.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });

  test('an object as a key, which is not printed to the terminal', () => {
    const written = spyOn(process.stderr, 'write');
    const warned = spyOn(console, 'warn');
    using _ = { [Symbol.dispose]: () => [written, warned].forEach((spy) => spy.mockRestore()) };

    refusalOf('? {token: hunter2}\n: x\n');

    expect(written).not.toHaveBeenCalled();
    expect(warned).not.toHaveBeenCalled();
  });

  test('broken YAML, without quoting the token in it', () => {
    const refusal = refusalOf('users:\n- name: u\n  user:\n    token: "hunter2\n   x: [');

    expect(refusal.message).toMatch(/not YAML at line \d/);
    expect(Bun.inspect(refusal)).not.toContain('hunter2');
  });
});

/** Returns a YAML bomb: each line is ten times the previous one, a billion entries in a few hundred bytes. */
function yamlBomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let line = 1; line < 10; line++) {
    lines.push(
      `a${line}: &a${line} [${Array(10)
        .fill(`*a${line - 1}`)
        .join(', ')}]`,
    );
  }
  return lines.join('\n');
}
