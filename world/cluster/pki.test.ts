import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPrivateKey, createSign, createVerify, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { Authority, tokenKeys, writeCredential, type Credential } from './pki.ts';

let folder: string;
let authority: Authority;
let foreign: Authority;
let server: Credential;
let client: Credential;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-pki-'));
  [authority, foreign] = await Promise.all([Authority.create('a-ca'), Authority.create('a-ca')]);
  server = await authority.issue({
    commonName: 'kube-apiserver',
    names: ['a.k8s.snicket.test', '127.0.0.1', 'fd00::1'],
  });
  client = await authority.issue({
    commonName: 'kubernetes-admin',
    organization: 'system:masters',
  });
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('a certificate', () => {
  test('contains user and group for Kubernetes', () => {
    const { subject } = new X509Certificate(client.certificate);

    expect(subject.split('\n')).toEqual(['O=system:masters', 'CN=kubernetes-admin']);
  });

  test('contains DNS names and IP addresses', () => {
    const { subjectAltName } = new X509Certificate(server.certificate);

    expect(subjectAltName).toBe(
      'DNS:a.k8s.snicket.test, IP Address:127.0.0.1, IP Address:FD00:0:0:0:0:0:0:1',
    );
  });

  test('is verified by its authority only, even if another authority has the same name', () => {
    const certificate = new X509Certificate(server.certificate);
    const [trusted, untrusted] = [authority, foreign].map(
      (ca) => new X509Certificate(ca.certificate),
    );

    expect(certificate.checkIssued(trusted!)).toBe(true);
    expect(certificate.verify(trusted!.publicKey)).toBe(true);
    expect(certificate.verify(untrusted!.publicKey)).toBe(false);
  });

  test('is valid on a machine whose clock is an hour behind, and expires before its authority', () => {
    const [ca, leaf] = [authority, server].map(
      (credential) => new X509Certificate(credential.certificate),
    );

    expect(Date.parse(leaf!.validFrom)).toBeLessThan(Date.now() - 3600_000);
    expect(Date.parse(leaf!.validTo)).toBeGreaterThan(Date.now() + 3600_000);
    expect(Date.parse(leaf!.validTo)).toBeLessThan(Date.parse(ca!.validTo));
  });

  test('has a unique serial number', () => {
    const serials = [authority, foreign, server, client].map(
      ({ certificate }) => new X509Certificate(certificate).serialNumber,
    );

    expect(new Set(serials).size).toBe(4);
  });
});

describe.skipIf(Bun.which('openssl') === null)('openssl in strict mode', () => {
  test('accepts a server by name and by address, and a client', () => {
    expect(verify(server, 'sslserver', '-verify_hostname', 'a.k8s.snicket.test')).toEndWith('OK\n');
    expect(verify(server, 'sslserver', '-verify_ip', 'fd00::1')).toEndWith('OK\n');
    expect(verify(client, 'sslclient')).toEndWith('OK\n');
  });

  test('rejects a server with another name, and a client certificate for a server', () => {
    expect(verify(server, 'sslserver', '-verify_hostname', 'b.test')).toContain(
      'hostname mismatch',
    );
    expect(verify(server, 'sslclient')).toMatch(/unsuitable certificate purpose|unsupported/);
    expect(verify(client, 'sslserver')).toMatch(/unsuitable certificate purpose|unsupported/);
  });

  function verify(credential: Credential, purpose: string, ...flags: string[]): string {
    const ca = writeCredential(folder, 'ca', authority);
    const leaf = writeCredential(folder, 'leaf', credential);
    const { stdout, stderr } = Bun.spawnSync(
      [
        'openssl',
        'verify',
        '-x509_strict',
        '-purpose',
        purpose,
        ...flags,
        '-CAfile',
        ca.certificate,
      ].concat(leaf.certificate),
    );
    return `${stderr.toString()}${stdout.toString()}`;
  }
});

