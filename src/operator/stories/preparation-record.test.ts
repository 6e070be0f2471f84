import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeClient, WatchEvent } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { valueAt } from '../../kube/unstructured.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { TENANT_FINALIZER } from '../../reconcile/finalizers.ts';
import { objectOf } from '../testing/objects.ts';
import { NON_EDGE_KINDS, type OperatorLab } from '../testing/operator-lab.ts';
import {
  ANNOTATED,
  annotate,
  API_HOST,
  BLUE,
  shownIn,
  tenantIn,
} from '../testing/provided-control-planes.ts';
import { addKamaji, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;
/** A small API server is no konnectivity-server. */
const NO_KONNECTIVITY = { 'spec.addons.konnectivity': undefined };

async function expose(lab: OperatorLab, spec: object = {}, name = 'blue'): Promise<void> {
  await lab.user.apply(exposureWith(spec, name));
}

function exposureWith(spec: object, name = 'blue'): KubeObject {
  const objectRef = { group: 'kamaji.clastix.io', kind: KAMAJI.kind, name: 'blue' };
  const controlPlane = { type: 'Object', objectRef };
  return objectOf(
    'Exposure',
    { ...BLUE, name },
    {
      spec: { edgeRef: { name: 'shared' }, controlPlane, ...spec },
    },
  );
}

function recordIn(lab: OperatorLab): string | undefined {
  return lab.exposure('blue')?.metadata.annotations?.[RECORD_ANNOTATION];
}

async function untilRecordedAndPrepared(lab: OperatorLab): Promise<string> {
  await lab.untilCondition('blue', 'Prepared', /^True/);
  return lab.until('the record is there', () => recordIn(lab));
}

async function untilGone(lab: OperatorLab): Promise<void> {
  await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
}

/** A client of a process that ends before the write after these, of Exposures or tenants. */
class EndingClient {
  /** Whether the process has ended. */
  hasEnded = false;
  readonly client: KubeClient;
  readonly #end = Promise.withResolvers<never>();
  #left: number;

  constructor(client: KubeClient, writes: number) {
    this.#left = writes;
    this.client = new Proxy(client, {
      get: (target, name: 'apply' | 'patch' | 'delete') => {
        const call: unknown = target[name];
        if (typeof call !== 'function') return call;
        const bound = call.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (!['apply', 'patch', 'delete', 'create'].includes(name)) return bound;
        return async (...args: unknown[]) => {
          this.#count(name, args);
          return this.hasEnded ? this.#end.promise : bound(...args);
        };
      },
    });
  }

  /** Lets go of the writes that were not sent. */
  release(): void {
    this.#end.promise.catch(() => {}); // there may be none
    this.#end.reject(new Error('the process has ended'));
  }

  #count(name: string, args: readonly unknown[]): void {
    const options = args.at(-1) as { subresource?: string; resource?: Resource };
    const { kind } = (name === 'apply' ? (args[0] as KubeObject) : (args[0] as Resource)) ?? {};
    if (options?.subresource === undefined && (kind === 'Exposure' || kind === KAMAJI.kind)) {
      this.hasEnded ||= this.#left-- <= 0;
    }
  }
}

/** A client whose watches deliver deleted Exposures without the finalizer of the tenant only when they may. */
function withLateDeletions(client: KubeClient, may: Promise<void>): KubeClient {
  async function* late(events: AsyncIterable<WatchEvent<KubeObject>>) {
    for await (const event of events) {
      const { deletionTimestamp, finalizers = [] } =
        event.type === 'BOOKMARK' ? {} : event.object.metadata;
      if (deletionTimestamp !== undefined && !finalizers.includes(TENANT_FINALIZER)) await may;
      yield event;
    }
  }
  return new Proxy(client, {
    get(target, name: keyof KubeClient) {
      if (name === 'watch') {
        return (...args: Parameters<KubeClient['watch']>) => {
          const events = target.watch(...args);
          return args[0].kind === 'Exposure' ? late(events) : events;
        };
      }
      const call: unknown = target[name];
      return typeof call === 'function' ? (call.bind(target) as unknown) : call;
    },
  });
}

