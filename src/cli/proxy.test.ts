import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../net/testing/peer.ts';
import { TestAuthority } from '../net/testing/certificates.ts';
import { snicket } from './testing/in-process.ts';

const main = resolve(import.meta.dir, '../main.ts');
const folder = mkdtempSync(join(tmpdir(), 'snicket-cli-proxy-'));
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const authority = await TestAuthority.create();
const leaf = await authority.issue({ names: ['kubernetes'] });
const ca = file('ca.crt', authority.cert);
const cert = file('tls.crt', leaf.cert);
const key = file('tls.key', leaf.key);
const fifo = join(folder, 'fifo');
Bun.spawnSync(['mkfifo', fifo]);
const secret = Buffer.alloc(32, 9).toString('base64');
const tenantKey = file('tenant.key', secret);
afterAll(() => rmSync(folder, { recursive: true }));

const WHERE = ['--listen', '127.0.0.1:0', '--edge', '127.0.0.1:1', '--server-name', 'a.k8s.test'];
const TERMINATE = ['--mode', 'terminate', ...WHERE, '--ca', ca, '--cert', cert, '--key', key];
const PASSTHROUGH = [
  ...['--mode', 'passthrough', ...WHERE, '--ca', ca, '--tenant-key-file', tenantKey],
];

async function proxy(...args: string[]) {
  return snicket(['proxy', ...args]);
}

/** Returns the args without the option and its value. */
function without(args: readonly string[], option: string): string[] {
  const at = args.indexOf(option);
  return [...args.slice(0, at), ...args.slice(at + 2)];
}

/** Returns the args with another value for the option. */
function replaced(args: readonly string[], option: string, value: string): string[] {
  return [...without(args, option), option, value];
}

test('the help has an example of each mode', async () => {
  const { exitCode, stdout } = await proxy('--help');

  expect(stdout).toContain('snicket proxy --mode terminate --listen');
  expect(stdout).toContain('snicket proxy --mode passthrough --listen');
  expect(stdout).toContain('SNICKET_ENGINE');
  expect(stdout).toMatch(
    /--max-connections <number> +maximum number of open connections \(default:\s+100000\)/,
  );
  expect(exitCode).toBe(0);
});

