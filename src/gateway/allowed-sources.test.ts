import { describe, expect, test } from 'bun:test';
import { Backend } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, signedHeader } from './testing/headers.ts';
import { answer, HOST_A, HOST_B, TwoTenants } from './testing/two-tenants.ts';

const TO_A = hello({ serverName: HOST_A });
const TO_B = hello({ serverName: HOST_B });

describe.each(['bun', 'epoll'] as const)('allowed sources on engine %s', (engine) => {
  async function start(allowedSources: readonly string[], options = {}): Promise<TwoTenants> {
    const world = await TwoTenants.start({ engine, ...options });
    const at = (backend: Backend) => [`127.0.0.1:${backend.port}`];
    await world.lab.changeRoutes([
      { host: HOST_A, endpoints: at(world.a), allowedSources },
      { host: HOST_B, endpoints: at(world.b) },
    ]);
    return world;
  }

  test('let clients of these networks in, and refuse others for this route alone', async () => {
    await using inside = await start(['192.0.2.0/24', '127.0.0.0/8']);
    await using outside = await start(['192.0.2.0/24', 'fd00::/8']);

    await inside.say(TO_A);
    await inside.a.next();
    const refused = await outside.say(TO_A);
    await outside.say(TO_B);
    await outside.b.next();

    expect(await answer(refused)).toBe('handshake_failure');
    expect(inside.lab.failures('source_not_allowed')).toBe(0);
    expect(outside.lab.failures('source_not_allowed')).toBe(1);
    const labels = `tenant="a",host="${HOST_A}",kind="api",reason="source_not_allowed"`;
    expect(outside.lab.number('tenant_failures_total', labels)).toBe(1);
    expect(outside.a.peers).toHaveLength(0);
  });

  test('are compared with the client that a load balancer names', async () => {
    await using world = await start(['192.0.2.0/24'], { proxyProtocol: 'all' });

    await world.say(balancerHeader('192.0.2.7'), TO_A);
    await world.a.next();
    const refused = await world.say(balancerHeader('198.51.100.7'), TO_A);

    expect(await answer(refused)).toBe('handshake_failure');
    expect(world.lab.failures('source_not_allowed')).toBe(1);
  });

  test("are compared with the worker's address for its pods", async () => {
    const fromPod = () => [signedHeader(), hello({ serverName: 'kubernetes.default.svc' })];
    await using byWorker = await start(['127.0.0.1']);
    // The address of the pod, as the worker's proxy reports it.
    await using byPod = await start(['10.1.2.3']);

    await byWorker.say(...fromPod());
    await byWorker.a.next();
    const refused = await byPod.say(...fromPod());

    expect(await answer(refused)).toBe('handshake_failure');
    expect(byPod.lab.failures('source_not_allowed')).toBe(1);
  });

  test('change with the route, for new connections', async () => {
    await using world = await start(['192.0.2.0/24']);
    expect(await answer(await world.say(TO_A))).toBe('handshake_failure');

    await world.lab.changeRoutes([{ host: HOST_A, endpoints: [`127.0.0.1:${world.a.port}`] }]);

    await world.say(TO_A);
    await world.a.next();
  });
});