describe('an operator that ends after a write', () => {
  const fields = {
    ...NO_KONNECTIVITY,
    'spec.controlPlane.ingress': { hostname: 'old.example.test', ingressClassName: 'public' },
    'spec.networkProfile.certSANs': ['own.example.test'],
    'spec.controlPlane.deployment.extraArgs.apiServer': ['--v=2'],
  };

  /** Exposes, changes the host, and deletes; says whether the process has ended before all was done. */
  async function wasEnded(writes: number): Promise<boolean> {
    await using lab = await startProvidedLab({ isOperatorRunning: false });
    await addKamaji(lab, 'blue', fields);
    const before = shownIn(lab);
    const ending = new EndingClient(lab.management.client(), writes);
    lab.startOperator({ client: ending.client });

    const hosts = { api: 'other.example.test' };
    const isPreparedFor = (host: string) =>
      ending.hasEnded ||
      (tenantIn(lab)?.spec.networkProfile.certSANs?.includes(host) === true &&
        lab.condition('blue', 'Prepared')?.startsWith('True') === true);
    await expose(lab, { prepare: 'Force' });
    await lab.until('the first host', () => isPreparedFor(API_HOST));
    if (!ending.hasEnded) {
      await expose(lab, { prepare: 'Force', hosts });
      await lab.until('the other host', () => isPreparedFor(hosts.api));
    }
    if (!ending.hasEnded) {
      await lab.unexpose('blue');
      await lab.until('the end', () => ending.hasEnded || lab.exposure('blue') === undefined);
    }
    const stopped = lab.stopOperator();
    ending.release();
    await lab.settled('the operator has stopped', stopped);
    lab.startOperator();
    if (lab.exposure('blue') !== undefined) await lab.unexpose('blue');
    await untilGone(lab);

    expect(shownIn(lab)).toEqual(before);
    const managers = tenantIn(lab)?.metadata.managedFields?.map(({ manager }) => manager);
    expect(managers).not.toContain('snicket');
    return ending.hasEnded;
  }

  test('lets the next one clean up: every field is restored, after each single write', async () => {
    let writes = 0;
    while (await wasEnded(writes)) writes++;

    // Two finalizers at least, and the record, the tenant and the record again, for each of the two hosts and for cleanup.
    expect(writes).toBeGreaterThan(8);
  });
});

