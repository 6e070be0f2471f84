import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { tenantRoute } from '../../plan/testing/tenant-routes.ts';
import { identityOf } from '../folder/file-objects.ts';
import type { FolderObject } from '../folder/folder-reader.ts';
import { FILE_ANNOTATION, DELETION_GRACE_MS, planSync, type SyncInput } from './plan-sync.ts';

const FACTS: SyncInput = {
  reading: { objects: [], unknown: [], unusableTexts: new Map(), emptyPaths: [] },
  live: [],
  tenantRoutes: [],
  missingSince: new Map(),
  nowMs: 1_000_000,
};

const LONG_AGO = new Map(
  [
    'Exposure a/blue',
    'Secret a/blue-ca',
    'Secret a/blue-admin',
    'Secret a/other',
    'Edge shared',
  ].map((identity) => [identity, 0]),
);

function exposure(metadata: Partial<ObjectMeta> = {}): KubeObject {
  const controlPlane = {
    type: 'Endpoints',
    endpoints: { api: [] },
    caSecretRef: { name: 'blue-ca' },
    kubeconfigSecretRef: { name: 'blue-admin' },
  };
  return live('Exposure', 'blue', 'blue.yaml', metadata, {
    spec: { controlPlane },
  });
}

function live(
  kind: string,
  name: string,
  file: string,
  metadata: Partial<ObjectMeta> = {},
  rest: object = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind,
    ...rest,
    metadata: {
      name,
      annotations: { [FILE_ANNOTATION]: file },
      ...metadata,
      ...(kind !== 'Edge' && { namespace: 'a' }),
    },
  };
}

function found(object: KubeObject, file: string): FolderObject {
  return { object, file };
}

function plan(facts: Partial<SyncInput>) {
  const { apply, remove, missingSince, faults } = planSync({ ...FACTS, ...facts });
  return {
    apply: apply.map(({ object, file }) => `${identityOf(object)} of ${file}`),
    remove: remove.map(identityOf),
    missing: [...missingSince.keys()],
    faults: faults.map(({ file, sentence }) => `${file}: ${sentence}`),
  };
}

const EDGE = live('Edge', 'shared', 'edge.yaml');
const ROUTE = tenantRoute('blue', 'blue.example.test', { namespace: 'a' });
const SECRETS = ['blue-ca', 'blue-admin', 'other'].map((name) => live('Secret', name, 'blue.yaml'));

test('applies the objects of the folder', () => {
  const objects = [found(EDGE, 'edge.yaml'), found(exposure(), 'blue.yaml')];

  expect(
    plan({ reading: { objects, unknown: [], unusableTexts: new Map(), emptyPaths: [] } }),
  ).toMatchObject({
    apply: ['Edge shared of edge.yaml', 'Exposure a/blue of blue.yaml'],
    remove: [],
  });
});

test('applies Exposures after their Edges and Secrets, regardless of the files', () => {
  const [secret] = SECRETS;
  const objects = [found(exposure(), 'a.yaml'), found(secret!, 'z.yaml'), found(EDGE, 'z.yaml')];

  expect(
    plan({ reading: { objects, unknown: [], unusableTexts: new Map(), emptyPaths: [] } }).apply,
  ).toEqual([
    ...['Secret a/blue-ca of z.yaml', 'Edge shared of z.yaml', 'Exposure a/blue of a.yaml'],
  ]);
});

describe('an object that is missing in the folder', () => {
  test('is kept during the grace period, because its file may be written at the moment', () => {
    expect(plan({ live: [EDGE] })).toMatchObject({ remove: [], missing: ['Edge shared'] });
  });

  test('is deleted after the grace period', () => {
    const missingSince = new Map([['Edge shared', FACTS.nowMs - DELETION_GRACE_MS]]);

    expect(plan({ live: [EDGE], missingSince }).remove).toEqual(['Edge shared']);
  });

  test('starts a new grace period after it was present again', () => {
    const reading = {
      objects: [found(EDGE, 'edge.yaml')],
      unknown: [],
      unusableTexts: new Map(),
      emptyPaths: [],
    };

    expect(plan({ live: [EDGE], missingSince: LONG_AGO, reading }).missing).toEqual([]);
  });

  test('is kept if its file or a directory above is unusable', () => {
    const deep = live('Edge', 'shared', 'a/b/edge.yaml');
    const planWith = (object: KubeObject, unknown: string[]) =>
      plan({
        live: [object],
        missingSince: LONG_AGO,
        reading: { objects: [], unknown, unusableTexts: new Map(), emptyPaths: [] },
      });

    expect(planWith(EDGE, ['edge.yaml']).remove).toEqual([]);
    expect(planWith(deep, ['a']).remove).toEqual([]);
    expect(planWith(deep, ['a/b']).remove).toEqual([]);
    expect(planWith(deep, ['a/c', 'a/b/edge', 'edge.yaml']).remove).toEqual(['Edge shared']);
  });

  test('is kept if its directory is empty now, with a fault that explains how to delete it', () => {
    const deep = live('Edge', 'shared', 'a/b/edge.yaml');
    const reading = {
      objects: [],
      unknown: [],
      unusableTexts: new Map(),
      emptyPaths: ['', 'a', 'c'],
    };

    const { remove, missing, faults } = plan({ live: [deep], missingSince: LONG_AGO, reading });

    expect({ remove, missing }).toEqual({ remove: [], missing: [] });
    expect(faults).toEqual([expect.stringMatching(/^a: now empty;.*remove the folder/)]);
  });

  test('is kept if an unusable file contains its name, because it may have been moved there', () => {
    const unusableTexts = new Map([
      ['a.yaml', 'name: shared-2'],
      ['b.yaml', 'name: shared\nspce: {}'],
    ]);
    const reading = { objects: [], unknown: ['a.yaml', 'b.yaml'], unusableTexts, emptyPaths: [] };

    const { remove, missing, faults } = plan({ live: [EDGE], missingSince: LONG_AGO, reading });

    expect({ remove, missing }).toEqual({ remove: [], missing: [] });
    expect(faults).toEqual([
      expect.stringMatching(/^edge\.yaml: Edge shared is no longer in this file, and b\.yaml/),
    ]);
  });

  test('is not missing if it is in another directory now', () => {
    const reading = {
      objects: [found(EDGE, 'new/edge.yaml')],
      unknown: [],
      unusableTexts: new Map(),
      emptyPaths: ['a'],
    };

    expect(plan({ live: [live('Edge', 'shared', 'a/edge.yaml')], reading })).toMatchObject({
      apply: ['Edge shared of new/edge.yaml'],
      faults: [],
    });
  });
});

