import { describe, expect, test } from 'bun:test';
import { withServer, type ClusterAccess } from './cluster-access.ts';

const access: ClusterAccess = {
  server: 'https://blue.k8s.example.com:443',
  ca: 'the CA',
  credentials: { kind: 'token', token: 'secret' },
  namespace: 'default',
};

describe('an access with another server address', () => {
  test('dials that address and keeps the previous name of the certificate', () => {
    const moved = withServer(access, { server: 'https://blue.tenants.svc:6443/' });

    expect(moved).toEqual({
      ...access,
      server: 'https://blue.tenants.svc:6443',
      serverName: 'blue.k8s.example.com',
    });
  });

  test('keeps an explicit server name', () => {
    const named = { ...access, serverName: 'kubernetes' };

    expect(withServer(named, { server: 'https://10.0.0.1:6443' }).serverName).toBe('kubernetes');
  });

  test('uses another server name if one is passed', () => {
    const moved = withServer(access, {
      server: 'https://10.0.0.1:6443',
      serverName: 'blue.svc',
    });

    expect(moved.serverName).toBe('blue.svc');
  });

  test('uses an IPv6 address without brackets as the server name', () => {
    const v6 = { ...access, server: 'https://[fd00::1]:6443' };

    expect(withServer(v6, { server: 'https://10.0.0.1:6443' }).serverName).toBe('fd00::1');
  });
});
