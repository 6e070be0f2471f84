import { describe, expect, test } from 'bun:test';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, signedHeader } from './testing/headers.ts';
import { until } from './testing/lab.ts';
import { responseTo, HOST_A, TwoTenants } from './testing/two-tenants.ts';

const HELLO = hello({ serverName: 'kubernetes.default.svc' });

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('requires a PROXY header of the load balancer from every source, and routes by the hello after it', async () => {
    await using world = await TwoTenants.start({ engine, proxyProtocol: 'all' });
    const plain = hello({ serverName: HOST_A });

    await world.send(balancerHeader(), plain);
    const byName = await world.a.next();
    await world.send(balancerHeader(), signedHeader(), HELLO);
    const byHeader = await world.a.next();
    const missing = await world.send(plain);
    const signedOnly = await world.send(signedHeader(), HELLO);
    const twoHeaders = await world.send(balancerHeader(), balancerHeader(), plain);

    await until(() => byName.received >= plain.length && byHeader.received > 0, 'the hellos');
    expect(byName.bytes()).toEqual(plain);
    expect(byHeader.bytes()).toEqual(HELLO);
    expect(await responseTo(missing)).toBe('internal_error');
    expect(await responseTo(signedOnly)).toBe('reset');
    expect(await responseTo(twoHeaders)).toBe('reset');
    expect(world.lab.failures('proxy_header_missing')).toBe(2);
    expect(world.lab.failures('proxy_header_not_allowed')).toBe(1);
  });

  test('requires the header from listed sources, and rejects it from other sources', async () => {
    const plain = hello({ serverName: HOST_A });
    await using inside = await TwoTenants.start({
      engine,
      proxyProtocol: ['127.0.0.0/8', 'fd00::/8'],
    });
    await using outside = await TwoTenants.start({ engine, proxyProtocol: ['10.0.0.0/8'] });

    await inside.send(balancerHeader(), plain);
    await inside.a.next();
    const missing = await inside.send(plain);
    await outside.send(plain);
    await outside.a.next();
    const forbidden = await outside.send(balancerHeader(), plain);

    expect(await responseTo(missing)).toBe('internal_error');
    expect(await responseTo(forbidden)).toBe('reset');
    expect(outside.lab.failures('proxy_header_not_allowed')).toBe(1);
  });
});
