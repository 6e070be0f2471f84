import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { LeaderElection } from '../../kube/election/leader-election.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { createLogger } from '../../telemetry/log.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { Operator } from '../operator.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from '../testing/namespaces.ts';
import { addKamaji, REQUESTS_EDGE, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

describe.concurrent('an operator that is restarted', () => {
  test('writes nothing if everything is up to date', async () => {
    await using lab = await OperatorLab.start({
      hasGateway: true,
      resyncMs: 1_000,
      probeMs: 60_000,
    });
    const { controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.untilQuiet(10);
    await lab.stopOperator();
    const before = lab.writes();

    lab.startOperator();

    await lab.untilReconciled(10);
    expect(lab.writes()).toBe(before);
  });

  test('records no event again', async () => {
    await using lab = await startProvidedLab({
      hasGateway: true,
      resyncMs: 1_000,
      probeMs: 60_000,
    });
    const own = {
      'spec.controlPlane.ingress': { hostname: 'blue.example.test' },
      'spec.addons.konnectivity': undefined,
    };
    await addKamaji(lab, 'blue', { 'metadata.annotations': REQUESTS_EDGE, ...own });
    await lab.addTenant('green');
    await lab.expose('green', { edgeRef: { name: 'nowhere' } });
    const { controllers } = await lab.addTenant('red');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('red');
    await lab.until('the first has told', () =>
      lab.eventsOf('blue').includes('ProviderFeatureConflict'),
    );
    await lab.untilCondition('green', 'Ready', /^False EdgeNotFound/);
    await lab.untilCondition('red', 'Ready', /^True/);
    await lab.untilReconciled(20);
    const told = ['blue', 'green', 'red'].map((name) => lab.eventsOf(name));
    await lab.stopOperator();

    lab.startOperator({ identity: 'another' });

    await lab.untilReconciled(20);
    expect(['blue', 'green', 'red'].map((name) => lab.eventsOf(name))).toEqual(told);
  });

  test('continues where the previous one was stopped', async () => {
    const { spec, objects, resource, name } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const { server } = await lab.addTenant('blue');
    server.inject({ kind: 'hang' }, { verb: 'apply', plural: 'secrets' });
    await lab.expose('blue');
    await lab.until('half of it is done', () =>
      server.writes().some(({ plural }) => plural === 'secrets'),
    );
    await lab.stopOperator();
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();

    lab.startOperator();

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.read(resource, name)).toBeDefined();
  });

  test('handles changes that happened while it was down', async () => {
    await using lab = await OperatorLab.start();
    const { server, user } = await lab.addExposed('blue');
    await lab.addExposed('green');
    await lab.stopOperator();
    await user.delete(RESOURCES.daemonSet, PROXY);
    await lab.unexpose('green');
    await lab.addTenant('red');
    await lab.expose('red');

    lab.startOperator();

    await lab.until('blue is mended', () => server.read(RESOURCES.daemonSet, PROXY));
    await lab.until('green is gone', () => lab.exposure('green') === undefined);
    await lab.untilCondition('red', 'WorkersReady', /^True/);
  });
});

/** A client that notes who writes what, except for Leases. */
function noted(client: KubeClient, who: string, journal: string[]): KubeClient {
  const writes = new Set(['create', 'replace', 'apply', 'patch', 'delete']);
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const isLease = args[0] === RESOURCES.lease;
        if (writes.has(String(name)) && !isLease) journal.push(who);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

describe.concurrent('two operators', () => {
  test('take turns: one writes until it is stopped, and then the other', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false, resyncMs: 1_000 });
    const journal: string[] = [];
    const { controllers } = await lab.addTenant('blue');
    const replica = (identity: string) => {
      const client = noted(lab.management.client(), identity, journal);
      const log = createLogger({ level: 'error', write: () => {} });
      const operator = new Operator({
        client,
        namespace: SYSTEM_NAMESPACE,
        identity,
        log,
        resyncMs: 1_000,
        proxyImage: 'snicket.test/snicket:1',
        lookup: async () => ['127.0.0.1'],
        ...lab.environment.operatorOptions,
      });
      const election = new LeaderElection({
        client,
        identity,
        logger: log,
        leaseDurationMs: 60_000,
        renewEveryMs: 300,
        lease: { namespace: SYSTEM_NAMESPACE, name: 'snicket-operator' },
        clock: lab.environment.clock,
      });
      const end = new AbortController();
      const running = election.run(async (leading) => operator.run(leading), end.signal);
      return { election, end, running };
    };
    const first = replica('first');
    await lab.until('the first leads', () => first.election.isLeader);
    const second = replica('second');
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(new Set(journal)).toEqual(new Set(['first']));

    first.end.abort();
    await first.running;
    await controllers.addNode('worker-1', ['10.0.0.1']);

    await lab.until('the second has written', () => journal.includes('second'));
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    expect(journal.lastIndexOf('first')).toBeLessThan(journal.indexOf('second'));
    second.end.abort();
    await second.running;
  });

  test('a leader that can no longer reach the API stops before the other replica starts', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const events: string[] = [];
    const log = createLogger({ level: 'error', write: () => {} });
    const cut = new AbortController();
    const replica = (identity: string, client: KubeClient) => {
      const election = new LeaderElection({
        client,
        identity,
        logger: log,
        leaseDurationMs: 20_000,
        renewEveryMs: 300,
        lease: { namespace: SYSTEM_NAMESPACE, name: 'snicket-operator' },
        clock: lab.environment.clock,
      });
      const end = new AbortController();
      const operator = new Operator({
        client,
        namespace: SYSTEM_NAMESPACE,
        identity,
        log,
        proxyImage: 'snicket.test/snicket:1',
        ...lab.environment.operatorOptions,
      });
      const running = election.run(async (leading) => {
        events.push(`${identity} begins`);
        await operator.run(leading).finally(() => events.push(`${identity} stops`));
      }, end.signal);
      const leads = () => operator.metrics.text().includes('\nsnicket_operator_leader 1\n');
      return { end, running, leads };
    };
    const reachable = lab.management.client();
    const first = replica('first', cutOff(reachable, cut.signal));
    await lab.until('the first works', () => first.leads());
    const second = replica('second', reachable);

    cut.abort();

    await lab.until('the second leads', () => events.includes('second begins'));
    expect(events.slice(0, 3)).toEqual(['first begins', 'first stops', 'second begins']);
    // One that is ended while it opens says so.
    await lab.until('the second works', () => second.leads());
    for (const { end, running } of [first, second]) {
      end.abort();
      // Time has to pass, since no call ends by itself once the wire is cut.
      await lab.settled('it has ended', running);
    }
  });
});

/** A client whose calls never end once the wire is cut. */
function cutOff(client: KubeClient, isCut: AbortSignal): KubeClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        if (!isCut.aborted || name === 'watch') {
          return Reflect.apply(value, target, args) as unknown;
        }
        const { signal } = (args.at(-1) ?? {}) as { readonly signal?: AbortSignal };
        const { promise, reject } = Promise.withResolvers<never>();
        const cutOffError = () => reject(new KubeError('Aborted', 'the wire is cut'));
        signal?.addEventListener('abort', cutOffError, { once: true });
        return promise;
      };
    },
  });
}