describe('a TLS handshake', () => {
  test.each(['a.k8s.snicket.test', '127.0.0.1'])(
    'succeeds with a server named %s',
    async (name) => {
      const { outcome } = await handshake({ name });

      expect(outcome).toBe('accepted');
    },
  );

  test('fails with a server under a name that its certificate does not have', async () => {
    const { outcome } = await handshake({ name: 'b.k8s.snicket.test' });

    expect(outcome).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('fails with a server of another authority, even one of the same name', async () => {
    const { outcome } = await handshake({ name: 'a.k8s.snicket.test', trusting: foreign });

    expect(outcome).not.toBe('accepted');
    expect(outcome).not.toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('authenticates a client of a trusted authority', async () => {
    const { clientTrusted, clientName } = await handshake({ name: '127.0.0.1', as: client });

    expect(clientTrusted).toBe(true);
    expect(clientName).toBe('kubernetes-admin');
  });

  test('does not authenticate a client of another authority', async () => {
    const impostor = await foreign.issue({ commonName: 'kubernetes-admin' });

    const { clientTrusted } = await handshake({ name: '127.0.0.1', as: impostor });

    expect(clientTrusted).toBe(false);
  });

  /** Performs a TLS handshake and returns what the client and the server observed. */
  async function handshake(options: { name: string; trusting?: Authority; as?: Credential }) {
    const listener = createServer({
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const accepted = Promise.withResolvers<TLSSocket>();
    listener.on('secureConnection', accepted.resolve);
    listener.on('tlsClientError', () => {});
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const socket = connect({
      host: '127.0.0.1',
      port: (listener.address() as AddressInfo).port,
      ca: (options.trusting ?? authority).certificate,
      ...(/^\d/.test(options.name) ? {} : { servername: options.name }),
      ...(options.as ? { cert: options.as.certificate, key: options.as.key } : {}),
    });
    const outcome = await new Promise<string>((resolve) => {
      socket.once('secureConnect', () => resolve('accepted'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    const peer = outcome === 'accepted' ? await accepted.promise : undefined;
    const result = {
      outcome,
      clientTrusted: peer?.authorized,
      clientName: peer?.getPeerCertificate().subject?.CN,
    };
    socket.destroy();
    peer?.destroy();
    listener.close();
    return result;
  }
});

describe('an authority with an RSA key', () => {
  test('stores the key in PKCS#1 and has a matching certificate', async () => {
    const rsa = await Authority.create('etcd-ca', { keyType: 'rsa' });

    expect(rsa.key).toStartWith('-----BEGIN RSA PRIVATE KEY-----\n');
    expect(new X509Certificate(rsa.certificate).checkPrivateKey(createPrivateKey(rsa.key))).toBe(
      true,
    );
  });

  test('signs certificates with ECDSA keys', async () => {
    const rsa = await Authority.create('etcd-ca', { keyType: 'rsa' });
    const leaf = await rsa.issue({ commonName: 'root' });
    const certificate = new X509Certificate(leaf.certificate);

    expect(certificate.verify(new X509Certificate(rsa.certificate).publicKey)).toBe(true);
    expect(createPrivateKey(leaf.key).asymmetricKeyType).toBe('ec');
  });
});

describe.each(['ecdsa', 'rsa'] as const)('an authority with a key of type %s', (keyType) => {
  test('can be opened from its certificate and key, and signs as before', async () => {
    const created = await Authority.create('kubernetes', { keyType });

    const opened = await Authority.open({ certificate: created.certificate, key: created.key });

    const [ca, before, after] = [
      created,
      await created.issue({ commonName: 'one' }),
      await opened.issue({ commonName: 'one' }),
    ].map(({ certificate }) => new X509Certificate(certificate));
    expect(after!.verify(ca!.publicKey)).toBe(true);
    expect(after!.checkIssued(ca!)).toBe(true);
    expect(after!.issuer).toBe(before!.issuer);
    expect([opened.certificate, opened.key]).toEqual([created.certificate, created.key]);
  });
});

test('a token signed with the private key is verified with the public one', async () => {
  const keys = await tokenKeys();

  const signature = createSign('sha256').update('token').sign(keys.privateKey);

  expect(createVerify('sha256').update('token').verify(keys.publicKey, signature)).toBe(true);
  expect(createVerify('sha256').update('other').verify(keys.publicKey, signature)).toBe(false);
});

test('a credential is written with a key that only its owner can read', () => {
  const paths = writeCredential(join(folder, 'below'), 'apiserver', server);

  expect(paths.certificate).toBe(join(folder, 'below', 'apiserver.crt'));
  expect(readFileSync(paths.certificate, 'utf8')).toBe(server.certificate);
  expect(readFileSync(paths.key, 'utf8')).toBe(server.key);
  expect(statSync(paths.key).mode & 0o777).toBe(0o600);
});
