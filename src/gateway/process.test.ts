/** Tests of signals, exit codes and flags of the gateway process. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Backend, Peer } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { routesJson, until } from './testing/lab.ts';

const MAIN = resolve(import.meta.dir, '../main.ts');
const HELLO = hello({ serverName: 'a.test' });

let folder = '';
let running: Bun.Subprocess | undefined;
let backend: Backend;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-gateway-'));
  backend = new Backend();
  const endpoints = [`127.0.0.1:${backend.port}`];
  writeFileSync(join(folder, 'routes.json'), routesJson([{ host: 'a.test', endpoints }]));
});

afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.exited;
  running = undefined;
  backend[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

/** Starts `snicket gateway` on free ports, and waits until it is ready. */
async function start(...flags: string[]) {
  return startWithStdout('ignore', ...flags);
}

/** Like {@link start}, with the given standard output. */
async function startWithStdout(stdout: number | 'ignore', ...flags: string[]) {
  const log = join(folder, 'log');
  const command = [process.execPath, MAIN, 'gateway', '--routes', join(folder, 'routes.json')];
  const places = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--workers', '2'];
  const child = Bun.spawn([...command, ...places, ...flags], { stdout, stderr: Bun.file(log) });
  running = child;
  let ports: RegExpExecArray | null = null;
  await until(() => {
    ports = /"listen":\["127.0.0.1:(\d+)".*"http":\["127.0.0.1:(\d+)"\]/.exec(
      readFileSync(log, 'utf8'),
    );
    return ports !== null || child.exitCode !== null;
  }, 'the ports');
  const [, port, httpPort] = (ports ?? []) as string[];
  return { child, port: Number(port), httpPort, log: () => readFileSync(log, 'utf8') };
}

async function connectClients(port: number, count: number): Promise<Peer[]> {
  const clients: Peer[] = [];
  while (clients.length < count) {
    const batch = Array.from({ length: Math.min(50, count - clients.length) }, async () => {
      const client = await Peer.dial(port);
      await client.send(HELLO);
      return client;
    });
    clients.push(...(await Promise.all(batch)));
  }
  await until(() => backend.peers.length === count, 'all connections at the tenant');
  return clients;
}

test.each([
  [[], 20],
  [['--max-tenant-connections', '7'], 7],
  [['--max-tenant-connections', '0'], 0],
])('limits a route to a fifth of all connections by default; flags %j', async (flags, limit) => {
  const { httpPort } = await start('--max-connections', '100', ...flags);

  const metrics = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();

  expect(metrics).toContain(`\nsnicket_gateway_tenant_connections_limit ${limit}\n`);
});

test('closes its connections on SIGTERM, and exits with code 0', async () => {
  const { child, port } = await start('--grace', '0', '--drain', '0');
  const clients = await connectClients(port, 100);

  child.kill('SIGTERM');

  await until(() => clients.every((client) => client.sawFin || client.closed), 'no client left');
  for (const client of clients) client.close();
  expect(await child.exited).toBe(0);
});

test('accepts connections during the grace period, but is not ready', async () => {
  const { child, port, httpPort } = await start('--grace', '30s');
  const readiness = async () => (await fetch(`http://127.0.0.1:${httpPort}/readyz`)).status;
  const before = await readiness();

  child.kill('SIGTERM');
  await until(async () => (await readiness()) === 503, 'the failing readiness');
  await connectClients(port, 1);

  expect(before).toBe(200);
  expect(child.exitCode).toBeNull();
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'exits immediately on a second signal, %s',
  async (second) => {
    const { child, port, log } = await start('--grace', '60s', '--drain', '70s');
    const [client] = await connectClients(port, 1);

    child.kill('SIGTERM');
    await until(() => log().includes('draining'), 'the drain');
    child.kill(second);

    expect(await child.exited).toBe(0);
    expect(log()).toContain('"graceMs":60000,"drainMs":70000');
    await until(() => client!.sawFin || client!.closed, 'the end of the connection');
  },
);

test.each(['a FIFO', 'standard output'])(
  'exits in time if no process reads its access log on %s',
  async (target) => {
    const path = join(folder, 'fifo');
    Bun.spawnSync(['mkfifo', path]);
    const flags = [
      '--access-log',
      target === 'a FIFO' ? path : '-',
      '--grace',
      '0',
      '--drain',
      '0',
    ];
    // `r+` gives the FIFO a reader, which never reads. The FIFO holds 64 KiB.
    const stdout = target === 'a FIFO' ? 'ignore' : openSync(path, 'r+');
    const { child, port, httpPort, log } = await startWithStdout(stdout, ...flags);
    const metrics = async () => (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
    for (let round = 0; round < 20; round++) {
      const unknownClients = Array.from({ length: 50 }, async () => {
        const unknown = await Peer.dial(port);
        await unknown.send(hello({ serverName: 'z.test' }));
        await until(() => unknown.sawFin, 'the refusal');
        unknown.close();
      });
      await Promise.all(unknownClients);
    }
    const page = await metrics();

    child.kill('SIGTERM');

    expect(await child.exited).toBe(0);
    if (stdout !== 'ignore') closeSync(stdout);
    expect(page).toContain('snicket_gateway_access_log_lines_dropped_total');
    expect(log()).toContain(target === 'a FIFO' ? 'ENXIO' : 'not fully written in time');
  },
);

test('exits on SIGTERM if its routes file and key file are FIFOs', async () => {
  rmSync(join(folder, 'routes.json'));
  const keys = join(folder, 'keys');
  Bun.spawnSync(['mkfifo', join(folder, 'routes.json'), keys]);
  const { child, httpPort, log } = await start('--key-file', keys, '--grace', '0', '--drain', '0');
  const readiness = await (await fetch(`http://127.0.0.1:${httpPort}/readyz`)).text();

  child.kill('SIGTERM');

  expect(await child.exited).toBe(0);
  expect(readiness).toContain('is not a regular file');
  expect(log()).toContain(`${keys} is not a regular file`);
});

test('exits with code 1 and a message when the port is in use', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });

  const { child, log } = await start('--listen', `127.0.0.1:${other.port}`);

  expect(await child.exited).toBe(1);
  expect(log()).toContain(`cannot listen on 127.0.0.1:${other.port} (EADDRINUSE)`);
  expect(log()).toContain('stop it, or choose another');
  other.stop();
});