describe('an Exposure that is being deleted', () => {
  test('keeps the Secrets and the Edge that its cleanup needs', () => {
    const all = [exposure(), EDGE, ...SECRETS];

    const input = { live: all, missingSince: LONG_AGO };
    expect(plan({ ...input, tenantRoutes: [ROUTE] }).remove).toEqual([
      'Exposure a/blue',
      'Secret a/other',
    ]);
    expect(plan(input).remove).toEqual(['Exposure a/blue', 'Edge shared', 'Secret a/other']);
  });

  test('keeps the Edge that its spec references', () => {
    const named = { ...exposure(), spec: { edgeRef: { name: 'shared' } } };

    expect(plan({ live: [named, EDGE], missingSince: LONG_AGO }).remove).toEqual([
      'Exposure a/blue',
    ]);
  });

  test('keeps them until it is deleted, and is not deleted twice', () => {
    const deleting = exposure({ deletionTimestamp: '2026-01-01T00:00:00Z' });

    const all = [deleting, EDGE, ...SECRETS];
    expect(plan({ live: all, tenantRoutes: [ROUTE], missingSince: LONG_AGO }).remove).toEqual([
      'Secret a/other',
    ]);
    expect(plan({ live: [EDGE, ...SECRETS], missingSince: LONG_AGO }).remove).toHaveLength(4);
  });

  test('is recreated after its deletion if its file is back', () => {
    const reading = {
      objects: [found(exposure(), 'blue.yaml')],
      unknown: [],
      unusableTexts: new Map(),
      emptyPaths: [],
    };
    const deleting = exposure({ deletionTimestamp: '2026-01-01T00:00:00Z' });

    expect(plan({ reading, live: [deleting] }).apply).toEqual([]);
    expect(plan({ reading, live: [] }).apply).toEqual(['Exposure a/blue of blue.yaml']);
  });
});

describe('an object in both an unusable and a valid file', () => {
  const reading = {
    objects: [found(EDGE, 'm.yaml')],
    unknown: ['a.yaml', 'z.yaml'],
    unusableTexts: new Map(),
    emptyPaths: [],
  };

  test('is not changed if the unusable file comes first', () => {
    expect(plan({ reading, live: [live('Edge', 'shared', 'a.yaml')] })).toMatchObject({
      apply: [],
      remove: [],
      faults: [expect.stringContaining('m.yaml: Edge shared is also defined in a.yaml')],
    });
  });

  test('is applied from the valid file if that file comes first', () => {
    expect(plan({ reading, live: [live('Edge', 'shared', 'z.yaml')] })).toMatchObject({
      apply: ['Edge shared of m.yaml'],
      faults: [],
    });
  });
});

test('never deletes an object that is in the folder or may be in an unusable file', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const file = fc.constantFrom('x.yaml', 'y.yaml', 'd/x.yaml');
  const object = fc
    .record({ kind: fc.constantFrom('Edge', 'Secret', 'Exposure'), name, file })
    .map((object) => live(object.kind, object.name, object.file));

  fc.assert(
    fc.property(
      fc.uniqueArray(object, { selector: identityOf }),
      fc.uniqueArray(object, { selector: identityOf }),
      fc.subarray(['x.yaml', 'y.yaml', 'd', 'd/x.yaml']),
      fc.subarray(['d']),
      (present, desired, unknown, emptyPaths) => {
        const objects = desired.map((wanted) =>
          found(wanted, wanted.metadata.annotations?.[FILE_ANNOTATION] ?? ''),
        );
        const missingSince = new Map(present.map((missing) => [identityOf(missing), 0]));

        const { remove, apply } = planSync({
          ...FACTS,
          live: present,
          missingSince,
          reading: { objects, unknown, unusableTexts: new Map(), emptyPaths },
        });

        const removed = new Set(remove.map(identityOf));
        for (const object of desired) expect(removed.has(identityOf(object))).toBe(false);
        for (const removedObject of remove) {
          const from = removedObject.metadata.annotations?.[FILE_ANNOTATION] ?? '';
          expect(
            [...unknown, ...emptyPaths].some(
              (path) => from === path || from.startsWith(`${path}/`),
            ),
          ).toBe(false);
        }
        expect(apply.length).toBeLessThanOrEqual(desired.length);
      },
    ),
  );
});
