import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(120_000);

/** A tenant with one worker, reached through a gateway. */
async function ready(lab: OperatorLab) {
  const tenant = await lab.addTenant('blue');
  await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True/);
  return tenant;
}

/** `dns Pass`, and so on. */
function hops(lab: OperatorLab): readonly string[] {
  return (lab.statusOf('blue')?.hops ?? []).map(({ name, state }) => `${name} ${state}`);
}

describe.concurrent('hops', () => {
  test('are those of the way to the API, of the endpoints and of the proxies', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });

    await ready(lab);

    expect(hops(lab)).toEqual([
      ...['dns Pass', 'edge Pass', 'sni Pass', 'certificate Pass', 'api Pass'],
      ...['konnectivity Skip', 'endpoints Pass', 'proxies Pass'],
    ]);
  });

  test('of a host go with it, and those of the next are probed soon', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    await ready(lab);

    await lab.expose('blue', { hosts: { api: 'next.example.test' } });

    await lab.until('they are gone', () => {
      const { endpoint = '', hops: known } = lab.statusOf('blue') ?? {};
      return endpoint.startsWith('next.example.test:') && known === undefined;
    });
    expect(lab.condition('blue', 'Reachable')).toStartWith('Unknown NotProbed');
    await lab.until('they are there', () => hops(lab).length > 0);
  });

  test('are none of a wish that is refused', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    await ready(lab);

    await lab.expose('blue', { edge: 'nowhere' });

    await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(lab.statusOf('blue')).not.toHaveProperty('hops');
    expect(lab.condition('blue', 'Reachable')).toStartWith('Unknown NotAccepted');
    await lab.expose('blue');
    await lab.untilCondition('blue', 'Ready', /^True/);
  });

  test('that nobody could look at say so', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    const { server } = await lab.addTenant('blue');
    await server.goDown();

    await lab.expose('blue');

    await lab.until('they are there', () => hops(lab).includes('proxies Skip'));
    const proxies = lab.statusOf('blue')?.hops?.find(({ name }) => name === 'proxies');
    expect(proxies).toMatchObject({ reason: 'NotLookedAt' });
    expect(proxies?.message).toContain('see WorkersReady');
    expect(hops(lab).join()).not.toContain('kubeconfig');
  });

  test('tell Ready why proxies are not ready', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true, lookup: async () => [] });
    const { controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    controllers.setReady('worker-1', false);

    await lab.expose('blue');

    await lab.untilCondition('blue', 'Ready', /^False DnsNoAnswer/);
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotReady/);
    expect(lab.condition('blue', 'Ready')).toStartWith('False DnsNoAnswer');
  });
});

test('nobody hears of a DaemonSet that is seen a moment later', async () => {
  await using lab = await OperatorLab.start({ hasGateway: true });
  const { controllers } = await ready(lab);
  await lab.until('an event', () => lab.eventsOf('blue').length > 0);
  controllers.pause();
  await lab.expose('blue', { worker: { image: 'snicket.test/snicket:2' } });
  const said = await lab.untilCondition('blue', 'Ready', /^False ProxiesUnobserved/);
  expect(said).toContain('DaemonSet kube-system/snicket-proxy is at generation');

  controllers.resume();

  await lab.untilCondition('blue', 'Ready', /^True/);
  await lab.stopOperator();
  expect(new Set(lab.eventsOf('blue'))).toEqual(new Set(['Ready']));
});
