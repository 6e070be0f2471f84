import { describe, expect, test } from 'bun:test';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, signedHeader } from './testing/headers.ts';
import { until } from './testing/lab.ts';
import { answer, HOST_A, TwoTenants } from './testing/two-tenants.ts';

const HELLO = hello({ serverName: 'kubernetes.default.svc' });

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('requires a header of the load balancer from every source, and routes by the hello after it', async () => {
    await using world = await TwoTenants.start({ engine, proxyProtocol: 'all' });
    const plain = hello({ serverName: HOST_A });

    await world.say(balancerHeader(), plain);
    const byName = await world.a.next();
    await world.say(balancerHeader(), signedHeader(), HELLO);
    const byHeader = await world.a.next();
    const missing = await world.say(plain);
    const signedOnly = await world.say(signedHeader(), HELLO);
    const twice = await world.say(balancerHeader(), balancerHeader(), plain);

    await until(() => byName.received >= plain.length && byHeader.received > 0, 'the hellos');
    expect(byName.bytes()).toEqual(plain);
    expect(byHeader.bytes()).toEqual(HELLO);
    expect(await answer(missing)).toBe('internal_error');
    expect(await answer(signedOnly)).toBe('reset');
    expect(await answer(twice)).toBe('reset');
    expect(world.lab.failures('proxy_header_missing')).toBe(2);
    expect(world.lab.failures('proxy_header_not_allowed')).toBe(1);
  });

  test('wants that header from listed sources, and allows it from no other', async () => {
    const plain = hello({ serverName: HOST_A });
    await using inside = await TwoTenants.start({
      engine,
      proxyProtocol: ['127.0.0.0/8', 'fd00::/8'],
    });
    await using outside = await TwoTenants.start({ engine, proxyProtocol: ['10.0.0.0/8'] });

    await inside.say(balancerHeader(), plain);
    await inside.a.next();
    const missing = await inside.say(plain);
    await outside.say(plain);
    await outside.a.next();
    const forbidden = await outside.say(balancerHeader(), plain);

    expect(await answer(missing)).toBe('internal_error');
    expect(await answer(forbidden)).toBe('reset');
    expect(outside.lab.failures('proxy_header_not_allowed')).toBe(1);
  });
});
