import { expect, test } from 'bun:test';
import { deriveTenantSecret, tenantKey } from './tenant-key.ts';

const MASTER = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const HOST = 'tenant-a.k8s.example.com';

// Computed independently, with Python's hmac and hashlib by RFC 5869.
const SECRET = '7eb0afd84b98f260f4842d584c8a40b7a482f4477d74194121be191e7c9f7c41';

test('derives the documented secret of a host', () => {
  const secret = deriveTenantSecret(MASTER, HOST);

  expect(Buffer.from(secret).toString('hex')).toBe(SECRET);
  expect(tenantKey(HOST, secret).id).toBe(0x33a5bcea);
});

test('ignores the case of the host', () => {
  const secret = deriveTenantSecret(MASTER, HOST.toUpperCase());

  expect(Buffer.from(secret).toString('hex')).toBe(SECRET);
  expect(tenantKey(HOST.toUpperCase(), secret).host).toBe(HOST);
});

test('derives different secrets and ids for different hosts and master keys', () => {
  const keys = [
    tenantKey(HOST, deriveTenantSecret(MASTER, HOST)),
    tenantKey('tenant-b.example', deriveTenantSecret(MASTER, 'tenant-b.example')),
    tenantKey(HOST, deriveTenantSecret(Buffer.alloc(32, 1), HOST)),
  ];

  expect(new Set(keys.map(({ secret }) => Buffer.from(secret).toString('hex'))).size).toBe(3);
  expect(new Set(keys.map(({ id }) => id)).size).toBe(3);
});

test.each([
  [
    'master_key_too_short',
    'the master key has 31 bytes; give at least 32 random ones',
    () => deriveTenantSecret(Buffer.alloc(31), HOST),
  ],
  [
    'tenant_secret_length',
    'the secret of a.example has 16 bytes instead of 32; copy all of it',
    () => tenantKey('a.example', Buffer.alloc(16)),
  ],
  [
    'tenant_host_invalid',
    "'10.0.0.1' cannot be the host of a tenant (server_name_ip_literal); give a DNS name",
    () => tenantKey('10.0.0.1', Buffer.alloc(32)),
  ],
  [
    'tenant_host_invalid',
    "'bücher.example' cannot be the host of a tenant (server_name_not_ascii); give a DNS name",
    () => deriveTenantSecret(MASTER, 'bücher.example'),
  ],
] as const)('throws an error with its code: %s', (code, message, make) => {
  expect(make).toThrow(expect.objectContaining({ code, message }) as Error);
});
