import 'reflect-metadata';
import { Name, X509Certificate } from '@peculiar/x509';
import { expect, test } from 'bun:test';
import { X509Certificate as NodeCertificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { certificateBlocks } from '../wire/pem.ts';
import { issueLeaf } from './leaf.ts';
import { reasonToReissue } from './renewal.ts';
import { hasOpenssl, openssl } from './testing/openssl.ts';
import { makeCa, type TestCa, type TestCaOptions } from './testing/test-ca.ts';

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

async function issue(ca: Pick<TestCa, 'certificate' | 'key'> = shared) {
  return issueLeaf({ ca, ...WANTED, now });
}

const KINDS: [string, TestCaOptions][] = [
  ['RSA, PKCS#1', { kind: 'rsa', form: 'pkcs1' }],
  ['RSA, PKCS#8', { kind: 'rsa' }],
  ['P-256, SEC1', { form: 'sec1' }],
  ['P-256, PKCS#8', {}],
  ['P-384, SEC1', { kind: 'p384', form: 'sec1' }],
  ['P-521, PKCS#8', { kind: 'p521' }],
  ['Ed25519', { kind: 'ed25519' }],
];

test.each(KINDS)('signs with a CA key of type %s', async (_, options) => {
  const ca = await makeCa(options);

  const leaf = await issue(ca);

  const certificate = new NodeCertificate(leaf.certificate);
  expect(certificate.verify(new NodeCertificate(ca.certificate).publicKey)).toBe(true);
  expect(leaf.key).toStartWith('-----BEGIN PRIVATE KEY-----\n');
  expect(reasonToReissue({ ...leaf, ...WANTED, ca }, now)).toBeUndefined();
});

test.skipIf(!hasOpenssl).each(KINDS)(
  'passes openssl verify -x509_strict, with a CA with %s',
  async (_, options) => {
    const ca = await makeCa(options);
    const leaf = await issue(ca);
    const files = { 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate };
    const verify = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'ca.crt'];

    const byName = openssl(files, ...verify, '-verify_hostname', NAMES[3]!, 'tls.crt');
    const byIPv4 = openssl(files, ...verify, '-verify_ip', '10.96.0.1', 'tls.crt');
    const byIPv6 = openssl(files, ...verify, '-verify_ip', 'fd00:96::1', 'tls.crt');
    const byAnother = openssl(files, ...verify, '-verify_ip', '10.96.0.2', 'tls.crt');

    expect([byName, byIPv4, byIPv6]).toEqual(['tls.crt: OK\n', 'tls.crt: OK\n', 'tls.crt: OK\n']);
    expect(byAnother).toContain('IP address mismatch');
  },
);

/** CN as TeletexString with a Latin letter. The library cannot write it, but old CAs use it. */
const TELETEX = Buffer.from('3012311030' + '0e0603550403' + '14074bfc6e2a6b7562', 'hex');

test.each([
  ['printable', new Name([{ C: [{ printableString: 'DE' }] }, { CN: ['kube ca'] }])],
  ['UTF-8', new Name([{ O: [{ utf8String: 'Zürich' }] }, { CN: [{ utf8String: 'plain' }] }])],
  ['BMP', new Name([{ CN: [{ bmpString: 'kubernetes' }] }])],
  ['teletex', new Name(TELETEX)],
  ['IA5', new Name([{ DC: [{ ia5String: 'example' }] }, { CN: ['kubernetes'] }])],
  ['a set of several', new Name([{ O: ['b'], OU: ['a'], CN: ['z', 'c'] }, { CN: ['kubernetes'] }])],
])("copies the CA's name byte by byte if it is %s", async (kind, name) => {
  const ca = await makeCa({ name });

  const leaf = await issue(ca);

  const bytes = kind === 'teletex' ? TELETEX : Buffer.from(name.toArrayBuffer());
  expect(Buffer.from(ca.parsed.rawData).includes(bytes)).toBe(true);
  expect(Buffer.from(new X509Certificate(leaf.certificate).rawData).includes(bytes)).toBe(true);
});

test('during a replacement of the CA, signs with the certificate of the key', async () => {
  const old = await makeCa({ name: 'CN=kubernetes' });
  const next = await makeCa({ name: 'CN=kubernetes' });

  for (const certificate of [
    `${old.certificate}${next.certificate}`,
    `${next.certificate}${old.certificate}`,
  ]) {
    const leaf = await issue({ certificate, key: next.key });

    const { publicKey } = new NodeCertificate(next.certificate);
    expect(new NodeCertificate(leaf.certificate).verify(publicKey)).toBe(true);
    expect(certificateBlocks(leaf.certificate)).toHaveLength(1);
  }
});

test.skipIf(!hasOpenssl)('includes the intermediates of its CA, but not the root', async () => {
  const root = await makeCa({ kind: 'rsa', name: 'CN=root' });
  const middle = await makeCa({ kind: 'p384', name: 'CN=middle', parent: root });
  const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 + 5 * DAY_MS);
  const ca = await makeCa({ name: 'CN=tenant', parent: middle, notAfter });
  const certificate = `# a chain\n${ca.certificate}${middle.certificate}${root.certificate}`;

  const leaf = await issue({ certificate, key: ca.key });

  const chain = certificateBlocks(leaf.certificate).map((block) => new X509Certificate(block));
  expect(chain.map(({ subject }) => subject)).toEqual(['CN=kubernetes', 'CN=tenant', 'CN=middle']);
  expect(chain[0]!.notAfter).toEqual(notAfter);
  const files = { 'root.crt': root.certificate, 'tls.crt': leaf.certificate };
  const words = ['-x509_strict', '-CAfile', 'root.crt', '-untrusted', 'tls.crt', 'tls.crt'];
  expect(openssl(files, 'verify', ...words)).toBe('tls.crt: OK\n');
});

test('is accepted for each of its names and addresses in a real handshake, and for no other', async () => {
  const leaf = await issue();
  const server = createServer({ cert: leaf.certificate, key: leaf.key });
  server.listen(0, '::');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shake = async (host: string, servername?: string) => {
    const options = { host, port, ca: shared.certificate, ...(servername && { servername }) };
    const socket = connect(options);
    try {
      await once(socket, 'secureConnect');
      return 'ok';
    } catch (error) {
      return (error as { code?: string }).code;
    } finally {
      socket.destroy();
    }
  };

  const results = await Promise.all([
    ...NAMES.map(async (name) => shake('127.0.0.1', name)),
    shake('127.0.0.1'),
    shake('::1'),
    shake('127.0.0.1', 'kubernetes.other.svc'),
    shake('127.0.0.2'),
  ]);
  server.close();

  const wrong = 'ERR_TLS_CERT_ALTNAME_INVALID';
  expect(results).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', wrong, wrong]);
});
