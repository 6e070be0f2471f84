import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Backend } from '../../net/testing/peer.ts';
import { respondWith, VERSION_RESPONSE } from '../../probe/testing/responses.ts';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

/** The edge, the proxy and the Service of a node without a virtual address. */
let server: ApiServer;
let health: Bun.Server<undefined>;
let terminal: Terminal;
let args: readonly string[];
let isReady = true;

beforeAll(async () => {
  const authority = await TestAuthority.create('kubernetes');
  const names = ['localhost', 'kubernetes.default.svc'];
  const serving = await authority.issue({ names });
  server = await ApiServer.start({ serving, onConnection: respondWith(VERSION_RESPONSE) });
  health = Bun.serve({
    hostname: '127.9.9.9',
    port: 0,
    fetch: () =>
      new Response(isReady ? 'ok' : 'the edge is silent', { status: isReady ? 200 : 503 }),
  });
  terminal = new Terminal();
  terminal.write('ca.crt', authority.cert);
  args = [
    ...['doctor', '--from-worker', '--host', 'localhost', '--ca', 'ca.crt'],
    ...['--edge', `127.0.0.1:${server.port}`, '--service-address', `127.0.0.1:${server.port}`],
    ...['--no-virtual-address', '--proxy-port', String(server.port)],
    ...['--health-port', String(health.port)],
  ];
});

afterAll(async () => {
  terminal[Symbol.dispose]();
  await health.stop(true);
  await server[Symbol.asyncDispose]();
});

test('all hops pass on a healthy node', async () => {
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe('');
  expect(stdout.replaceAll(String(server.port), 'PORT'))
    .toBe(`this machine  localhost:PORT  edge 127.0.0.1
  HOP           STATE  CODE           TARGET
  dns           Pass   Passed         localhost
  edge          Pass   Passed         127.0.0.1:PORT
  sni           Pass   Passed         localhost:PORT
  certificate   Pass   Passed         localhost
  api           Pass   Passed         https://localhost:PORT/version
  node-address  Skip   NotApplicable  lo
  node-proxy    Pass   Passed         127.0.0.1:PORT
  node-service  Pass   Passed         127.0.0.1:PORT

1 machine: 0 Fail, 0 Warn, 7 Pass, 1 Skip
`);
  expect(exitCode).toBe(0);
});

test('-o json reports a missing virtual address', async () => {
  const virtual = ['--virtual-address', '100.64.99.99'];
  const others = args.filter((word) => word !== '--no-virtual-address');
  const { exitCode, stdout } = await terminal.snicket([...others, ...virtual, '-o', 'json']);

  const report = JSON.parse(stdout) as { tally: object; hops: readonly object[] };
  expect(report.tally).toEqual({ fail: 1, warn: 0, pass: 5, skip: 2 });
  expect(report.hops[5]).toEqual({
    hop: 'node-address',
    state: 'Fail',
    code: 'NodeAddressMissing',
    target: '100.64.99.99 on lo',
    message: '100.64.99.99 is not on lo.',
    action: expect.stringContaining(
      'To add the address manually: snicket address add 100.64.99.99',
    ),
  });
  expect(exitCode).toBe(1);
});

test('a proxy that is not ready fails only if the edge works', async () => {
  isReady = false;
  const fault = await terminal.snicket(args);
  const wrongHost = args.map((word) => (word === 'localhost' ? 'other.localhost' : word));
  const echo = await terminal.snicket(wrongHost);
  isReady = true;

  expect(fault.stdout).toMatch(/^ {2}node-proxy +Fail +NodeProxyNotReady/m);
  expect(fault.stdout).toContain('    The proxy is not ready: the edge is silent.\n');
  expect(echo.stdout).toMatch(/^ {2}certificate +Fail +CertificateNameMissing/m);
  expect(echo.stdout).toMatch(/^ {2}node-proxy +Skip +PrerequisiteFailed/m);
});

test('requests to the node do not use the HTTP proxy of the environment', async () => {
  using other = new Backend();
  const proxy = `http://127.0.0.1:${other.port}`;
  const env = ['env', `http_proxy=${proxy}`, `HTTP_PROXY=${proxy}`, 'no_proxy=', 'NO_PROXY='];

  const { exitCode, stdout } = await terminal.run([...env, terminal.program, ...args]);

  expect(stdout).toMatch(/^ {2}node-proxy +Pass +Passed/m);
  expect(other.peers).toEqual([]);
  expect(exitCode).toBe(0);
});

test.each(['', 'A B', '*.x', '1.2.3.4', 'a\r\nX: y', 'a'.repeat(100_000)])(
  'rejects an invalid host: %#',
  async (host) => {
    for (const flag of ['--host', '--konnectivity-host']) {
      const { exitCode, stderr, stdout } = await terminal.snicket([...args, flag, host]);

      expect(stderr).toContain('must be a DNS name such as blue.k8s.example.com');
      expect(stdout).toBe('');
      expect(exitCode).toBe(2);
    }
  },
);

test.each([
  [['--ca', ''], "error: invalid value '' for --ca: must be the name of a file"],
  [
    ['--ca', 'none.crt'],
    'error: cannot read --ca none.crt: ENOENT\nhint: on a kubeadm node it is /etc/kubernetes/pki/ca.crt',
  ],
  [
    ['--ca', 'kubeconfig'],
    "error: cannot read --ca kubeconfig: there is no certificate in it\nhint: pass a file with the tenant's CA as PEM",
  ],
  [['--edge', 'nowhere'], "'nowhere' has no port from 1 to 65535 at its end"],
  [
    ['--service-address', ':443'],
    "error: invalid value ':443' for --service-address: must be an IP address and a port such as 10.96.0.1:443",
  ],
  [['--virtual-address', '127.0.0.1'], "'127.0.0.1' is a loopback address"],
])('rejects %j', async (more, sentence) => {
  terminal.write('kubeconfig', 'apiVersion: v1\n');

  const { exitCode, stderr, stdout } = await terminal.snicket([...args, ...more]);

  expect(stderr).toContain(sentence);
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});
