import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { inClusterAccess } from './in-cluster.ts';

const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
let folder: string;
let ca: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pod-'));
  ca = (await TestAuthority.create()).cert;
  writeFileSync(join(folder, 'ca.crt'), ca);
  writeFileSync(join(folder, 'token'), 'abc');
  writeFileSync(join(folder, 'namespace'), 'snicket\n');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the access of a pod', () => {
  test('has the credentials that the kubelet mounts', () => {
    expect(inClusterAccess(env, folder)).toEqual({
      server: 'https://10.96.0.1:443',
      ca,
      credentials: { kind: 'token-file', path: join(folder, 'token') },
      namespace: 'snicket',
    });
  });

  test('has brackets around an IPv6 address', () => {
    const access = inClusterAccess({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder);

    expect(access.server).toBe('https://[fd00::1]:443');
  });

  test('is an error outside of a pod', () => {
    expect(() => inClusterAccess({}, folder)).toThrow('pass --kubeconfig FILE');
  });

  test.each(['token', 'ca.crt', 'namespace'])('is an error without %s', (file) => {
    rmSync(join(folder, file));

    expect(() => inClusterAccess(env, folder)).toThrow(
      `${join(folder, file)} cannot be read; give the pod a service account`,
    );
  });

  test('is an error if ca.crt is not a certificate', () => {
    writeFileSync(join(folder, 'ca.crt'), 'nonsense');

    expect(() => inClusterAccess(env, folder)).toThrow('contains no PEM certificate');
  });
});
