import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import type { ClusterAccess, ExecPlugin } from './cluster-access.ts';
import { EXEC_LIMIT_MS, runExecPlugin } from './exec-plugin.ts';

const V1 = 'client.authentication.k8s.io/v1';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Returns a plugin that runs these shell commands. */
function plugin(lines: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
  const command = join(folder, 'login');
  writeFileSync(command, `#!/bin/sh\n${lines}\n`);
  chmodSync(command, 0o755);
  return { apiVersion: V1, command, args: [], env: {}, provideClusterInfo: false, ...more };
}

function prints(status: object, apiVersion = V1): string {
  // Not echo, which converts JSON escapes to line breaks.
  return `printf '%s' '${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}'`;
}

const access: ClusterAccess = {
  server: 'https://10.0.0.1:6443',
  serverName: 'kubernetes',
  ca: 'the CA',
  credentials: { kind: 'none' },
  namespace: 'default',
};

describe('a credential plugin returns', () => {
  test('a token with its expiry', async () => {
    const login = plugin(prints({ token: 'abc', expirationTimestamp: '2030-01-01T00:00:00Z' }));

    expect(await runExecPlugin(login, access, systemClock)).toEqual({
      token: 'abc',
      cert: undefined,
      key: undefined,
      expiresAtMs: Date.UTC(2030, 0, 1),
    });
  });

  test('a certificate with its key', async () => {
    const login = plugin(prints({ clientCertificateData: 'cert', clientKeyData: 'key' }));

    expect(await runExecPlugin(login, access, systemClock)).toEqual({
      token: undefined,
      cert: 'cert',
      key: 'key',
      expiresAtMs: undefined,
    });
  });
});

describe('a credential plugin receives', () => {
  test('its arguments, its environment and interactive: false', async () => {
    const output = join(folder, 'output');
    const login = plugin(
      `printf '%s\\n' "$1" "$REGION" "$KUBERNETES_EXEC_INFO" > ${output}\n${prints({ token: 'abc' })}`,
      { args: ['--cluster'], env: { REGION: 'north' } },
    );

    await runExecPlugin(login, access, systemClock);

    const [argument, region, info = ''] = readFileSync(output, 'utf8').split('\n');
    expect([argument, region]).toEqual(['--cluster', 'north']);
    expect(JSON.parse(info)).toEqual({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: { interactive: false },
    });
  });

  test('the cluster, if provideClusterInfo is set', async () => {
    const output = join(folder, 'output');
    const login = plugin(`echo "$KUBERNETES_EXEC_INFO" > ${output}\n${prints({ token: 'abc' })}`, {
      provideClusterInfo: true,
      clusterConfig: { audience: 'a' },
    });

    await runExecPlugin(login, access, systemClock);

    expect(JSON.parse(readFileSync(output, 'utf8')).spec.cluster).toEqual({
      server: 'https://10.0.0.1:6443',
      'tls-server-name': 'kubernetes',
      'certificate-authority-data': Buffer.from('the CA').toString('base64'),
      config: { audience: 'a' },
    });
  });
});

describe('the error of a credential plugin that', () => {
  test.each([
    ['fails', 'echo no luck >&2; echo hunter2; exit 3', /exited with 3: no luck$/],
    ['fails without output', 'exit 1', /exited with 1: no output$/],
    ['prints text that is not JSON', 'echo hunter2', /printed no ExecCredential/],
    [
      'prints another kind',
      'echo \'{"kind":"Pod","token":"hunter2"}\'',
      /printed no ExecCredential: apiVersion/,
    ],
    ['prints no credentials', prints({}), /neither a token nor a certificate/],
    [
      'prints a certificate without its key',
      prints({ clientCertificateData: 'hunter2' }),
      /one of certificate and key/,
    ],
    [
      'prints another apiVersion',
      prints({ token: 'hunter2' }, `${V1}beta1`),
      /apiVersion .*v1beta1, but the kubeconfig has .*v1;/,
    ],
    ['prints a token of two lines', prints({ token: 'hunter2\r\na: b' }), /with line breaks/],
    ['prints a token with a NUL', prints({ token: 'hunter2\u0000' }), /control characters/],
    ['prints without end', 'yes hunter2', /exited with SIGKILL/],
  ])('%s', async (_, lines, sentence) => {
    const run = runExecPlugin(plugin(lines), access, systemClock);

    const message = await run.then(() => 'resolved', String);
    expect(message).toMatch(sentence);
    expect(message).not.toContain('hunter2');
  });

  test('is not installed says how to install it', async () => {
    const missing = { ...plugin(''), command: 'no-such-program', installHint: 'brew install it\n' };

    await expect(runExecPlugin(missing, access, systemClock)).rejects.toThrow(
      'no-such-program cannot be run: brew install it',
    );
  });

  test('hangs is a timeout, which kills it without waiting for its children', async () => {
    const clock = new ManualClock();
    const begun = join(folder, 'begun');
    const hanging = plugin(`sleep 30 &\necho $$ > ${begun}\nsleep 30`);
    const run = runExecPlugin(hanging, access, clock).then(() => 'resolved', String);
    await until(() => existsSync(begun) && readFileSync(begun, 'utf8') !== '', 'it runs');
    const pid = Number(readFileSync(begun, 'utf8'));

    clock.advance(EXEC_LIMIT_MS);

    expect(await run).toMatch(/timed out after 60 s$/);
    await until(() => !existsSync(`/proc/${pid}`), 'the process has ended');
  });
});
