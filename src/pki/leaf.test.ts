import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
} from '@peculiar/x509';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { X509Certificate as NodeCertificate } from 'node:crypto';
import { issueLeaf } from './leaf.ts';
import { reasonToReissue } from './renewal.ts';
import { makeCa, type TestCa } from './testing/test-ca.ts';

const NAMES = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];
const WANTED = { names: NAMES, addresses: ['10.96.0.1', '127.0.0.1', 'fd00:96::1', '::1'] };
const DAY_MS = 24 * 3600 * 1000;

const shared = await makeCa();
const now = new Date();

async function issue(ca: Pick<TestCa, 'certificate' | 'key'> = shared, at = now) {
  return issueLeaf({ ca, ...WANTED, now: at });
}

test('is valid for servers only', async () => {
  const leaf = new X509Certificate((await issue()).certificate);

  const constraints = leaf.getExtension(BasicConstraintsExtension)!;
  const usage = leaf.getExtension(KeyUsagesExtension)!;
  expect([constraints.ca, constraints.critical]).toEqual([false, true]);
  expect([usage.usages, usage.critical]).toEqual([KeyUsageFlags.digitalSignature, true]);
  expect(leaf.getExtension(ExtendedKeyUsageExtension)!.usages).toEqual([
    ExtendedKeyUsage.serverAuth,
  ]);
  expect(leaf.subject).toBe('CN=kubernetes');
  expect(leaf.publicKey.algorithm).toMatchObject({ name: 'ECDSA', namedCurve: 'P-256' });
  const { items } = leaf.getExtension(SubjectAlternativeNameExtension)!.names;
  expect(items.map(({ type, value }) => `${type} ${value}`)).toEqual([
    ...NAMES.map((name) => `dns ${name}`),
    'ip 10.96.0.1',
    'ip 127.0.0.1',
    'ip fd00:96::1',
    'ip ::1',
  ]);
});

test('copies the key identifier of the CA, or computes it', async () => {
  const silent = await makeCa({ extensions: [new BasicConstraintsExtension(true)] });

  const leaf = new X509Certificate((await issue()).certificate);
  const other = new X509Certificate((await issue(silent)).certificate);

  const keyId = shared.parsed.getExtension(SubjectKeyIdentifierExtension)!.keyId;
  const computed = await SubjectKeyIdentifierExtension.create(silent.keys.publicKey);
  expect(leaf.getExtension(AuthorityKeyIdentifierExtension)!.keyId).toBe(keyId);
  expect(leaf.getExtension(SubjectKeyIdentifierExtension)!.keyId).toHaveLength(40);
  expect(other.getExtension(AuthorityKeyIdentifierExtension)!.keyId).toBe(computed.keyId);
});

test('is valid for 90 days, from five minutes ago', async () => {
  const at = new Date(Math.floor(Date.now() / 1000) * 1000 + 999);

  const { notBefore, notAfter } = new X509Certificate((await issue(shared, at)).certificate);

  expect(at.getTime() - notBefore.getTime()).toBe(5 * 60_000 + 999);
  expect(notAfter.getTime() - at.getTime()).toBe(90 * DAY_MS - 999);
});

test('is valid within the validity of its CA', async () => {
  const start = Math.floor(Date.now() / 1000) * 1000;
  const dates = { notBefore: new Date(start - 60_000), notAfter: new Date(start + DAY_MS) };
  const ca = await makeCa(dates);

  const leaf = new X509Certificate((await issue(ca)).certificate);

  expect(leaf.notBefore).toEqual(dates.notBefore);
  expect(leaf.notAfter).toEqual(dates.notAfter);
});

test('has a positive serial number of 127 bits, for any random bytes', async () => {
  const serialOf = async (fill: number) => {
    const random = (bytes: Uint8Array) => bytes.fill(fill);
    const leaf = await issueLeaf({ ca: shared, ...WANTED, now, random });
    return new NodeCertificate(leaf.certificate).serialNumber;
  };

  expect(await serialOf(0xff)).toBe(`7F${'FF'.repeat(15)}`);
  expect(await serialOf(0x81)).toBe(`01${'81'.repeat(15)}`);
  expect(await serialOf(0x80)).toBe('80'.repeat(15));
  expect(await serialOf(0)).not.toBe('00');
});

test('generates a new key and serial number each time', async () => {
  const first = await issue();
  const other = await issue();

  expect(first.key).not.toBe(other.key);
  expect(new NodeCertificate(first.certificate).serialNumber).not.toBe(
    new NodeCertificate(other.certificate).serialNumber,
  );
});

test('contains exactly the requested names', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}(\.[a-z][a-zA-Z0-9-]{0,20}){0,4}$/);
  const wanted = fc
    .record({
      names: fc.array(name, { maxLength: 5 }),
      addresses: fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { maxLength: 5 }),
    })
    .filter(({ names, addresses }) => names.length + addresses.length > 0);

  await fc.assert(
    fc.asyncProperty(wanted, async (names) => {
      const leaf = await issueLeaf({ ca: shared, ...names, now });

      expect(reasonToReissue({ ...leaf, ...names, ca: shared }, now)).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('rejects a CA that is not valid now, with its date', async () => {
  const expired = await makeCa({
    notAfter: new Date('2026-01-01T00:00:00Z'),
    notBefore: new Date(0),
  });
  const early = await makeCa({
    notBefore: new Date('2099-01-01T00:00:00Z'),
    notAfter: new Date('2100-01-01T00:00:00Z'),
  });

  await expect(issue(expired, new Date('2026-01-01T00:00:00Z'))).rejects.toThrow(
    "CA 'CN=kubernetes-ca' expired at 2026-01-01T00:00:00.000Z.",
  );
  await expect(issue(early)).rejects.toThrow(
    "CA 'CN=kubernetes-ca' is not valid before 2099-01-01T00:00:00.000Z.",
  );
});
