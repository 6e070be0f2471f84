import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import type { Fault, FaultTarget } from '../../kube/testing/fault.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { ROUTES_FINALIZER } from '../../reconcile/finalizers.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const BUSY: Fault = { kind: 'error', status: 429, reason: 'TooManyRequests' };
const BROKEN: Fault = { kind: 'error', status: 500, reason: 'InternalError' };
const GONE: Fault = { kind: 'error', status: 410, reason: 'Expired' };
const RESET: Fault = { kind: 'reset' };
const HANG: Fault = { kind: 'hang' };

/** What the operator made in the management cluster, by kind and name. */
function made(lab: OperatorLab): readonly string[] {
  return lab.management
    .readAll()
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'snicket')
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

describe.concurrent('a management cluster that fails intermittently', () => {
  test.each<[string, readonly (readonly [Fault, FaultTarget, number])[], timeoutMs?: number]>([
    [
      'is busy',
      [
        [BUSY, { verb: 'list' }, 2],
        [BUSY, { verb: 'apply' }, 1],
        [BUSY, { verb: 'get', plural: 'secrets' }, 2],
      ],
    ],
    [
      'breaks down',
      [
        [BROKEN, { verb: 'read' }, 1],
        [BROKEN, { verb: 'apply' }, 2],
        [BROKEN, { verb: 'patch', plural: 'exposures' }, 1],
        [BROKEN, { verb: 'watch' }, 3],
      ],
    ],
    [
      'resets connections',
      [
        [RESET, { verb: 'apply', plural: 'ingresses' }, 1],
        [RESET, { verb: 'patch' }, 1],
        [RESET, { verb: 'watch' }, 2],
      ],
    ],
    [
      'hangs',
      [
        [HANG, { verb: 'apply', plural: 'ingresses' }, 1],
        [HANG, { verb: 'get', plural: 'secrets' }, 1],
        [HANG, { verb: 'list', plural: 'services' }, 1],
      ],
      2_000,
    ],
    [
      'forgets old versions',
      [
        [GONE, { verb: 'watch' }, 3],
        [{ kind: 'expired-event' }, { verb: 'watch' }, 3],
        [{ kind: 'half-line' }, { verb: 'watch' }, 2],
      ],
    ],
  ])('and %s gets its objects once', async (_failure, faults, timeoutMs = 60_000) => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec, isOperatorRunning: false });
    lab.management.seed(...objects);
    const { server } = await lab.addTenant('blue');
    await lab.expose('blue');
    for (const [fault, target, times] of faults) lab.management.inject(fault, target, times);

    lab.startOperator({ client: lab.management.client({ timeoutMs }) });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.until('all is made', () => made(lab).length === 3);
    expect(made(lab).map((text) => text.split(' ')[0])).toEqual([
      ...['Secret', 'Ingress', 'TenantRoute'],
    ]);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
  });

  test('that is down for a while is watched from the last version', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    await lab.management.goDown();
    await lab.management.comeUp();

    await lab.addExposed('green');

    expect(lab.condition('blue', 'WorkersReady')).toStartWith('True');
  });

  test('that has compacted its history causes no missed changes', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    await lab.addTenant('green');
    lab.management.resetConnections();
    lab.management.compact();

    await lab.expose('green');
    await lab.unexpose('blue');

    await lab.untilCondition('green', 'WorkersReady', /^True/);
    await lab.until('blue is gone', () => lab.exposure('blue') === undefined);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  });

  test('that fails for one kind of routes does not delay others', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    const target = { verb: 'list', plural: RESOURCES.ingress.plural } as const;
    lab.management.inject(BROKEN, target, Number.POSITIVE_INFINITY);

    lab.startOperator();

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('is not reported as a failure of the tenant', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    const finalizers = [ROUTES_FINALIZER];
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { finalizers } });
    lab.management.inject(BROKEN, { verb: 'get', name: 'snicket-gateway-keys' }, 3);
    lab.management.inject(BROKEN, { verb: 'patch', plural: 'exposures' });

    lab.startOperator();

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const messages = lab.log.map(({ msg }) => String(msg));
    expect(messages).toContain('reconcile failed');
    expect(messages).not.toContain('tenant reconcile failed');
  });

  test('corrected gateway keys are used without an event', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 36_000_000 });
    await lab.addExposed('blue');
    const key = { name: 'snicket-gateway-keys', namespace: SYSTEM_NAMESPACE };
    const write = async (text: string) => {
      const data = { 'master.key': Buffer.from(text).toString('base64') };
      await lab.user.patch(RESOURCES.secret, key, 'merge', { data });
    };
    await lab.stopOperator();
    await write('too short\n');
    lab.startOperator();
    await lab.untilCondition('blue', 'WorkersReady', /^False SecretInvalid/);
    await lab.untilCondition('blue', 'Reachable', /^False/);

    await write(`${Buffer.alloc(32, 7).toString('base64')}\n`);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('a status that changes and reverts is written in its final state', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 3_600_000 });
    const { controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    // The watch of Exposures is silent from now on: what is written does not come back.
    lab.management.inject(HANG, { verb: 'watch', plural: 'exposures' }, Number.POSITIVE_INFINITY);
    lab.management.endWatches();
    await lab.until('it is asked for', () => {
      const { verb, plural } = lab.management.requests().at(-1) ?? {};
      return verb === 'watch' && plural !== undefined;
    });

    controllers.setReady('worker-1', false);
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotReady/);
    controllers.setReady('worker-1', true);

    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
  });
});
