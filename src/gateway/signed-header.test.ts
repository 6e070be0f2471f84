import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Peer } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, MASTER_KEY, signedHeader } from './testing/headers.ts';
import { until } from './testing/lab.ts';
import { answer, HOST_A, HOST_B, TwoTenants } from './testing/two-tenants.ts';

const NEW_KEY = Buffer.alloc(32, 2);
const HELLO = hello({ serverName: 'kubernetes.default.svc' });

/** Returns the header without its first TLV. */
function withoutAuthority(header: Buffer): Buffer {
  const start = balancerHeader().length; // this header has no TLV
  const end = start + 3 + header.readUInt16BE(start + 1);
  const cut = Buffer.concat([header.subarray(0, start), header.subarray(end)]);
  cut.writeUInt16BE(header.readUInt16BE(14) - (end - start), 14);
  return cut;
}

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('routes by the signed header, whatever the hello says, and does not forward it to the tenant', async () => {
    await using world = await TwoTenants.start({ engine });

    await world.say(signedHeader(), HELLO);
    const upstream = await world.a.next();

    await until(() => upstream.received >= HELLO.length, 'the hello');
    expect(upstream.bytes()).toEqual(HELLO);
    expect(world.b.peers).toHaveLength(0);
  });

  test('takes a header byte by byte', async () => {
    await using world = await TwoTenants.start({ engine });
    const bytes = Buffer.concat([signedHeader(), HELLO]);

    const client = await Peer.dial(world.lab.port);
    for (const byte of bytes) await client.send(Buffer.from([byte]));
    const upstream = await world.a.next();

    await until(() => upstream.received >= HELLO.length, 'the hello');
    expect(upstream.bytes()).toEqual(HELLO);
  });

  test('rejects a header signed with the key of another tenant', async () => {
    await using world = await TwoTenants.start({ engine });
    const forged = signedHeader();
    const at = forged.indexOf(HOST_A);
    forged.write(HOST_B, at, 'latin1');

    expect(await answer(await world.say(forged, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_key_unknown')).toBe(1);
    const labels = `tenant="b",host="${HOST_B}",kind="api",reason="tenant_key_unknown"`;
    expect(world.lab.number('tenant_failures_total', labels)).toBe(1);
  });

  test('rejects a header that was modified', async () => {
    await using world = await TwoTenants.start({ engine });
    const forged = signedHeader();
    forged[16] = 99; // part of the pod's address

    expect(await answer(await world.say(forged, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_forged')).toBe(1);
  });

  test('accepts a header once', async () => {
    await using world = await TwoTenants.start({ engine });
    const header = signedHeader();
    await world.say(header, HELLO);
    await world.a.next();

    expect(await answer(await world.say(header, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_replayed')).toBe(1);
    expect(world.a.peers).toHaveLength(1);
  });

  test('rejects an old header', async () => {
    await using world = await TwoTenants.start({ engine });
    const header = signedHeader({ at: Date.now() / 1000 - 3600 });

    expect(await answer(await world.say(header, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_expired')).toBe(1);
  });

  test('rejects every signed header without a key file', async () => {
    await using world = await TwoTenants.start({ engine, keyFile: undefined });

    expect(await answer(await world.say(signedHeader(), HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_key_unknown')).toBe(1);
  });

  test('answers a signed header for a host that has no route, and one with no TLS behind it', async () => {
    await using world = await TwoTenants.start({ engine });

    const unknown = await world.say(signedHeader({ host: 'c.k8s.test' }), HELLO);
    const noTls = await world.say(signedHeader(), Buffer.from('GET /'));

    expect(await answer(unknown)).toBe('unrecognized_name');
    expect(await answer(noTls)).toBe('reset');
    expect(world.lab.failures('name_unknown')).toBe(1);
    expect(world.lab.failures('not_tls')).toBe(1);
  });

  test('takes a stamp that names no host for unsigned', async () => {
    await using world = await TwoTenants.start({ engine });

    const nameless = await world.say(withoutAuthority(signedHeader()), HELLO);

    expect(await answer(nameless)).toBe('handshake_failure');
    expect(world.lab.failures('tenant_unsigned')).toBe(1);
    expect(world.lab.failures('name_unknown')).toBe(0);
  });

  test('takes new keys while it runs: the old, both, the new', async () => {
    await using world = await TwoTenants.start({ engine });
    const { lab } = world;
    const works = async (masterKey: Buffer) => {
      const before = world.a.peers.length;
      const client = await world.say(signedHeader({ masterKey }), HELLO);
      await until(() => client.sawFin || client.closed || world.a.peers.length > before, 'a word');
      return world.a.peers.length > before;
    };
    const change = async (text: string, worksThen: Buffer, worksNoMore?: Buffer) => {
      lab.writeKeys(text);
      await until(async () => works(worksThen), 'the new key');
      if (worksNoMore !== undefined) expect(await works(worksNoMore)).toBeFalse();
    };

    expect(await works(MASTER_KEY)).toBeTrue();
    expect(await works(NEW_KEY)).toBeFalse();
    await change(`${MASTER_KEY.toString('base64')}\n# next\n${NEW_KEY.toString('hex')}\n`, NEW_KEY);
    expect(await works(MASTER_KEY)).toBeTrue();
    await change(`${NEW_KEY.toString('hex')}\n`, NEW_KEY);
    await until(async () => !(await works(MASTER_KEY)), 'the end of the old key');

    lab.writeKeys('not a key\n');
    await until(() => lab.number('keys_last_load_successful') === 0, 'the report of the bad file');
    expect(await works(NEW_KEY)).toBeTrue();
    expect(JSON.stringify(lab.log)).not.toContain(NEW_KEY.toString('hex'));
  });

  test('logs the pod that a verified header names, and no pod that a forged one does', async () => {
    await using world = await TwoTenants.start({
      engine,
      accessLog: 'access.log',
      proxyProtocol: 'all',
    });
    const forged = signedHeader();
    forged[16] = 99;

    const good = await world.say(balancerHeader(), signedHeader(), HELLO);
    await world.a.next();
    good.reset();
    await until(() => world.lab.number('access_log_lines_total') === 1, 'the first line');
    const bad = await world.say(balancerHeader(), forged, HELLO);
    await answer(bad);
    bad.close();
    await until(() => world.lab.number('access_log_lines_total') === 2, 'the second line');

    const text = await Bun.file(join(world.lab.folder, 'access.log')).text();
    const [first, second] = text.split('\n');
    expect(JSON.parse(first!)).toMatchObject({ host: HOST_A, client: '10.1.2.3:4711' });
    expect(JSON.parse(second!)).toMatchObject({
      client: '192.0.2.7:4711',
      reason: 'tenant_forged',
    });
  });

  test('is not ready without keys where it should have some', async () => {
    await using world = await TwoTenants.start({ engine, keys: 'no key\n' });
    const before = await world.lab.get('/readyz');

    world.lab.writeKeys(`${MASTER_KEY.toString('base64')}\n`);
    await until(async () => (await world.lab.get('/readyz')).status === 200, 'readiness');

    expect(before.status).toBe(503);
    expect(await before.text()).toContain('keys:1: not a valid base64 or hex key');
  });
});
