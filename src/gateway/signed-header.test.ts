import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Peer } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, MASTER_KEY, signedHeader } from './testing/headers.ts';
import { until } from './testing/lab.ts';
import { responseTo, HOST_A, HOST_B, TwoTenants } from './testing/two-tenants.ts';

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
  test('routes by the signed header instead of the hello, and does not forward the header', async () => {
    await using world = await TwoTenants.start({ engine });

    await world.send(signedHeader(), HELLO);
    const upstream = await world.a.next();

    await until(() => upstream.received >= HELLO.length, 'the hello');
    expect(upstream.bytes()).toEqual(HELLO);
    expect(world.b.peers).toHaveLength(0);
  });

  test('accepts a header that arrives byte by byte', async () => {
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

    expect(await responseTo(await world.send(forged, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_key_unknown')).toBe(1);
    const labels = `tenant="b",host="${HOST_B}",kind="api",reason="tenant_key_unknown"`;
    expect(world.lab.number('tenant_failures_total', labels)).toBe(1);
  });

  test('rejects a header that was modified', async () => {
    await using world = await TwoTenants.start({ engine });
    const forged = signedHeader();
    forged[16] = 99; // part of the pod's address

    expect(await responseTo(await world.send(forged, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_forged')).toBe(1);
  });

  test('accepts a header only once', async () => {
    await using world = await TwoTenants.start({ engine });
    const header = signedHeader();
    await world.send(header, HELLO);
    await world.a.next();

    expect(await responseTo(await world.send(header, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_replayed')).toBe(1);
    expect(world.a.peers).toHaveLength(1);
  });

  test('rejects an old header', async () => {
    await using world = await TwoTenants.start({ engine });
    const header = signedHeader({ at: Date.now() / 1000 - 3600 });

    expect(await responseTo(await world.send(header, HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_expired')).toBe(1);
  });

  test('rejects every signed header without a key file', async () => {
    await using world = await TwoTenants.start({ engine, keyFile: undefined });

    expect(await responseTo(await world.send(signedHeader(), HELLO))).toBe('handshake_failure');
    expect(world.lab.failures('tenant_key_unknown')).toBe(1);
  });

  test('refuses a signed header for an unknown host, and one that is not followed by TLS', async () => {
    await using world = await TwoTenants.start({ engine });

    const unknown = await world.send(signedHeader({ host: 'c.k8s.test' }), HELLO);
    const noTls = await world.send(signedHeader(), Buffer.from('GET /'));

    expect(await responseTo(unknown)).toBe('unrecognized_name');
    expect(await responseTo(noTls)).toBe('reset');
    expect(world.lab.failures('name_unknown')).toBe(1);
    expect(world.lab.failures('not_tls')).toBe(1);
  });

  test('treats a signature without a host as unsigned', async () => {
    await using world = await TwoTenants.start({ engine });

    const nameless = await world.send(withoutAuthority(signedHeader()), HELLO);

    expect(await responseTo(nameless)).toBe('handshake_failure');
    expect(world.lab.failures('tenant_unsigned')).toBe(1);
    expect(world.lab.failures('name_unknown')).toBe(0);
  });

  test('accepts exactly the keys in the key file while the user replaces a key', async () => {
    await using world = await TwoTenants.start({ engine });
    const { lab } = world;
    const isAccepted = async (masterKey: Buffer) => {
      const before = world.a.peers.length;
      const client = await world.send(signedHeader({ masterKey }), HELLO);
      await until(
        () => client.sawFin || client.closed || world.a.peers.length > before,
        'a result',
      );
      return world.a.peers.length > before;
    };
    const replaceKeys = async (text: string, acceptedKey: Buffer, rejectedKey?: Buffer) => {
      lab.writeKeys(text);
      await until(async () => isAccepted(acceptedKey), 'the new key');
      if (rejectedKey !== undefined) expect(await isAccepted(rejectedKey)).toBeFalse();
    };

    expect(await isAccepted(MASTER_KEY)).toBeTrue();
    expect(await isAccepted(NEW_KEY)).toBeFalse();
    await replaceKeys(
      `${MASTER_KEY.toString('base64')}\n# next\n${NEW_KEY.toString('hex')}\n`,
      NEW_KEY,
    );
    expect(await isAccepted(MASTER_KEY)).toBeTrue();
    await replaceKeys(`${NEW_KEY.toString('hex')}\n`, NEW_KEY);
    await until(async () => !(await isAccepted(MASTER_KEY)), 'the end of the old key');

    lab.writeKeys('not a key\n');
    await until(
      () => lab.number('keys_last_load_successful') === 0,
      'the failed load of the key file',
    );
    expect(await isAccepted(NEW_KEY)).toBeTrue();
    expect(JSON.stringify(lab.log)).not.toContain(NEW_KEY.toString('hex'));
  });

  test('logs the address of the pod only if the header is verified', async () => {
    await using world = await TwoTenants.start({
      engine,
      accessLog: 'access.log',
      proxyProtocol: 'all',
    });
    const forged = signedHeader();
    forged[16] = 99;

    const verified = await world.send(balancerHeader(), signedHeader(), HELLO);
    await world.a.next();
    verified.reset();
    await until(() => world.lab.number('access_log_lines_total') === 1, 'the first line');
    const unverified = await world.send(balancerHeader(), forged, HELLO);
    await responseTo(unverified);
    unverified.close();
    await until(() => world.lab.number('access_log_lines_total') === 2, 'the second line');

    const text = await Bun.file(join(world.lab.folder, 'access.log')).text();
    const [first, second] = text.split('\n');
    expect(JSON.parse(first!)).toMatchObject({ host: HOST_A, client: '10.1.2.3:4711' });
    expect(JSON.parse(second!)).toMatchObject({
      client: '192.0.2.7:4711',
      reason: 'tenant_forged',
    });
  });

  test('is not ready if the key file has no valid key', async () => {
    await using world = await TwoTenants.start({ engine, keys: 'no key\n' });
    const before = await world.lab.get('/readyz');

    world.lab.writeKeys(`${MASTER_KEY.toString('base64')}\n`);
    await until(async () => (await world.lab.get('/readyz')).status === 200, 'readiness');

    expect(before.status).toBe(503);
    expect(await before.text()).toContain('keys:1: not a valid base64 or hex key');
  });
});
