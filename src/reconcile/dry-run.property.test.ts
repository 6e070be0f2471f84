import { expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { APPLIED_ANNOTATION } from '../kube/apply/needs-apply.ts';
import type { RecordedWrite } from '../kube/client/recording-client.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { groupOf, RESOURCES } from '../kube/resource.ts';
import type { ApiObject } from '../kube/store/object-store.ts';
import { createWorld, generatedWorld, IMAGE } from './testing/generated-worlds.ts';
import {
  BLUE,
  CLEANUP_TIMEOUT_MS,
  type LabOperator,
  type ReconcileLab,
  type Writes,
} from './testing/reconcile-lab.ts';

setDefaultTimeout(100_000);

/** Runs of each property. All properties take about four seconds of CPU. fast-check prints the seed of a failure. */
const RUNS = 20;
/**
 * Maximum number of reconciles until one writes nothing: preparation, proxies, then the endpoints that wait for them.
 */
const MAX_PASSES = 6;

test('the writes that a dry run records are those of the reconcile that follows', async () => {
  await fc.assert(
    fc.asyncProperty(generatedWorld, async (world) => {
      const lab = await createWorld(world);
      const { writes: recorded } = await lab.dryRun(IMAGE);
      const operator = lab.operator(IMAGE);

      await operator.reconcile();

      expect(contents(recorded)).toEqual(contents(operator.takeWrites()));
    }),
    { numRuns: RUNS },
  );
});

test('once a world is settled, a dry run shows no change and a reconcile writes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(generatedWorld, async (world) => {
      const lab = await createWorld(world);
      const operator = lab.operator(IMAGE);

      await settle(lab, operator);

      const { changes, writes } = await lab.dryRun(IMAGE);
      expect(changes.management.filter(({ waits }) => !waits)).toEqual([]);
      expect(changes.tenant.filter(({ waits }) => !waits)).toEqual([]);
      expect(contents(writes).management).toEqual([]);
      expect(writes.tenant.filter((write) => !isRenewal(write))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test('the writes that a dry run of a cleanup records are those of the cleanup that follows', async () => {
  await fc.assert(
    fc.asyncProperty(generatedWorld, async (world) => {
      const lab = await createWorld(world);
      await lab.management.client('user').delete(RESOURCES.exposure, BLUE);
      if (!(await lab.hasExposure())) return;
      const { writes: recorded, findings } = await lab.dryRun(IMAGE);
      const operator = lab.operator(IMAGE);

      await cleanUp(lab, operator);

      expect(findings).toEqual([]);
      expect(contents(recorded)).toEqual(contents(operator.takeWrites()));
    }),
    { numRuns: RUNS },
  );
});

/** Repeats the cleanup until it is complete. The tenant's nodes need time; a dry run assumes that they have finished. */
async function cleanUp(lab: ReconcileLab, operator: LabOperator): Promise<void> {
  for (
    let elapsedMs = 0;
    elapsedMs <= 2 * CLEANUP_TIMEOUT_MS;
    elapsedMs += CLEANUP_TIMEOUT_MS / 8
  ) {
    if ((await operator.cleanUp()) === undefined) return;
    await lab.runTenantControllers();
    lab.clock.advance(CLEANUP_TIMEOUT_MS / 8);
  }
  throw new Error('the cleanup does not end');
}

/** Reconciles until one writes nothing. */
async function settle(lab: ReconcileLab, operator: LabOperator): Promise<void> {
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    await operator.reconcile();
    await lab.runTenantControllers();
    const { management, tenant } = operator.takeWrites();
    if (management.length + tenant.length === 0) return;
  }
  throw new Error(`the world is not settled after ${MAX_PASSES} reconciles`);
}

/** An operator that has just started renews the Lease once. */
function isRenewal({ resource, verb }: RecordedWrite): boolean {
  return resource === RESOURCES.lease && verb === 'replace';
}

/** Returns the writes without fields that only the API server sets, and without random values. */
function contents({ management, tenant }: Writes): Readonly<Record<string, readonly unknown[]>> {
  return { management: management.map(contentOf), tenant: tenant.map(contentOf) };
}

function contentOf({ verb, resource, applied, before, after }: RecordedWrite): unknown {
  const { metadata } = (before ?? after) as KubeObject;
  return {
    verb,
    object: `${groupOf(resource.apiVersion)} ${resource.kind} ${keyText(metadata)}`,
    applied: applied && comparableObject(applied, before),
    before: before && comparableObject(before, before),
    after: after && comparableObject(after, before),
  };
}

function comparableObject(object: KubeObject, before: KubeObject | undefined): unknown {
  const {
    uid: _u,
    resourceVersion: _r,
    generation: _g,
    creationTimestamp: _c,
    ...metadata
  } = object.metadata;
  const { managedFields, deletionTimestamp, ...rest } = metadata;
  const { status: _, ...content } = object as ApiObject;
  return {
    ...content,
    ...(object.kind === 'Secret' && { data: withoutNewValues(object, before) }),
    metadata: {
      ...rest,
      isDeleted: deletionTimestamp !== undefined,
      managers: managedFields?.map(({ manager, operation, fieldsV1 }) => ({
        manager,
        operation,
        fieldsV1,
      })),
      ...(object.kind === 'Secret' && {
        annotations: { ...rest.annotations, [APPLIED_ANNOTATION]: '' },
      }),
    },
  };
}

type WithData = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/** New certificates and keys are random. */
function withoutNewValues(secret: WithData, before: WithData | undefined): object {
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === before?.data?.[name] ? value : '(new)']),
  );
}
