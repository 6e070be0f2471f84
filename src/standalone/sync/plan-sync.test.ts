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

test('applies what the folder has', () => {
  const objects = [found(EDGE, 'edge.yaml'), found(exposure(), 'blue.yaml')];

  expect(
    plan({ reading: { objects, unknown: [], unusableTexts: new Map(), emptyPaths: [] } }),
  ).toMatchObject({
    apply: ['Edge shared of edge.yaml', 'Exposure a/blue of blue.yaml'],
    remove: [],
  });
});

test('applies Exposures behind what they need, wherever that is written', () => {
  const [secret] = SECRETS;
  const objects = [found(exposure(), 'a.yaml'), found(secret!, 'z.yaml'), found(EDGE, 'z.yaml')];

  expect(
    plan({ reading: { objects, unknown: [], unusableTexts: new Map(), emptyPaths: [] } }).apply,
  ).toEqual([
    ...['Secret a/blue-ca of z.yaml', 'Edge shared of z.yaml', 'Exposure a/blue of a.yaml'],
  ]);
});

describe('what is missing', () => {
  test('is waited for at first: its file may be being written', () => {
    expect(plan({ live: [EDGE] })).toMatchObject({ remove: [], missing: ['Edge shared'] });
  });

  test('goes after a while', () => {
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

  test('stays if its file cannot be used, or the folder of that', () => {
    const deep = live('Edge', 'shared', 'a/b/edge.yaml');
    const stays = (object: KubeObject, unknown: string[]) =>
      plan({
        live: [object],
        missingSince: LONG_AGO,
        reading: { objects: [], unknown, unusableTexts: new Map(), emptyPaths: [] },
      });

    expect(stays(EDGE, ['edge.yaml']).remove).toEqual([]);
    expect(stays(deep, ['a']).remove).toEqual([]);
    expect(stays(deep, ['a/b']).remove).toEqual([]);
    expect(stays(deep, ['a/c', 'a/b/edge', 'edge.yaml']).remove).toEqual(['Edge shared']);
  });

  test('stays if it was in a folder that has nothing in it any more, and says how to let it go', () => {
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

  test('stays if a file that cannot be used has its name in it: it may have been moved there', () => {
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

  test('is not missing if it is in another folder now', () => {
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

describe('an Exposure that leaves', () => {
  test('keeps the Secrets and the Edge that it needs for that', () => {
    const all = [exposure(), EDGE, ...SECRETS];

    const input = { live: all, missingSince: LONG_AGO };
    expect(plan({ ...input, tenantRoutes: [ROUTE] }).remove).toEqual([
      'Exposure a/blue',
      'Secret a/other',
    ]);
    expect(plan(input).remove).toEqual(['Exposure a/blue', 'Edge shared', 'Secret a/other']);
  });

  test('keeps the Edge that its spec names', () => {
    const named = { ...exposure(), spec: { edgeRef: { name: 'shared' } } };

    expect(plan({ live: [named, EDGE], missingSince: LONG_AGO }).remove).toEqual([
      'Exposure a/blue',
    ]);
  });

  test('keeps them until it is gone, and is not deleted twice', () => {
    const leaving = exposure({ deletionTimestamp: '2026-01-01T00:00:00Z' });

    const all = [leaving, EDGE, ...SECRETS];
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
    const leaving = exposure({ deletionTimestamp: '2026-01-01T00:00:00Z' });

    expect(plan({ reading, live: [leaving] }).apply).toEqual([]);
    expect(plan({ reading, live: [] }).apply).toEqual(['Exposure a/blue of blue.yaml']);
  });
});

describe('the same object in a file that cannot be used and in one that can', () => {
  const reading = {
    objects: [found(EDGE, 'm.yaml')],
    unknown: ['a.yaml', 'z.yaml'],
    unusableTexts: new Map(),
    emptyPaths: [],
  };

  test('stays as the first of the two had it', () => {
    expect(plan({ reading, live: [live('Edge', 'shared', 'a.yaml')] })).toMatchObject({
      apply: [],
      remove: [],
      faults: [expect.stringContaining('m.yaml: Edge shared is also defined in a.yaml')],
    });
  });

  test('is as the one that can be used has it, if that is the first', () => {
    expect(plan({ reading, live: [live('Edge', 'shared', 'z.yaml')] })).toMatchObject({
      apply: ['Edge shared of m.yaml'],
      faults: [],
    });
  });
});

test('takes nothing away that the folder has or that is not known to be gone, whatever it is', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const file = fc.constantFrom('x.yaml', 'y.yaml', 'd/x.yaml');
  const object = fc
    .record({ kind: fc.constantFrom('Edge', 'Secret', 'Exposure'), name, file })
    .map((one) => live(one.kind, one.name, one.file));

  fc.assert(
    fc.property(
      fc.uniqueArray(object, { selector: identityOf }),
      fc.uniqueArray(object, { selector: identityOf }),
      fc.subarray(['x.yaml', 'y.yaml', 'd', 'd/x.yaml']),
      fc.subarray(['d']),
      (there, wanted, unknown, emptyPaths) => {
        const objects = wanted.map((one) =>
          found(one, one.metadata.annotations?.[FILE_ANNOTATION] ?? ''),
        );
        const missingSince = new Map(there.map((one) => [identityOf(one), 0]));

        const { remove, apply } = planSync({
          ...FACTS,
          live: there,
          missingSince,
          reading: { objects, unknown, unusableTexts: new Map(), emptyPaths: emptyPaths },
        });

        const gone = new Set(remove.map(identityOf));
        for (const one of wanted) expect(gone.has(identityOf(one))).toBe(false);
        for (const one of remove) {
          const from = one.metadata.annotations?.[FILE_ANNOTATION] ?? '';
          expect(
            [...unknown, ...emptyPaths].some(
              (path) => from === path || from.startsWith(`${path}/`),
            ),
          ).toBe(false);
        }
        expect(apply.length).toBeLessThanOrEqual(wanted.length);
      },
    ),
  );
});