const rejected: [string, string[], string][] = [
  ['no mode', without(TERMINATE, '--mode'), "required option '--mode <mode>' not specified"],
  [
    'an unknown mode',
    replaced(TERMINATE, '--mode', 'tunnel'),
    "error: invalid value 'tunnel' for --mode: must be one of passthrough, terminate",
  ],
  ['nowhere to listen', without(TERMINATE, '--listen'), "'--listen <address>' not specified"],
  [
    'a name to listen on',
    replaced(TERMINATE, '--listen', 'here:1'),
    "'here' in 'here:1' is not an IP",
  ],
  [
    'no edge',
    without(TERMINATE, '--edge'),
    'error: no address of the edge\nhint: pass --edge HOST:PORT or --edge-file FILE',
  ],
  [
    'two ways to name the edge',
    [...TERMINATE, '--edge-file', '/etc/snicket/edge'],
    'error: --edge and --edge-file are mutually exclusive\nhint: remove one of them',
  ],
  [
    'a file of the edge that is not there',
    [...without(TERMINATE, '--edge'), '--edge-file', '/nonexistent/edge'],
    '--edge-file: /nonexistent/edge cannot be read (ENOENT)',
  ],
  ['an edge without a port', replaced(TERMINATE, '--edge', 'edge.test'), "'edge.test' has no port"],
  ['no name', without(TERMINATE, '--server-name'), "'--server-name <name>' not specified"],
  [
    'an address as name',
    replaced(TERMINATE, '--server-name', '10.0.0.1'),
    "error: invalid value '10.0.0.1' for --server-name: must be a DNS name: server_name_ip_literal",
  ],
  [
    'no CA in terminate',
    without(TERMINATE, '--ca'),
    'error: mode terminate requires --ca\nhint: pass --ca FILE',
  ],
  [
    'no CA in passthrough',
    without(PASSTHROUGH, '--ca'),
    'error: mode passthrough requires --ca\nhint: pass --ca FILE',
  ],
  [
    'no certificate',
    without(TERMINATE, '--cert'),
    'error: mode terminate requires --cert\nhint: pass --cert FILE',
  ],
  [
    'no key',
    without(TERMINATE, '--key'),
    'error: mode terminate requires --key\nhint: pass --key FILE',
  ],
  [
    'no tenant key in passthrough',
    without(PASSTHROUGH, '--tenant-key-file'),
    'error: mode passthrough requires --tenant-key-file\nhint: pass --tenant-key-file FILE',
  ],
  [
    'a tenant key in terminate',
    [...TERMINATE, '--tenant-key-file', tenantKey],
    `--tenant-key-file '${tenantKey}' applies to mode passthrough, not to terminate\nhint: remove --tenant-key-file\n`,
  ],
  [
    'a certificate in passthrough',
    [...PASSTHROUGH, '--cert', cert],
    `--cert '${cert}' applies to mode terminate, not to passthrough\nhint: remove --cert\n`,
  ],
  [
    'the epoll engine in terminate',
    [...TERMINATE, '--engine', 'epoll'],
    "error: --engine 'epoll' applies to mode passthrough, not to terminate\nhint: remove --engine",
  ],
  ...['--ca', '--cert', '--key'].map((flag): [string, string[], string] => [
    `an empty ${flag}`,
    replaced(TERMINATE, flag, ''),
    `error: invalid value '' for ${flag}: must be the name of a file`,
  ]),
  [
    'an empty tenant key',
    replaced(PASSTHROUGH, '--tenant-key-file', ''),
    "error: invalid value '' for --tenant-key-file: must be the name of a file",
  ],
  [
    'a file that is not there',
    replaced(TERMINATE, '--ca', '/no/such'),
    'error: --ca: /no/such cannot be read (ENOENT)\nhint: specify an existing file',
  ],
  [
    'a key that is not there',
    replaced(TERMINATE, '--key', '/no/such'),
    'error: --key: /no/such cannot be read (ENOENT)\nhint: specify an existing file',
  ],
  [
    'a directory',
    replaced(PASSTHROUGH, '--tenant-key-file', folder),
    `error: --tenant-key-file: ${folder} is not a regular file`,
  ],
  ['a FIFO', replaced(TERMINATE, '--cert', fifo), `error: --cert: ${fifo} is not a regular file`],
  ['a device', replaced(TERMINATE, '--ca', '/dev/zero'), '--ca: /dev/zero is not a regular file'],
  [
    'a pair that is none',
    replaced(TERMINATE, '--key', ca),
    `error: --cert, --key: ${ca} contains no`,
  ],
  ['a CA that is none', replaced(TERMINATE, '--ca', key), 'contains no certificate'],
  ['a tenant key that is none', replaced(PASSTHROUGH, '--tenant-key-file', ca), 'is not base64'],
  [
    'a grace period that is not a number',
    [...TERMINATE, '--grace', 'soon'],
    "error: invalid value 'soon' for --grace: must be a duration such as 30s or 1m30s",
  ],
  [
    'no connections',
    [...TERMINATE, '--max-connections', '0'],
    "error: invalid value '0' for --max-connections: must be an integer from 1 to 10000000",
  ],
];

test.each(rejected)(
  'rejects %s with exit code 2, the value and a hint',
  async (_, args, message) => {
    const { exitCode, stdout, stderr } = await proxy(...args);

    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  },
);

test.each(['--listen', '--http'])(
  'exits with 1 if the address of %s is not available',
  async (flag) => {
    using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });

    const busy = await proxy(...replaced(TERMINATE, flag, `127.0.0.1:${taken.port}`));
    const foreign = await proxy(...replaced(TERMINATE, flag, '203.0.113.1:6443'));

    expect(busy.stderr).toContain(
      `error: cannot listen on 127.0.0.1:${taken.port} (EADDRINUSE)\nhint: `,
    );
    expect(foreign.stderr).toContain('`ip address add 203.0.113.1/32 dev lo scope host`');
    expect([busy.exitCode, foreign.exitCode]).toEqual([1, 1]);
  },
);

test.each([
  ['terminate', TERMINATE],
  ['passthrough', PASSTHROUGH],
])(
  '%s runs while the edge is down, exits with 0 at SIGTERM, and logs no secret',
  async (mode, args) => {
    const limits = ['--max-buffered-bytes', '1000000'];
    const options = [...limits, '--grace', '0', '--drain', '0', '--log-level', 'debug'];
    const child = Bun.spawn([process.execPath, main, 'proxy', ...args, ...options], {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, SNICKET_ENGINE: 'epoll' },
    });
    let log = '';
    const reading = (async () => {
      for await (const chunk of child.stderr) log += Buffer.from(chunk).toString();
    })();
    await until(() => log.includes('dial_refused'), `a log: ${log}`);
    child.kill('SIGHUP');
    await until(() => log.includes('nothing to reopen'), 'the answer to SIGHUP');

    child.kill('SIGTERM');
    const exitCode = await child.exited;
    await reading;

    expect(log).toContain(`"mode":"${mode}"`);
    expect(log).toContain('"graceMs":0');
    expect(log.includes('SNICKET_ENGINE')).toBe(mode === 'terminate');
    expect(log).not.toContain(secret);
    expect(log).not.toContain(leaf.key.split('\n')[1]!);
    expect(exitCode).toBe(0);
  },
);
