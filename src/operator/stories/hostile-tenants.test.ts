/** A malicious API server of a tenant cannot harm the operator, which reports it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { exposureStatus } from '../../api/exposure-status.ts';
import { RESOURCES } from '../../kube/resource.ts';
import {
  answerJson,
  beginStream,
  HostileTenant,
  type HostileCall,
} from '../testing/hostile-tenant.ts';
import { objectOf } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const DAEMON_SETS = '/apis/apps/v1/namespaces/kube-system/daemonsets';
const DAEMON_SET = `${DAEMON_SETS}/snicket-proxy`;

/** Sends an event now and then, for as long as the watch goes on. */
function sendEvents({ response }: HostileCall, everyMs: number, next: () => object): void {
  beginStream(response);
  const timer = setInterval(() => response.write(`${JSON.stringify(next())}\n`), everyMs);
  response.on('close', () => clearInterval(timer));
}

describe.concurrent("the operator's memory is bounded", () => {
  test('for any objects in the watches of a tenant', async () => {
    await using lab = await OperatorLab.start({ transport: 'tls' });
    let sent = 0;
    using _hostile = await HostileTenant.start(lab, ['evil'], (call) => {
      if (!call.isWatch || call.path !== DAEMON_SETS) return false;
      sendEvents(call, 1, () => {
        const metadata = { name: `n${++sent}`, namespace: 'kube-system', resourceVersion: '5' };
        return { type: 'ADDED', object: objectOf('DaemonSet', metadata) };
      });
      return true;
    });

    await lab.expose('evil');

    const condition = await lab.untilCondition('evil', 'WorkersReady', /^False NotKubernetes/);
    // On a busy machine it is seen only after a later attempt.
    expect(condition).toMatch(/: DaemonSet kube-system\/n\d+ does not match the selection /);
    const atFirst = sent;
    await lab.addExposed('green');
    // Each attempt ends at its first event, and comes after a longer pause.
    expect(sent - atFirst).toBeLessThan(1000);
  });

  test('for any number of objects in the lists of a tenant', async () => {
    await using lab = await OperatorLab.start({ transport: 'tls' });
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const slices = Array.from({ length: 201 }, (_, index) => ({
      metadata: { name: `slice-${index}`, namespace: 'default', labels },
    }));
    using _hostile = await HostileTenant.start(lab, ['evil'], ({ path, response }) => {
      if (!path.endsWith('/endpointslices')) return false;
      answerJson(response, { metadata: { resourceVersion: '1' }, items: slices });
      return true;
    });

    await lab.expose('evil');

    await lab.untilCondition('evil', 'WorkersReady', /^False NotKubernetes.*more than 200 obj/);
  });
});

test.concurrent.each([
  ['1.5', { desiredNumberScheduled: 2, numberReady: 1.5 }],
  ['-5', { desiredNumberScheduled: -5, numberReady: -5 }],
  ['texts', { desiredNumberScheduled: 'x'.repeat(40), numberReady: '__proto__' }],
  ['objects', { desiredNumberScheduled: { a: 1 }, numberReady: [1] }],
  ['1e300', { desiredNumberScheduled: 1e300, numberReady: 1e300, updatedNumberScheduled: 1e300 }],
])('proxies that are counted as %s are a fault of the tenant', async (_, counts) => {
  await using lab = await OperatorLab.start({ transport: 'tls' });
  const status = { observedGeneration: 1, ...counts };
  using _hostile = await HostileTenant.start(lab, ['evil'], (call, { objects }) => {
    const proxies = objects.get(DAEMON_SET);
    if (proxies !== undefined) objects.set(DAEMON_SET, { ...proxies, status });
    if (!call.isWatch || call.path !== DAEMON_SETS) return false;
    sendEvents(call, 50, () => {
      const object = objects.get(DAEMON_SET);
      return object === undefined
        ? { type: 'BOOKMARK', object: { metadata: { resourceVersion: '1' } } }
        : { type: 'MODIFIED', object: { ...object, status } };
    });
    return true;
  });

  await lab.expose('evil');

  await lab.untilCondition('evil', 'WorkersReady', /^False NotKubernetes.*which is not a count/);
  expect(exposureStatus.safeParse(lab.statusOf('evil')).error).toBeUndefined();
});

