import { describe, expect, test } from 'bun:test';
import { Backend } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { balancerHeader, signedHeader } from './testing/headers.ts';
import { responseTo, HOST_A, HOST_B, TwoTenants } from './testing/two-tenants.ts';

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

  test('admit clients of the listed networks, and refuse other clients for this route only', async () => {
    await using inside = await start(['192.0.2.0/24', '127.0.0.0/8']);
    await using outside = await start(['192.0.2.0/24', 'fd00::/8']);

    await inside.send(TO_A);
    await inside.a.next();
    const refused = await outside.send(TO_A);
    await outside.send(TO_B);
    await outside.b.next();

    expect(await responseTo(refused)).toBe('handshake_failure');
    expect(inside.lab.failures('source_not_allowed')).toBe(0);
    expect(outside.lab.failures('source_not_allowed')).toBe(1);
    const labels = `tenant="a",host="${HOST_A}",kind="api",reason="source_not_allowed"`;
    expect(outside.lab.number('tenant_failures_total', labels)).toBe(1);
    expect(outside.a.peers).toHaveLength(0);
  });

  test('are compared with the client address in the PROXY header of a load balancer', async () => {
    await using world = await start(['192.0.2.0/24'], { proxyProtocol: 'all' });

    await world.send(balancerHeader('192.0.2.7'), TO_A);
    await world.a.next();
    const refused = await world.send(balancerHeader('198.51.100.7'), TO_A);

    expect(await responseTo(refused)).toBe('handshake_failure');
    expect(world.lab.failures('source_not_allowed')).toBe(1);
  });

  test("are compared with the worker's address for connections of its pods", async () => {
    const fromPod = () => [signedHeader(), hello({ serverName: 'kubernetes.default.svc' })];
    await using byWorker = await start(['127.0.0.1']);
    // The address of the pod, as the worker's proxy reports it.
    await using byPod = await start(['10.1.2.3']);

    await byWorker.send(...fromPod());
    await byWorker.a.next();
    const refused = await byPod.send(...fromPod());

    expect(await responseTo(refused)).toBe('handshake_failure');
    expect(byPod.lab.failures('source_not_allowed')).toBe(1);
  });

  test('apply to new connections when the route changes', async () => {
    await using world = await start(['192.0.2.0/24']);
    expect(await responseTo(await world.send(TO_A))).toBe('handshake_failure');

    await world.lab.changeRoutes([{ host: HOST_A, endpoints: [`127.0.0.1:${world.a.port}`] }]);

    await world.send(TO_A);
    await world.a.next();
  });
});
