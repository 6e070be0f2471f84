import { expect, test } from 'bun:test';
import type { Environment } from '../kube/access/in-cluster.ts';
import type { TcpProxySettings } from '../tcp-proxy/settings.ts';
import { tcpProxyCommand } from './tcp-proxy.ts';
import { tcpProxyArguments } from './flags/tcp-proxy-arguments.ts';
import { snicket } from './testing/in-process.ts';
import { Terminal } from './testing/snicket.ts';
import { TestIo } from './testing/test-io.ts';

const EVERYWHERE = [
  { address: '0.0.0.0', port: 6443 },
  { address: '::', port: 6443 },
];
const STEWARDS = [
  ...['--upstream-addr=green.k8s.test:443', '--listen-addr=:6443'],
  ...['--tls-cert-file=/tls/tls.crt', '--tls-key-file=/tls/tls.key', '--upstream-insecure=true'],
];
const SERVING = { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key' };

interface Read extends TcpProxySettings {
  readonly level: string;
}

/** Returns the settings that the command derives from its arguments. */
async function read(args: readonly string[], env: Environment = {}): Promise<Read> {
  let read: Read | undefined;
  const command = tcpProxyCommand(new TestIo({ env }), async (_, settings, level) => {
    read = { ...settings, level };
  });
  const [, ...flags] = tcpProxyArguments(['tcp-proxy', ...args]);
  await command.exitOverride().parseAsync(flags, { from: 'user' });
  if (read === undefined) throw new Error('the command did not run');
  return read;
}

const UP = '--upstream-addr=green.k8s.test:443';
const accepted: [string, string[], Environment, Partial<Read>][] = [
  [
    'the command line and environment of Steward',
    STEWARDS,
    { POD_IP: '192.0.2.11' },
    {
      listen: EVERYWHERE,
      upstream: { host: 'green.k8s.test', port: 443 },
      serverName: 'green.k8s.test',
      serving: SERVING,
      nodeAddress: '192.0.2.11',
      serviceName: 'steward-tcp-proxy',
      intervalMs: 5000,
      http: [],
      level: 'info',
    },
  ],
  [
    'a load balancer: an address, and no certificate',
    ['--upstream-addr=203.0.113.7:6443', '--listen-addr=:6443'],
    { POD_IP: '192.0.2.11' },
    {
      upstream: { host: '203.0.113.7', port: 6443 },
      serverName: 'kubernetes.default.svc',
      notices: [],
      serving: undefined,
    },
  ],
  [
    'nothing but an upstream',
    [UP],
    {},
    { listen: EVERYWHERE, nodeAddress: undefined, notices: [] },
  ],
  [
    'the environment where flags are not given, or empty',
    ['--upstream-addr='],
    { UPSTREAM_ADDR: 'a.test:1', TLS_CERT_FILE: '/tls/tls.crt', TLS_KEY_FILE: '/tls/tls.key' },
    { upstream: { host: 'a.test', port: 1 }, serving: SERVING },
  ],
  [
    'flags before the environment',
    STEWARDS,
    { UPSTREAM_ADDR: 'a.test:1', TLS_CERT_FILE: '/a', TLS_KEY_FILE: '/b' },
    { upstream: { host: 'green.k8s.test', port: 443 }, serving: SERVING },
  ],
  [
    'one dash',
    ['-upstream-addr', 'a.test:1', '-v=4'],
    {},
    { serverName: 'a.test', level: 'debug' },
  ],
  ['a name to ask for', [UP, '--upstream-sni=Blue.test'], {}, { serverName: 'blue.test' }],
  ['a name with its dot', ['--upstream-addr=a.test.:1'], {}, { serverName: 'a.test' }],
  ['another Service', [UP, '--service-name=proxy'], {}, { serviceName: 'proxy' }],
  ['a short interval', [UP, '--reconcile-interval=2s500ms'], {}, { intervalMs: 2500 }],
  ['a long interval', [UP, '--reconcile-interval=10m'], {}, { intervalMs: 5000 }],
  ['a hasty interval', [UP, '--reconcile-interval', '1ms'], {}, { intervalMs: 1000 }],
  ['the level below 4', [UP, '--v', '3'], {}, { level: 'info' }],
  ['flags of klog', [UP, '--logtostderr', '--vmodule=a=2', '--log_dir=/x'], {}, { notices: [] }],
  ['an empty POD_IP', [UP], { POD_IP: '' }, { nodeAddress: undefined }],
  ['POD_IP of IPv6', [UP], { POD_IP: 'FD00:0::1' }, { nodeAddress: 'fd00::1' }],
  [
    'an address for health',
    [UP, '--http=127.0.0.1:9090'],
    {},
    { http: [{ address: '127.0.0.1', port: 9090 }] },
  ],
  ['insecure said as false', [...STEWARDS, '--upstream-insecure=false'], {}, { notices: [] }],
  ['the same port for the Service', [UP, '--service-port=6443'], {}, { notices: [] }],
];

test.each(accepted)('accepts %s', async (_, args, env, settings) => {
  expect(await read(args, env)).toMatchObject(settings);
});

test.each([
  ['--upstream-insecure=true', STEWARDS, {}, '--upstream-insecure is ignored: '],
  ['--upstream-insecure', [...STEWARDS.slice(0, 4), '--upstream-insecure'], {}, 'is ignored: '],
  ['another port for the Service', [UP, '--service-port=443'], {}, 'its port is 6443, from'],
  [
    'an address that is not that of the node',
    [UP, '--listen-addr=192.0.2.1:6443'],
    { POD_IP: '192.0.2.2' },
    '--listen-addr is 192.0.2.1:6443 only, but pods are sent to 192.0.2.2',
  ],
])('warns about %s', async (_, args, env, sentence) => {
  const { notices } = await read(args, env);

  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain(sentence);
});

const rejected: [string, string[], Environment, string][] = [
  [
    'no upstream',
    [],
    {},
    'error: --upstream-addr or UPSTREAM_ADDR is required\nhint: write api.example.com:443',
  ],
  ['an upstream without a port', ['--upstream-addr=a'], {}, "'a' has no port from 1 to 65535"],
  [
    'an upstream with two ports',
    ['--upstream-addr=a.test:443:443'],
    {},
    'Steward adds the port, so omit it from the hostname',
  ],
  [
    'a certificate without a key',
    [UP, '--tls-cert-file=/c'],
    {},
    "--tls-cert-file '/c' requires --tls-key-file",
  ],
  [
    'a key without a certificate',
    [UP],
    { TLS_KEY_FILE: '/k' },
    "error: --tls-key-file '/k' requires --tls-cert-file\nhint: set both or neither",
  ],
  [
    'an address as server name',
    ['--upstream-addr=192.0.2.1:443', ...STEWARDS.slice(2)],
    {},
    'set one with --upstream-sni',
  ],
  [
    'an invalid server name',
    [UP, '--upstream-sni=a..b'],
    {},
    "--upstream-sni 'a..b' is not a DNS name",
  ],
  [
    'a name as listen address',
    [UP, '--listen-addr=here:1'],
    {},
    "--listen-addr: 'here' in 'here:1'",
  ],
  ['a loopback POD_IP', [UP], { POD_IP: '127.0.0.1' }, "POD_IP '127.0.0.1' is a loopback address"],
  ['an invalid POD_IP', [UP], { POD_IP: 'node' }, "POD_IP 'node' is no IP address"],
  ['an interval of zero', [UP, '--reconcile-interval=0s'], {}, 'must be positive'],
  ['an interval without a unit', [UP, '--reconcile-interval=30'], {}, "invalid duration '30'"],
  [
    'a value for --upstream-insecure that is not a boolean',
    [UP, '--upstream-insecure=maybe'],
    {},
    'is not true or false',
  ],
  [
    'an invalid port',
    [UP, '--service-port=0'],
    {},
    "error: invalid value '0' for --service-port: must be a port from 1 to 65535",
  ],
  [
    'an invalid Service name',
    [UP, '--service-name=A'],
    {},
    "--service-name 'A' is not a valid Service name",
  ],
  [
    'a flag of a later version',
    [...STEWARDS, '--upstream-ca-file=/ca'],
    {},
    "error: unknown argument '--upstream-ca-file=/ca': Snicket has the flags of steward-tcp-proxy v0.2.0\nhint: see --help; if a later version of Steward passes it, set addons.tcpProxy.image to an image that supports it",
  ],
  [
    'a flag of a later version with a value',
    ['--new', 'x', UP],
    {},
    "error: unknown argument '--new': Snicket has the flags of steward-tcp-proxy v0.2.0\nhint: see --help; if a later version of Steward passes it, set addons.tcpProxy.image to an image that supports it",
  ],
  [
    'an extra argument',
    [UP, 'word'],
    {},
    "error: unknown argument 'word': Snicket has the flags of steward-tcp-proxy v0.2.0\nhint: see --help; if a later version of Steward passes it, set addons.tcpProxy.image to an image that supports it",
  ],
];

test.each(rejected)('rejects %s and says what to do', async (_, args, env, message) => {
  const { exitCode, stderr } = await snicket(['tcp-proxy', ...args], { env });

  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

test('the help has the command lines of Steward as examples', async () => {
  const { exitCode, stdout } = await snicket(['tcp-proxy', '--help']);

  for (const flag of ['listen-addr', 'upstream-addr', 'tls-cert-file', 'tls-key-file', 'v']) {
    expect(stdout).toContain(`  --${flag} `);
  }
  for (const name of ['POD_IP', 'UPSTREAM_ADDR', 'TLS_CERT_FILE', 'KUBERNETES_SERVICE_HOST']) {
    expect(stdout).toContain(name);
  }
  expect(stdout).toContain('--upstream-addr=203.0.113.7:6443 --listen-addr=:6443');
  expect(exitCode).toBe(0);
});

test('runs without the command word, and exits with 1 outside of a pod', async () => {
  using terminal = new Terminal();

  const { exitCode, stderr } = await terminal.spawn(STEWARDS);

  expect(stderr).toStartWith(
    'error: not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set\nhint: outside of a pod, use snicket proxy',
  );
  expect(stderr).not.toContain('    at ');
  expect(exitCode).toBe(1);
});

test('exits with 2 for a flag of a later version', async () => {
  const { exitCode, stderr } = await snicket([...STEWARDS, '--upstream-ca-file=/ca']);

  expect(stderr).toContain(
    "error: unknown argument '--upstream-ca-file=/ca': Snicket has the flags of steward-tcp-proxy v0.2.0\nhint: see --help; if a later version of Steward passes it, set addons.tcpProxy.image to an image that supports it",
  );
  expect(exitCode).toBe(2);
});
