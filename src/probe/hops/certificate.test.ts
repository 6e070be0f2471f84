import { expect, test } from 'bun:test';
import { API_HOST, DAY_MS, ProbeLab } from '../testing/lab.ts';

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

test('a valid certificate with the host passes with its expiry', async () => {
  await using lab = await ProbeLab.create();
  const notAfter = new Date('2099-01-02T03:04:05Z');
  const serving = await lab.authority.issue({ names: ['other.test', API_HOST], notAfter });
  const { port } = await lab.apiServer({ serving });

  const { certificate } = await lab.probe({ port });

  expect(certificate.code).toBe('Passed');
  // The CA expires first, in a year.
  expect(certificate.message).toMatch(
    /^The certificate includes a\.k8s\.test and is valid until 2/,
  );
  expect(certificate.message).not.toContain('2099');
});

test('warns in the last week', async () => {
  await using lab = await ProbeLab.create();
  const serving = await lab.authority.issue({ names: [API_HOST], notAfter: inDays(8) });
  const { port } = await lab.apiServer({ serving });

  const early = await lab.probe({ port });
  const late = await lab.probe({ port }, { now: inDays(1.5) });

  expect(early.certificate.code).toBe('Passed');
  expect(late.certificate).toMatchObject({ state: 'Pass', code: 'CertificateExpiresSoon' });
  expect(late.certificate.message).toStartWith(
    'The certificate CN=leaf issued by CN=kubernetes expires at 2',
  );
  expect(late.certificate.action).toBe('Renew the certificate CN=leaf issued by CN=kubernetes.');
  expect(late.api.state).toBe('Pass');
});

test('an expired certificate fails with its expiry', async () => {
  await using lab = await ProbeLab.create();
  const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 - DAY_MS);
  const { port } = await lab.apiServer({
    serving: await lab.authority.issue({ names: [API_HOST], notAfter }),
  });

  const { certificate } = await lab.probe({ port });

  expect(certificate).toMatchObject({ state: 'Fail', code: 'CertificateExpired' });
  expect(certificate.message).toBe(
    `The certificate CN=leaf issued by CN=kubernetes expired at ${notAfter.toISOString()}.`,
  );
});

test('a certificate of an expired CA fails', async () => {
  await using lab = await ProbeLab.create();
  const serving = await lab.authority.issue({ names: [API_HOST], notAfter: inDays(400) });
  const { port } = await lab.apiServer({ serving });

  const { certificate } = await lab.probe({ port }, { now: inDays(370) });

  expect(certificate.code).toBe('CertificateExpired');
  expect(certificate.message).toStartWith(
    'The certificate CN=kubernetes issued by CN=kubernetes expired',
  );
});

test('a certificate that is not valid yet fails', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  // The leaf is nine days old, its CA ten.
  const { certificate } = await lab.probe({ port }, { now: inDays(-9.5) });

  expect(certificate).toMatchObject({ state: 'Fail', code: 'CertificateNotYetValid' });
  expect(certificate.message).toContain(
    'The certificate CN=kube-apiserver issued by CN=kubernetes is not valid before',
  );
});

test.each<[string, readonly string[], string]>([
  ['other names', ['b.k8s.test', '10.0.0.1'], 'b.k8s.test, 10.0.0.1'],
  ['only a common name', [], 'none'],
  [
    'very many names',
    Array.from({ length: 30 }, (_, index) => `n${index}.test`),
    `${Array.from({ length: 20 }, (_, index) => `n${index}.test`).join(', ')} and 10 more`,
  ],
])('a certificate with %s lacks the host', async (_, names, shown) => {
  await using lab = await ProbeLab.create();
  const serving = await lab.authority.issue({ commonName: API_HOST, names });
  const { port } = await lab.apiServer({ serving });

  const { certificate } = await lab.probe({ port });

  expect(certificate).toMatchObject({ state: 'Fail', code: 'CertificateNameMissing' });
  expect(certificate.message).toBe(
    `The certificate does not include a.k8s.test. Its names: ${shown}.`,
  );
  expect(certificate.action).toStartWith(
    "Add a.k8s.test to the names of the server's certificate (for an API server, certSANs in kubeadm and most providers), and have the certificate issued again.",
  );
});

test('a wildcard covers the host', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer({
    serving: await lab.authority.issue({ names: ['*.k8s.test'] }),
  });

  expect((await lab.probe({ port })).certificate.code).toBe('Passed');
});