describe.concurrent('the record of an Exposure', () => {
  test('names the object and the previous values; the object itself has no trace of it', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', { ...NO_KONNECTIVITY, 'metadata.annotations': { own: 'yes' } });
    await expose(lab);

    const record = JSON.parse(await untilRecordedAndPrepared(lab)) as { objects: unknown[] };

    expect(record).toMatchObject({
      version: 1,
      exposure: 'blue',
      objects: [{ group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'blue' }],
    });
    expect(record.objects).toMatchObject([{ uid: tenantIn(lab)?.metadata.uid }]);
    expect(tenantIn(lab)?.metadata.annotations).toEqual({ own: 'yes' });
  });

  test('is written without a conflict: the status follows in the same reconcile', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);

    await expose(lab);

    await untilRecordedAndPrepared(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.number('reconcile_conflicts_total', 'controller="exposure"')).toBe(0);
  });

  test('survives every way to apply the Exposure again', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    const record = await untilRecordedAndPrepared(lab);

    // Server-side, with the annotations that the user has.
    await lab.user.apply({
      ...exposureWith({}),
      metadata: { ...BLUE, annotations: { note: 'one' } },
    });
    await lab.user.apply(exposureWith({}), { force: true });
    // Client-side: kubectl sends a merge patch of what the last applied text had and has not any more.
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: null };
    await lab.user.patch(RESOURCES.exposure, BLUE, 'merge', { metadata: { annotations: applied } });
    await lab.untilReconciled(5);

    expect(recordIn(lab)).toBe(record);
  });

  test('survives that Snicket applies an Exposure of an annotation, whose hosts stay derived', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    await lab.applyEdge({ domain: 'other.test' }, 'other');
    await addKamaji(lab, 'blue', { ...NO_KONNECTIVITY, ...ANNOTATED });
    const before = await untilRecordedAndPrepared(lab);
    expect(valueAt(lab.exposure('blue'), 'spec', 'hosts')).toBeUndefined();

    await annotate(lab, 'other');

    const other = 'tenants-blue.k8s.other.test';
    await lab.until('the record has the other host', () => recordIn(lab)?.includes(other));
    await lab.untilCondition('blue', 'Prepared', /^True/);
    await lab.untilReconciled(5);
    expect(recordIn(lab)).not.toBe(before);
    expect(valueAt(lab.exposure('blue'), 'spec', 'hosts')).toBeUndefined();
  });

  test('is gone with the restore, and the Exposure with it', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    const before = shownIn(lab);
    await expose(lab);
    await untilRecordedAndPrepared(lab);
    const seen: (string | undefined)[] = [];
    // Keeps the Exposure, so that its last state can be seen.
    const finalizers = [...(lab.exposure('blue')?.metadata.finalizers ?? []), 'example.test/kept'];
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { finalizers } });

    await lab.unexpose('blue');

    await lab.until('only the finalizer of the user is left', () => {
      seen.push(recordIn(lab));
      return lab.exposure('blue')?.metadata.finalizers?.join() === 'example.test/kept';
    });
    expect(seen.at(-1)).toBeUndefined();
    expect(shownIn(lab)).toEqual(before);
  });

  test.each(['Node', 'Virtual'])(
    'is gone without a conflict: the tenant is cleaned up once, with address %s',
    async (address) => {
      await using lab = await startProvidedLab();
      const { server } = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
      await expose(lab, { worker: { address } });
      await lab.untilCondition('blue', 'WorkersReady', /^True/);
      const before = server.writes().length;

      await lab.untilGone('blue');

      const written = server.writes().slice(before);
      const texts = written.map(({ verb, plural, name }) => `${verb} ${plural}/${name}`);
      expect(texts).toEqual([...new Set(texts)]);
      expect(texts.filter((text) => text.startsWith('create'))).toEqual([]);
      expect(lab.number('reconcile_conflicts_total', 'controller="exposure"')).toBe(0);
    },
  );

  test('is not restored again, nor the tenant cleaned up, before the watch delivers the deletion', async () => {
    await using lab = await startProvidedLab({ isOperatorRunning: false });
    const { server } = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    const late = Promise.withResolvers<void>();
    lab.startOperator({ client: withLateDeletions(lab.management.client(), late.promise) });
    await expose(lab, { worker: { address: 'Node' } });
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const before = server.writes().length;
    const runs = () => lab.number('reconciles_total', 'controller="exposure"');

    await lab.untilGone('blue');
    const end = runs() + 2;
    lab.operator.reconcileAll();
    await lab.until('it is reconciled again', () => runs() === end - 1);
    lab.operator.reconcileAll();
    await lab.until('it is reconciled once more', () => runs() >= end);
    late.resolve();

    const written = server.writes().slice(before);
    expect(written.filter(({ verb }) => verb === 'create')).toEqual([]);
  });

  test('of a newer version stops preparation and cleanup, and keeps its text', async () => {
    await using lab = await startProvidedLab({ cleanupTimeoutMs: 60_000, resyncMs: 1_000 });
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await untilRecordedAndPrepared(lab);
    const text = '{ "version": 7, "later": [1,2] }';
    await lab.change(RESOURCES.exposure, 'blue', {
      metadata: { annotations: { [RECORD_ANNOTATION]: text } },
    });
    const before = shownIn(lab);

    await expose(lab, { hosts: { api: 'other.example.test' } });
    await lab.untilCondition(
      'blue',
      'Prepared',
      /^False PreparationRecordInvalid: .* has version 7/,
    );
    await lab.unexpose('blue');
    await lab.untilCondition('blue', 'Ready', /^False CleaningUp: .* has version 7/);
    const kept = recordIn(lab);
    await untilGone(lab);

    expect(kept).toBe(text);
    expect(shownIn(lab)).toEqual(before);
    expect(lab.eventsOf('blue')).toContain('CleanupIncomplete');
    expect(lab.log.some(({ record }) => record === text)).toBe(true);
  });

  test('says nothing of a control plane that was created again', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await untilRecordedAndPrepared(lab);
    await lab.stopOperator();
    const { metadata: _, ...tenant } = tenantIn(lab)!;
    await lab.user.delete(KAMAJI, BLUE);
    await lab.user.create(KAMAJI, { ...tenant, metadata: BLUE });
    const before = shownIn(lab);
    await lab.unexpose('blue');

    lab.startOperator();

    await untilGone(lab);
    expect(shownIn(lab)).toEqual(before);
  });
});