test('exits with code 1 and a message when the HTTP port is in use', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });

  const { child, log } = await start('--http', `127.0.0.1:${other.port}`);

  expect(await child.exited).toBe(1);
  expect(log()).toContain(`cannot serve HTTP on 127.0.0.1:${other.port} (EADDRINUSE)`);
  other.stop();
});

test('writes the access log, and starts a new file on SIGHUP', async () => {
  const path = join(folder, 'access.log');
  const { child, port } = await start('--access-log', path);
  const lines = (file: string) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
  const [first] = await connectClients(port, 1);
  first?.fin();
  (await backend.next()).fin();
  await until(() => exists(path) && lines(path).length === 1, 'the first line');

  renameSync(path, `${path}.1`);
  child.kill('SIGHUP');
  await until(async () => {
    const unknown = await Peer.dial(port);
    await unknown.send(hello({ serverName: 'z.test' }));
    await until(() => unknown.sawFin, 'the refusal');
    unknown.close();
    return exists(path);
  }, 'the new file');
  await until(() => exists(path) && lines(path).length > 0, 'the first line of the new file');

  expect(lines(`${path}.1`)[0]).toMatchObject({
    tenant: 'a',
    host: 'a.test',
    kind: 'api',
    endpoint: `127.0.0.1:${backend.port}`,
    attempts: 1,
    bytesUp: HELLO.length,
    bytesDown: 0,
    reason: 'completed',
  });
  expect(lines(`${path}.1`)[0]!.client).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(lines(path)[0]).toMatchObject({ host: 'z.test', attempts: 0, reason: 'name_unknown' });
});

function exists(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
