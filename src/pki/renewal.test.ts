import 'reflect-metadata';
import { Name, SubjectKeyIdentifierExtension, X509Certificate } from '@peculiar/x509';
import { expect, test } from 'bun:test';
import { issueLeaf } from './leaf.ts';
import { reasonToReissue, renewalTime, type LeafState } from './renewal.ts';
import { caExtensions, makeCa } from './testing/test-ca.ts';

const DAY_MS = 24 * 3600 * 1000;
const WANTED = { names: ['kubernetes', 'kubernetes.default.svc'], addresses: ['10.96.0.1'] };
const now = new Date();
const ca = await makeCa();
const leaf = await issueLeaf({ ca, ...WANTED, now });
const good: LeafState = { ...leaf, ...WANTED, ca };

function later(days: number): Date {
  return new Date(now.getTime() + days * DAY_MS);
}

test('renews after two thirds of the lifetime, or after another fraction', () => {
  const dates = {
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2026-04-01T00:00:00Z'),
  };

  expect(renewalTime(dates)).toEqual(new Date('2026-03-02T00:00:00Z'));
  expect(renewalTime(dates, 0.5)).toEqual(new Date('2026-02-15T00:00:00Z'));
});

test('a new leaf is not reissued until it is due', () => {
  expect(reasonToReissue(good, now)).toBeUndefined();
  expect(reasonToReissue(good, later(59.9))).toBeUndefined();
  expect(reasonToReissue(good, later(60))?.code).toBe('LeafDue');
  expect(reasonToReissue(good, later(91))?.message).toMatch(
    /expires at 20.* and was due for renewal at 20/,
  );
});

test.each([
  [
    'a missing certificate',
    { certificate: undefined, key: undefined },
    'LeafAbsent',
    'no certificate yet',
  ],
  ['a missing key', { key: '' }, 'LeafAbsent', 'no certificate yet'],
  ['an empty certificate', { certificate: '\n' }, 'LeafAbsent', 'no certificate yet'],
  ['a certificate that is not PEM', { certificate: 'x' }, 'LeafUnreadable', 'cannot be read ('],
  ['a key that is not PEM', { key: 'x' }, 'LeafUnreadable', 'cannot be read ('],
  [
    'the key of another certificate',
    { key: ca.key },
    'LeafKeyMismatch',
    'the key does not belong to',
  ],
  [
    'an invalid certificate in the chain',
    {
      certificate: `${leaf.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    },
    'LeafUnreadable',
    'cannot be read (',
  ],
  [
    'a missing name',
    { names: [...WANTED.names, 'x'] },
    'LeafNamesDiffer',
    'the certificate lacks x',
  ],
  [
    'an additional name',
    { names: ['kubernetes'] },
    'LeafNamesDiffer',
    'still has kubernetes.default.svc',
  ],
  [
    'another address',
    { addresses: ['10.96.0.2'] },
    'LeafNamesDiffer',
    'the certificate lacks 10.96.0.2 and still has 10.96.0.1',
  ],
] as const)('is reissued because of %s', (_, change, code, sentence) => {
  const reason = reasonToReissue({ ...good, ...change }, now);

  expect(reason?.code).toBe(code);
  expect(reason?.message).toContain(sentence);
});

test('ignores the order and spelling of names', async () => {
  const wanted = { names: ['kubernetes'], addresses: ['fd00::1', '10.96.0.1'] };
  const issued = await issueLeaf({ ca, ...wanted, now });
  const state = {
    names: ['KUBERNETES', 'kubernetes'],
    addresses: ['10.96.0.1', 'FD00:0:0::0001', '::ffff:10.96.0.1'],
  };

  expect(reasonToReissue({ ...issued, ...state, ca }, now)).toBeUndefined();
});

test('is reissued if it was issued with a wrong clock', () => {
  expect(reasonToReissue(good, later(-1))?.code).toBe('LeafNotYetValid');
});

test('is reissued by the current CA, even if the previous CA has the same name and still exists', async () => {
  const next = await makeCa();
  const rotating = { certificate: `${ca.certificate}${next.certificate}`, key: next.key };

  const reason = reasonToReissue({ ...good, ca: rotating }, now);

  expect(reason?.code).toBe('LeafCaChanged');
  expect(reason?.message).toContain("not signed by the current CA 'CN=kubernetes-ca'");
});

test('is not reissued if its CA was renewed with the same key and name', async () => {
  const renewed = await makeCa({ keys: ca.keys, notAfter: later(5000) });

  expect(reasonToReissue({ ...good, ca: renewed }, now)).toBeUndefined();
});

test('is reissued if the renewed CA encodes its name or key identifier differently', async () => {
  const name = new Name([{ CN: [{ utf8String: 'kubernetes-ca' }] }]);
  const [constraints, usage] = await caExtensions(ca.keys);
  const otherId = new SubjectKeyIdentifierExtension('00'.repeat(20));
  const renamed = await makeCa({ keys: ca.keys, name });
  const marked = await makeCa({ keys: ca.keys, extensions: [constraints!, usage!, otherId] });

  expect(renamed.parsed.subject).toBe(ca.parsed.subject);
  expect(reasonToReissue({ ...good, ca: renamed }, now)?.code).toBe('LeafCaChanged');
  expect(reasonToReissue({ ...good, ca: marked }, now)?.code).toBe('LeafCaChanged');
});

test('is reissued if its intermediates are not the current ones', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const tenant = await makeCa({ name: 'CN=tenant', parent: root });
  const renewed = await makeCa({ name: 'CN=tenant', parent: root, keys: tenant.keys });
  const state = { ...(await issueLeaf({ ca: tenant, ...WANTED, now })), ...WANTED };

  expect(reasonToReissue({ ...state, ca: tenant }, now)).toBeUndefined();
  expect(reasonToReissue({ ...state, ca: renewed }, now)).toMatchObject({
    code: 'LeafCaChanged',
    message: expect.stringContaining('chain does not have the intermediates of'),
  });
});

test('is not reissued repeatedly when the CA itself is about to expire', async () => {
  const ending = await makeCa({ notAfter: later(3) });
  const state = { ...(await issueLeaf({ ca: ending, ...WANTED, now })), ...WANTED, ca: ending };
  const longer = await makeCa({ keys: ending.keys, notAfter: later(1000) });

  expect(new X509Certificate(state.certificate).notAfter).toEqual(ending.parsed.notAfter);
  expect(reasonToReissue(state, later(2.9))).toBeUndefined();
  expect(reasonToReissue(state, later(3.1))?.code).toBe('LeafDue');
  expect(reasonToReissue({ ...state, ca: longer }, later(2.9))?.code).toBe('LeafDue');
});

test('reports errors of the CA before those of the leaf', () => {
  expect(() => reasonToReissue({ ...good, ca: { ...ca, key: '' } }, now)).toThrow('key is empty');
});
