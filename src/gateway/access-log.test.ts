import { describe, expect, test } from 'bun:test';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Backend, Peer } from '../net/testing/peer.ts';
import { createLogger } from '../telemetry/log.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { AccessLog } from './access-log.ts';
import { balancerHeader } from './testing/headers.ts';
import { GatewayLab, until } from './testing/lab.ts';

const silent = createLogger({ write: () => {} });
/** Time limit of a close that must write all lines, even on a slow machine. */
const CLOSE_LIMIT_MS = 100_000;

function newFolder() {
  const path = mkdtempSync(join(tmpdir(), 'snicket-access-log-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test('appends lines in order', async () => {
  using folder = newFolder();
  const log = new AccessLog(join(folder.path, 'log'), silent);

  for (let line = 1; line <= 100; line++) log.add(`${line}\n`, 1);
  await log.close(CLOSE_LIMIT_MS);

  const lines = readFileSync(join(folder.path, 'log'), 'utf8').trim().split('\n');
  expect(lines.map(Number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(log.written).toBe(100);
});

test.skipIf(process.platform !== 'linux')(
  'counts the lines lost on a full disk, and logs the error once',
  async () => {
    const lines: string[] = [];
    const log = new AccessLog('/dev/full', createLogger({ write: (line) => lines.push(line) }));

    for (let round = 1; round <= 3; round++) {
      log.add('a line\n', 1);
      await until(() => log.dropped === round, 'a dropped line');
    }
    await log.close(CLOSE_LIMIT_MS);

    expect(log.written).toBe(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('ENOSPC');
  },
);

test.each(['the same file', 'a new file'])(
  'begins a new line after an error that left a partial line, in %s',
  async (target) => {
    using folder = newFolder();
    const path = join(folder.path, 'log');
    const disk = { isFull: false };
    // The disk takes six bytes per write. After the first six it is full until the test frees it.
    const log = new AccessLog(path, silent, async (descriptor, bytes, at) => {
      if (disk.isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      disk.isFull = log.dropped === 0;
      return writeSync(descriptor, bytes, at, Math.min(6, bytes.length - at));
    });

    log.add('one\ntwo\nthree\n', 3);
    await until(() => log.dropped === 3, 'the error');
    disk.isFull = false;
    if (target === 'a new file') renameSync(path, `${path}.1`);
    log.add('four\nfive\n', 2);
    await log.close(CLOSE_LIMIT_MS);

    const before = target === 'a new file' ? '' : 'one\ntw\n';
    expect(readFileSync(path, 'utf8')).toBe(`${before}four\nfive\n`);
  },
);

test('reports a FIFO without a reader at the start, and drops lines until it has one', async () => {
  using folder = newFolder();
  const path = join(folder.path, 'fifo');
  Bun.spawnSync(['mkfifo', path]);
  const lines: string[] = [];
  const log = new AccessLog(path, createLogger({ write: (line) => lines.push(line) }));

  log.open();
  const atStart = lines.length;
  log.add('lost\n', 1);
  await until(() => log.dropped === 1, 'a dropped line');
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  log.add('read\n', 1);
  await log.close(CLOSE_LIMIT_MS);

  expect(atStart).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('ENXIO');
  expect(log.written).toBe(1);
  const bytes = Buffer.alloc(100);
  expect(bytes.toString('utf8', 0, readSync(reader, bytes))).toBe('read\n');
  closeSync(reader);
});

test('continues when the reader of a full FIFO continues, and close() does not wait for a stalled reader', async () => {
  using folder = newFolder();
  const path = join(folder.path, 'fifo');
  Bun.spawnSync(['mkfifo', path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const lines: string[] = [];
  const log = new AccessLog(path, createLogger({ write: (line) => lines.push(line) }));
  const bytes = Buffer.alloc(1024 * 1024);

  log.add(`${'x'.repeat(99_999)}\n`, 1);
  let count = 0;
  await until(() => {
    try {
      count += readSync(reader, bytes);
    } catch {
      // nothing to read yet
    }
    return count === 100_000;
  }, 'the whole line, which is longer than the pipe');
  await until(() => log.written === 1, 'the count of the line');
  log.add(`${'y'.repeat(99_999)}\n`, 1);
  await log.close(50);

  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('not fully written in time');
  closeSync(reader);
});

test('drops lines that exceed its buffer', async () => {
  using folder = newFolder();
  const log = new AccessLog(join(folder.path, 'log'), silent);
  const megabyte = `${'x'.repeat(1024 * 1024 - 1)}\n`;

  for (let count = 0; count < 20; count++) log.add(megabyte, 10);
  await log.close(CLOSE_LIMIT_MS);

  expect(log.dropped).toBe(120);
  expect(log.written).toBe(80);
});

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('writes a line per connection, with the client address from the PROXY header of a load balancer', async () => {
    using backend = new Backend();
    const endpoints = ['127.0.0.1:1', `127.0.0.1:${backend.port}`];
    await using lab = await GatewayLab.start({
      engine,
      accessLog: 'access.log',
      proxyProtocol: 'all',
      routes: [{ host: 'a.test', kind: 'konnectivity', endpoints }, { host: 'b.test' }],
    });
    const header = balancerHeader('2001:db8::7', '2001:db8::1');
    const path = join(lab.folder, 'access.log');
    const lines = () => {
      const text = lab.number('access_log_lines_total') === 0 ? '' : readFileSync(path, 'utf8');
      return text
        .split('\n')
        .slice(0, -1)
        .map((line): Record<string, unknown> => JSON.parse(line));
    };

    // Two connections to the first route, so that one of them dials the endpoint that refuses.
    for (let count = 1; count <= 2; count++) {
      const client = await Peer.dial(lab.port);
      await client.send(Buffer.concat([header, hello({ serverName: 'a.test' })]));
      const upstream = await backend.next();
      await upstream.send(Buffer.alloc(1000));
      upstream.fin();
      await until(() => client.sawFin, 'the answer');
      client.fin();
    }
    const refused = await Peer.dial(lab.port);
    await refused.send(Buffer.concat([header, hello({ serverName: 'b.test' })]));
    await until(() => refused.sawFin, 'the refusal');
    refused.close();
    const garbage = await Peer.dial(lab.port);
    await garbage.send(Buffer.from('GET / HTTP/1.0\r\n'));
    await until(() => garbage.sawFin || garbage.closed, 'the end of the client that sent garbage');
    garbage.close();
    await until(() => lines().length === 4, 'all lines');

    const [first, second, third, fourth] = lines();
    expect(first).toMatchObject({
      tenant: 'a',
      host: 'a.test',
      kind: 'konnectivity',
      client: '[2001:db8::7]:4711',
      endpoint: endpoints[1],
      bytesUp: hello({ serverName: 'a.test' }).length,
      bytesDown: 1000,
      reason: 'completed',
    });
    expect(first!.via).toMatch(/^127\.0\.0\.1:\d+$/);
    // One attempt more if the back-off of the refusing endpoint ends between the two connections.
    expect([3, 4]).toContain(Number(first!.attempts) + Number(second!.attempts));
    expect(third).toMatchObject({
      tenant: 'b',
      host: 'b.test',
      attempts: 0,
      reason: 'no_endpoint',
    });
    expect(fourth).toMatchObject({ reason: 'proxy_header_missing', bytesUp: 0 });
    expect(fourth!.host).toBeUndefined();
  });
});
