import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

/** A tenant with one worker, reached through a gateway. */
async function ready(lab: OperatorLab) {
  const tenant = await lab.addTenant('blue');
  await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True/);
  return tenant;
}

/** Hosts to move to; the certificates of tenants in the lab have this name too. */
const OTHER_HOSTS = {
  api: 'tenants-blue.konnectivity.example.test',
  konnectivity: 'unused.example.test',
};

/** `dns Pass`, and so on. */
function hops(lab: OperatorLab): readonly string[] {
  return (lab.statusOf('blue')?.hops ?? []).map(({ name, state }) => `${name} ${state}`);
}

describe.concurrent('hops', () => {
  test('include the path to the API, the endpoints and the proxies', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });

    await ready(lab);

    await lab.untilCondition('blue', 'Reachable', /^True/);
    expect(hops(lab)).toEqual([
      ...['dns Pass', 'edge Pass', 'sni Pass', 'certificate Pass', 'api Pass'],
      ...['konnectivity Skip', 'endpoints Pass', 'proxies Pass'],
    ]);
  });

  test('of a removed host are removed, and the new host is probed soon', async () => {
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

  test('are not checked for a rejected spec', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    await ready(lab);

    await lab.expose('blue', { edgeRef: { name: 'nowhere' } });

    await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(lab.statusOf('blue')).not.toHaveProperty('hops');
    expect(lab.condition('blue', 'Reachable')).toStartWith('Unknown WaitingForCondition');
    await lab.expose('blue');
    await lab.untilCondition('blue', 'Ready', /^True/);
  });

  test('that could not be observed are reported as such', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    const { server } = await lab.addTenant('blue');
    await server.goDown();

    await lab.expose('blue');

    await lab.until('they are there', () => hops(lab).includes('proxies Skip'));
    const proxies = lab.statusOf('blue')?.hops?.find(({ name }) => name === 'proxies');
    expect(proxies).toMatchObject({ reason: 'NotObserved' });
    expect(proxies?.message).toContain('see WorkersReady');
    expect(hops(lab).join()).not.toContain('kubeconfig');
  });

  test('are the reason of Ready if proxies are not ready', async () => {
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

describe.concurrent('Reachable', () => {
  test('changes after 30 seconds, with events, and does not affect Ready', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true, probeMs: 5_000 });
    await ready(lab);
    await lab.untilCondition('blue', 'Reachable', /^True Reachable/);
    const port = lab.gateway?.port;

    await lab.gateway?.gateway.stop();

    const condition = await lab.untilCondition('blue', 'Reachable', /^False EdgeRefused/);
    expect(condition).toContain(`Nothing listens at 127.0.0.1:${port}.`);
    expect(lab.condition('blue', 'Ready')).toStartWith('True Ready');
    await lab.until('the event', () => lab.eventsOf('blue').includes('EdgeRefused'));
  });

  test('is degraded by one failing address of two, which completes no move', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    await ready(lab);
    await lab.untilCondition('blue', 'Reachable', /^True Reachable/);

    await lab.applyEdge({ addresses: ['127.0.0.1', '127.0.0.2'] });

    const condition = await lab.untilCondition('blue', 'Reachable', /^True Degraded/);
    expect(condition).toContain('Nothing listens at 127.0.0.2:');
    await lab.until('the event', () => lab.eventsOf('blue').includes('Degraded'));
    await lab.expose('blue', { hosts: OTHER_HOSTS });
    await lab.until('it moves', () => lab.apiHostsOf('blue').length === 2);
    await lab.untilCondition('blue', 'Reachable', /^True Degraded/);
    await lab.untilReconciled(3);
    expect(lab.apiHostsOf('blue').length).toBe(2);
    await lab.applyEdge({ addresses: ['127.0.0.1'] });
    await lab.until('it has moved', () => lab.apiHostsOf('blue').length === 1);
  });

  test('warns of DNS that differs from the Edge, which completes no move either', async () => {
    let addresses = ['127.0.0.1'];
    const lookup = async () => Promise.resolve(addresses);
    await using lab = await OperatorLab.start({ hasGateway: true, lookup });
    await ready(lab);
    await lab.untilCondition('blue', 'Reachable', /^True Reachable/);
    addresses = ['127.0.0.9'];

    await lab.expose('blue', { hosts: OTHER_HOSTS });

    const condition = await lab.untilCondition('blue', 'Reachable', /^True DnsMismatch/);
    expect(condition).toContain(
      `Host ${OTHER_HOSTS.api} resolves to 127.0.0.9, but the edge has 127.0.0.1.`,
    );
    expect(lab.condition('blue', 'Ready')).toStartWith('True');
    await lab.untilReconciled(3);
    expect(lab.apiHostsOf('blue').length).toBe(2);
    addresses = ['127.0.0.1'];
    await lab.until('it has moved', () => lab.apiHostsOf('blue').length === 1);
  });
});

test('a DaemonSet that is observed a moment later causes no event', async () => {
  await using lab = await OperatorLab.start({ hasGateway: true });
  const { controllers } = await ready(lab);
  await lab.until('an event', () => lab.eventsOf('blue').length > 0);
  controllers.pause();
  await lab.expose('blue', { worker: { image: 'snicket.test/snicket:2' } });
  const condition = await lab.untilCondition('blue', 'Ready', /^False ProxiesNotObserved/);
  expect(condition).toContain('DaemonSet kube-system/snicket-proxy has generation');

  controllers.resume();

  await lab.untilCondition('blue', 'Ready', /^True/);
  await lab.stopOperator();
  expect(new Set(lab.eventsOf('blue'))).toEqual(new Set(['Ready']));
});