test.concurrent.each([
  ['null', null],
  ['a text', 'x'],
  ['a list with null', [null]],
  ['an entry without fields', [{ manager: 'a', fieldsV1: null }]],
])(
  'managedFields of %s in the response to a write are a fault of the tenant',
  async (_, fields) => {
    await using lab = await OperatorLab.start({ transport: 'tls' });
    using _hostile = await HostileTenant.start(lab, ['evil'], ({ path, response, isWatch }) => {
      if (isWatch || !/\/endpointslices\/./.test(path)) return false;
      const name = path.split('/').at(-1) ?? '';
      const slice = objectOf('EndpointSlice', { name, namespace: 'default', resourceVersion: '9' });
      answerJson(response, { ...slice, metadata: { ...slice.metadata, managedFields: fields } });
      return true;
    });

    await lab.expose('evil');

    const condition = await lab.untilCondition('evil', 'WorkersReady', /^False (Not|Internal)/);
    expect(condition).toMatch(/^False NotKubernetes.*EndpointSlice default\/\S+ is malformed/);
  },
);

test.concurrent('a token that is echoed in another encoding is never shown', async () => {
  await using lab = await OperatorLab.start({ transport: 'tls' });
  const letters = HostileTenant.token.split('');
  const escaped = letters.map(
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const body = `{"kind":"Status","message":"sent ${escaped.join('')}","code":500}`;
  using _hostile = await HostileTenant.start(lab, ['evil'], ({ path, response }) => {
    if (path !== '/version') return false;
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(body);
    return true;
  });

  await lab.expose('evil');

  await lab.untilCondition('evil', 'WorkersReady', /^False TenantUnreachable.*sent \(token\)/);
  await lab.until('an event', () => lab.eventsOf('evil').length > 0);
  const seen = JSON.stringify([lab.log, lab.management.readAll().filter(isPublic)]);
  expect(seen).not.toContain(HostileTenant.token);
});

function isPublic({ kind }: { readonly kind: string }): boolean {
  return kind !== 'Secret';
}

test('Exposures of a server that hangs do not delay others', async () => {
  // Longer than the test: none of those that hang gives up and makes room.
  const tenantTimeoutMs = 600_000;
  await using lab = await OperatorLab.start({ tenantTimeoutMs });
  const { server, user } = await lab.startTenant('evil');
  const hang = { kind: 'hang' } as const;
  server.inject(hang, { verb: 'list', plural: 'daemonsets' }, Number.POSITIVE_INFINITY);
  // Its watches report changes all the time.
  const labels = { 'kubernetes.io/service-name': 'kubernetes' };
  const slice = objectOf('EndpointSlice', { name: 'x', namespace: 'default', labels });
  const { clock } = lab.environment;
  const changes: Promise<unknown>[] = [];
  const stopChanges = clock.every(500, () => {
    const isThere = server.read(RESOURCES.endpointSlice, slice.metadata) !== undefined;
    changes.push(
      isThere
        ? user.delete(RESOURCES.endpointSlice, slice.metadata)
        : user.create(RESOURCES.endpointSlice, slice),
    );
  });
  const names = Array.from({ length: 96 }, (_, index) => `evil-${index}`);
  for (const name of names) lab.knows(lab.tenants[0]!, name);
  await lab.addTenant('good');
  for (const name of names) await lab.expose(name);
  await lab.until('as many hang as are looked at', () => lab.routesOf('evil-31').length > 0);

  const exposedMs = clock.nowMs();
  await lab.expose('good');

  await lab.until('the route', () => lab.routesOf('good').length > 0);
  await lab.untilCondition('good', 'WorkersReady', /^True/);
  expect(clock.nowMs() - exposedMs).toBeLessThan(60_000);
  stopChanges();
  await Promise.all(changes);
});