describe.concurrent('a control plane with a new uid, as from a restore', () => {
  test('keeps the values that Snicket wrote, also after the Exposure is deleted', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await untilRecordedAndPrepared(lab);
    await lab.stopOperator();
    const { metadata: _, ...tenant } = tenantIn(lab)!;
    await lab.user.delete(KAMAJI, BLUE);
    await lab.user.create(KAMAJI, { ...tenant, metadata: BLUE });
    const { spec: restored } = tenantIn(lab)!;

    lab.startOperator();

    await lab.until('the record is gone', () => recordIn(lab) === undefined);
    await lab.untilCondition('blue', 'Prepared', /^True/);
    await lab.untilGone('blue');
    expect(tenantIn(lab)?.spec).toEqual(restored);
    expect(restored.networkProfile.certSANs).toContain(API_HOST);
  });
});

describe.concurrent('an Exposure of a control plane that is prepared for another', () => {
  /** Long enough that no resync reconciles it. */
  const NO_RESYNC_MS = 1_000_000_000;

  async function untilRefused(lab: OperatorLab): Promise<void> {
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await expose(lab, {}, 'copy');
    await lab.untilCondition('copy', 'Prepared', /^False ControlPlaneConflict/);
    // Once this is known, only the other Exposure gives a reason to reconcile it.
    await lab.untilCondition('copy', 'Reachable', /^False EdgeRefused/);
  }

  test('prepares it when the other Exposure is deleted', async () => {
    await using lab = await startProvidedLab({ resyncMs: NO_RESYNC_MS, probeMs: NO_RESYNC_MS });
    await untilRefused(lab);

    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'Prepared', /^True/);
    await lab.untilCondition('copy', 'WorkersReady', /^True/);
  });

  test('prepares it when the other Exposure loses its finalizers and goes with its record', async () => {
    await using lab = await startProvidedLab({ resyncMs: NO_RESYNC_MS, probeMs: NO_RESYNC_MS });
    await untilRefused(lab);

    await lab.change(RESOURCES.exposure, 'blue', { metadata: { finalizers: null } });
    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'Prepared', /^True/);
  });
});

describe.concurrent('a sufficient value', () => {
  const resources = [
    ...NON_EDGE_KINDS,
    RESOURCES.ingressClass,
    ...Object.values(PROVIDER_RESOURCES),
  ];
  const fields = {
    ...NO_KONNECTIVITY,
    'spec.controlPlane.ingress': { hostname: `${API_HOST}:443`, ingressClassName: 'public' },
    'spec.networkProfile.certSANs': ['*.k8s.example.test'],
    'spec.controlPlane.deployment.extraArgs.apiServer': ['--endpoint_reconciler_type=none'],
  };

  test('is left alone and not recorded while no controller handles its class', async () => {
    await using lab = await startProvidedLab({ resources, resyncMs: 1_000 });
    await addKamaji(lab, 'blue', fields);
    const before = tenantIn(lab);
    await expose(lab);
    await lab.untilCondition('blue', 'Prepared', /^True/);
    await lab.untilReconciled(5);
    expect(tenantIn(lab)).toEqual(before);
    expect(recordIn(lab)).toBeUndefined();

    lab.management.seed(objectOf('IngressClass', { name: 'public' }, { spec: {} }));

    await lab.untilCondition(
      'blue',
      'Prepared',
      /^False FieldConflict: Field manager user owns \.spec\.controlPlane\.ingress\.ingressClassName \("public"/,
    );
    expect(tenantIn(lab)).toEqual(before);
  });

  test('is replaced at once when a controller handles its class', async () => {
    await using lab = await startProvidedLab({ resources });
    await addKamaji(lab, 'blue', fields);
    await expose(lab);
    await lab.untilCondition('blue', 'Prepared', /^True/);
    await lab.environment.pass(30_000);

    lab.management.seed(objectOf('IngressClass', { name: 'public' }, { spec: {} }));
    await lab.environment.pass(5_000);

    expect(lab.condition('blue', 'Prepared')).toStartWith('False FieldConflict');
  });
});
