import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dns, writeRecords } from './records.ts';
import { serveDns } from './server.ts';

// The queries come from a real resolver, c-ares, over a real socket.

let folder: string;
let path: string;
let server: Bun.udp.Socket<'buffer'>;
let resolver: Resolver;
let dns: Dns;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-dns-'));
  path = join(folder, 'dns.json');
  writeRecords(path, { names: { 'a.test': ['10.0.0.1', 'fd00::1', '10.0.0.2'] }, views: [] });
  server = await serveDns('127.0.0.1', 0, path);
  resolver = resolverOf(server);
  dns = new Dns(path);
});

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

describe('a resolver gets', () => {
  test('the addresses of a name, by family', async () => {
    const [four, six] = await Promise.all([
      resolver.resolve4('a.test'),
      resolver.resolve6('a.test'),
    ]);

    expect(four.toSorted()).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(six).toEqual(['fd00::1']);
  });

  test('the same addresses for a name in another case', async () => {
    expect(await resolver.resolve6('A.Test')).toEqual(['fd00::1']);
  });

  test('a change with the next query', async () => {
    const before = await resolver.resolve6('a.test');
    dns.set('a.test', 'fd00::2');

    // A new resolver, because the first one caches the answer for its TTL of one second.
    const after = await resolverOf(server).resolve6('a.test');

    expect(before).toEqual(['fd00::1']);
    expect(after).toEqual(['fd00::2']);
  });

  test('NXDOMAIN for an unknown name', async () => {
    expect(await failureOf(resolver.resolve4('b.test'))).toBe('ENOTFOUND');
  });

  test('NXDOMAIN for a removed name', async () => {
    dns.remove('a.test');

    expect(await failureOf(resolver.resolve4('a.test'))).toBe('ENOTFOUND');
  });

  test('SERVFAIL for a name with that failure', async () => {
    dns.break('a.test', 'servfail');

    expect(await failureOf(resolver.resolve4('a.test'))).toBe('ESERVFAIL');
  });

  test.each(['constructor', '__proto__'])(
    'NXDOMAIN for %p, which is a property of every object',
    async (name) => {
      expect(await failureOf(resolver.resolve4(name))).toBe('ENOTFOUND');
    },
  );
});

test('ignores invalid messages and queries for silent names, and answers the next query', async () => {
  dns.break('silent.test', 'silent');
  const client = createSocket('udp4');
  const answers: Buffer[] = [];
  client.on('message', (message) => answers.push(message));
  const send = (message: Buffer) => client.send(message, server.port, '127.0.0.1');

  send(Buffer.from('not a query'));
  send(query(1, 'silent'));
  send(query(2, 'a'));
  await once(client, 'message');
  client.close();

  expect(answers.map((message) => message.readUInt16BE(0))).toEqual([2]);
});

function query(id: number, label: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, label.length]),
    Buffer.from(`${label}\x04test\0\0\x01\0\x01`, 'latin1'),
  ]);
}

function resolverOf({ port }: Bun.udp.Socket<'buffer'>): Resolver {
  const created = new Resolver({ timeout: 20_000, tries: 1 });
  created.setServers([`127.0.0.1:${port}`]);
  return created;
}

async function failureOf(lookup: Promise<unknown>): Promise<string | undefined> {
  return lookup.then(
    () => undefined,
    (error: unknown) => (error as NodeJS.ErrnoException).code?.replace('DNS_', ''),
  );
}
