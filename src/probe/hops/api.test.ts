import { expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { until } from '../../net/testing/peer.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { dialTcp } from '../dial.ts';
import {
  respondWith,
  httpText,
  neverRespond,
  UNAUTHORIZED_RESPONSE,
} from '../testing/responses.ts';
import { API_HOST, ProbeLab } from '../testing/lab.ts';
import { underShortLimit } from '../testing/short-limit.ts';
import { judgeApi, probeApi } from './api.ts';

test('a kube-apiserver passes with its version', async () => {
  await using lab = await ProbeLab.create();
  const { port, protocols } = await lab.apiServer();

  const { api } = await lab.probe({ port });

  expect(api).toEqual({
    name: 'api',
    target: `https://a.k8s.test:${port}/version`,
    state: 'Pass',
    code: 'Passed',
    message: 'The API server (kube-apiserver v1.36.3) answers.',
  });
  expect(protocols.at(-1)).toBe('http/1.1');
});

test('the version of a server is quoted up to a limit', () => {
  const target = { host: 'a.k8s.test', port: 443, address: '192.0.2.1' };
  const long = 'x'.repeat(50_000);
  const body = JSON.stringify({ gitVersion: `v1\n${long}` });

  const messages = [
    judgeApi(target, { status: 200, headers: new Map([['audit-id', '1']]), body }).message,
    judgeApi(target, { status: 200, headers: new Map([['server', long]]), body: '' }).message,
  ];

  expect(messages[0]).toStartWith(
    'The API server (kube-apiserver v1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…) answers.',
  );
  for (const message of messages) expect(message.length).toBeLessThan(400);
});

test('sends the host name, and no credentials', async () => {
  await using lab = await ProbeLab.create();
  let asked = '';
  const onConnection = (socket: TLSSocket) => {
    socket.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    respondWith(UNAUTHORIZED_RESPONSE)(socket);
  };
  const { port, clients } = await lab.apiServer({ onConnection });

  await lab.probe({ port });

  expect(asked.split('\r\n')).toEqual([
    'GET /version HTTP/1.1',
    `Host: a.k8s.test:${port}`,
    'User-Agent: snicket',
    'Accept: application/json',
    '',
    '',
  ]);
  expect(clients).toEqual([]);
});

const FORBIDDEN = '{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}';

test.each<[string, string]>([
  ['401', UNAUTHORIZED_RESPONSE],
  ['403', httpText('403 Forbidden', {}, FORBIDDEN)],
  ['429', httpText('429 Too Many Requests', { 'Audit-Id': 'x' }, 'slow down')],
])('an API server that rejects anonymous requests with %s passes', async (status, text) => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer({ onConnection: respondWith(text) });

  const { api } = await lab.probe({ port });

  expect(api.code).toBe('Passed');
  expect(api.message).toBe(`An API server answers ${status} to anonymous requests.`);
});

test('an API server that responds with a server error is unhealthy', async () => {
  await using lab = await ProbeLab.create();
  const text = httpText('503 Service Unavailable', { 'Audit-Id': 'x' }, '');
  const { port } = await lab.apiServer({ onConnection: respondWith(text) });

  const { api } = await lab.probe({ port });

  expect(api).toMatchObject({ state: 'Fail', code: 'ApiUnhealthy' });
  expect(api.message).toBe('The API server answers 503.');
});

test.each<[string, string, string]>([
  [
    'a web server',
    httpText('404 Not Found', { Server: 'nginx' }, '<html>'),
    'Host a.k8s.test answers 404 (nginx), so it is not a kube-apiserver.',
  ],
  [
    'another JSON server',
    httpText('200 OK', { 'Content-Type': 'application/json' }, '[{"kind":"Status"}]'),
    'Host a.k8s.test answers 200 (application/json), so it is not a kube-apiserver.',
  ],
  [
    'an HTTP/2 server',
    '\0\0\x12\x04\0\0\0\0\0',
    'Host a.k8s.test does not answer in HTTP/1, so it is not a kube-apiserver.',
  ],
])('%s fails as not a kube-apiserver', async (_, text, message) => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer({ onConnection: respondWith(text) });

  const { api } = await lab.probe({ port });

  expect(api).toMatchObject({ state: 'Fail', code: 'NotKubernetes', message });
  expect(api.action).toContain(
    'Check that the address or the route points to the port of a kube-apiserver.',
  );
});

test('a server that closes the connection fails', async () => {
  await using lab = await ProbeLab.create();
  const onConnection = (socket: TLSSocket) => void socket.once('data', () => socket.destroy());
  const { port } = await lab.apiServer({ onConnection });

  const { api } = await lab.probe({ port });

  expect(api).toMatchObject({ state: 'Fail', code: 'ApiUnhealthy' });
  expect(api.message).toStartWith(
    `Host a.k8s.test at 127.0.0.1:${port} did not answer the request: the connection was closed.`,
  );
});

test('a silent server fails after the timeout', async () => {
  await using lab = await ProbeLab.create();
  const server = await lab.apiServer({ onConnection: neverRespond });

  const target = { host: API_HOST, address: '127.0.0.1', port: server.port };

  let limitMs = 0;
  const api = await underShortLimit(
    async (timeoutMs) => {
      limitMs = timeoutMs;
      return probeApi({ ...target, tenantCa: lab.authority.cert }, dialTcp, { timeoutMs });
    },
    ({ code }) => code === 'ApiUnhealthy',
  );

  expect(api.code).toBe('ApiUnhealthy');
  expect(api.message).toEndWith(`timeout after ${limitMs} ms.`);
  await until(() => server.sockets.every(({ destroyed }) => destroyed), 'the hang-up');
});

test('an endless response is read up to a limit', async () => {
  await using lab = await ProbeLab.create();
  const flood = Buffer.alloc(1 << 20, 'x');
  const onConnection = (socket: TLSSocket) =>
    void socket.once('data', () => socket.write(Buffer.concat([Buffer.from('HTTP/1.1 '), flood])));
  const { port } = await lab.apiServer({ onConnection });

  expect((await lab.probe({ port })).api.code).toBe('NotKubernetes');
});

test.each<[string, (lab: ProbeLab) => Promise<{ cert: string; key: string }>]>([
  ['of another CA', async () => (await TestAuthority.create()).issue({ names: [API_HOST] })],
  ['for another host', async (lab) => lab.authority.issue({ names: ['b.k8s.test'] })],
  ['with only a common name', async (lab) => lab.authority.issue({ commonName: API_HOST })],
  [
    'that has expired',
    async (lab) => lab.authority.issue({ names: [API_HOST], notAfter: new Date(0) }),
  ],
])('a server with a certificate %s receives no data', async (_, make) => {
  await using lab = await ProbeLab.create();
  const server = await lab.apiServer({ serving: await make(lab) });
  const target = { host: API_HOST, address: '127.0.0.1', port: server.port };

  const api = await probeApi({ ...target, tenantCa: lab.authority.cert }, dialTcp, {
    timeoutMs: 30_000,
  });

  expect(api.code).toBe('ApiUnhealthy');
  expect(server.received).toBe(0);
});
