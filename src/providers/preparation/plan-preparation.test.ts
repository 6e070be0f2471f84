import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';
import { changed, ownerFor } from '../testing/provider-objects.ts';
import { leavesOf, treeOf, withField } from './field-path.ts';
import { planPreparations, type PreparationPlan } from './plan-preparation.ts';
import { flagEntry, type FieldPath, type DesiredField } from './preparation.ts';
import { objectRecordOf, RECORD_ANNOTATION, recordText, type FieldRecord } from './record.ts';
import { undone } from './undo.ts';

const RESOURCE = PROVIDER_RESOURCES.kamaji;
const { apiVersion, kind } = RESOURCE;
const INGRESS = ['spec', 'controlPlane', 'ingress'];
const HOST = [...INGRESS, 'hostname'];
const CLASS = [...INGRESS, 'ingressClassName'];
const ARGS = ['spec', 'addons', 'konnectivity', 'agent', 'extraArgs'];
const [A, B] = ['--proxy-server-host', '--proxy-server-port'] as const;

function tenant(fields: Iterable<readonly [FieldPath, unknown]> = []): KubeObject {
  const object = {
    apiVersion,
    kind,
    metadata: { name: 'a', namespace: 'tenants', uid: 'u', resourceVersion: '1' },
    ...treeOf(fields),
  };
  return object;
}

/** The records of the fields of an object. */
type Recorded = readonly FieldRecord[];

function planned(
  live: KubeObject,
  fields: readonly DesiredField[],
  recorded: Recorded = [],
  otherOwner: (uid: string) => string | undefined = () => undefined,
): PreparationPlan {
  const { exposure } = ownerFor('blue');
  const text = recordText(exposure, { objects: [objectRecordOf(live, recorded)] });
  const annotations: Record<string, string> =
    text === null ? {} : { [RECORD_ANNOTATION]: text ?? '' };
  const [plan] = planPreparations(
    [live],
    (bases) => bases.map((object) => ({ object, resource: RESOURCE, fields, findings: [] })),
    { exposure: { ...exposure, metadata: { ...exposure.metadata, annotations } }, otherOwner },
  );
  if (plan === undefined) throw new Error('one object has one plan');
  return plan;
}

/** Returns the object after an apply of the plan. */
function written(plan: PreparationPlan): KubeObject {
  const { spec = {} } = plan.body as KubeObject & { readonly spec?: object };
  return leavesOf(spec).reduce(
    (object, [path, value]) => withField(object, ['spec', ...path], value),
    plan.live,
  );
}

describe('a plan', () => {
  test.each([
    [[`${A}=1`, `${A}=2`], `has "${A}=1", "${A}=2", but only one of them can take effect`],
    [[`${A}=2`, '--v', `${A}=2`], `has "${A}=2", "${A}=2", but only one`],
    [[`${A}`, `${A}=1`], `has "${A}", "${A}=1", but only one`],
    [[`${A}=1`, `${A}=1`], undefined],
    [[`${A}=1`, `${A}b=1`], undefined],
  ])('is rejected for a repeated flag: %j', (list, message) => {
    const desired = { path: ARGS, entries: [flagEntry(A, '1')], purpose: 'so' };

    const { findings } = planned(tenant([[ARGS, list]]), [desired]);

    expect(findings.map(({ code }) => code)).toEqual(message === undefined ? [] : ['FieldInvalid']);
    expect(findings[0]?.message ?? '').toContain(message ?? '');
  });

  test("is not rejected if a flag was added after Snicket's", () => {
    const desired = { path: ARGS, entries: [flagEntry(A, '1')], purpose: 'so' };
    const { recordAfter, ...first } = planned(tenant(), [desired]);
    const prepared = written({ ...first, recordAfter });

    const plan = planned(withField(prepared, ARGS, [`${A}=1`, `${A}=2`]), [desired], recordAfter);

    expect(plan.findings).toEqual([]);
    expect(valueAt(plan.body, ...ARGS)).toEqual([`${A}=1`]);
  });

  test('is rejected for a list with too many entries', () => {
    const list = Array.from({ length: 1_001 }, (_, index) => `--v=${index}`);
    const desired = { path: ARGS, entries: [flagEntry(A, '1')], purpose: 'so' };

    expect(planned(tenant([[ARGS, list.slice(1)]]), [desired]).findings).toEqual([]);
    expect(planned(tenant([[ARGS, list]]), [desired]).findings).toEqual([
      {
        code: 'FieldInvalid',
        severity: 'error',
        message:
          'Field spec.addons.konnectivity.agent.extraArgs of TenantControlPlane tenants/a has 1001 entries, but Snicket only writes lists of up to 1000.',
        action: 'Remove the entries that are not needed.',
      },
    ]);
  });

  test('has the resourceVersion of the object, and only the fields to change', () => {
    const desiredFields: readonly DesiredField[] = [
      { path: HOST, value: 'a.example.test', purpose: 'so' },
      { path: CLASS, value: 'ours', isMet: (present) => present === 'own', purpose: 'so' },
    ];
    const plan = planned(tenant([[CLASS, 'own']]), desiredFields);

    expect(plan.isDue).toBe(true);
    expect(plan.differing.map(({ path }) => path)).toEqual([HOST]);
    expect(plan.fields.map(({ wanted }) => wanted)).toEqual(['a.example.test', 'own']);
    expect(plan.body as unknown).toEqual({
      apiVersion,
      kind,
      metadata: { name: 'a', namespace: 'tenants', uid: 'u', resourceVersion: '1' },
      spec: { controlPlane: { ingress: { hostname: 'a.example.test' } } },
    });
    expect(plan.recordBefore).toEqual([{ path: HOST, wrote: ['a.example.test'] }]);
    expect(plan.recordAfter).toEqual(plan.recordBefore);
  });

  test('records previous values beside the next ones until the apply is complete', () => {
    const desired = (value: string): DesiredField => ({ path: HOST, value, purpose: '' });
    const first = planned(tenant([[HOST, 'old']]), [desired('one')]);

    const second = planned(written(first), [desired('two')], first.recordBefore);

    expect(second.recordBefore).toEqual([{ path: HOST, wrote: ['two', 'one'], was: 'old' }]);
    expect(second.recordAfter).toEqual([{ path: HOST, wrote: ['two'], was: 'old' }]);
    const third = planned(written(second), [desired('two')], second.recordBefore);
    expect(third).toMatchObject({ isDue: false, recordAfter: second.recordAfter });
  });

  test('keeps a value that satisfies the field, without a record', () => {
    const desired: DesiredField = {
      path: CLASS,
      value: 'ours',
      isMet: (value) => value !== 'bad',
      purpose: '',
    };

    for (const fields of [[[CLASS, 'good']], []] as const) {
      const plan = planned(tenant(fields), [desired]);

      expect(plan).toMatchObject({ isDue: false, differing: [], recordBefore: [] });
      expect(valueAt(plan.body, 'spec')).toBeUndefined();
    }
    expect(planned(tenant([[CLASS, 'bad']]), [desired]).isDue).toBe(true);
  });

  test('has nothing to write if all entries exist, in any order', () => {
    const desiredFields = [
      { path: ARGS, entries: [flagEntry(A, '1'), flagEntry(B, '2')], purpose: '' },
    ];
    const first = planned(tenant([[ARGS, ['--x']]]), desiredFields);
    const live = written(first);
    const shuffled = changed(live, { [ARGS.join('.')]: [`${B}=2`, '--x', `${A}=1`] });

    expect(planned(live, desiredFields, first.recordAfter).isDue).toBe(false);
    expect(planned(shuffled, desiredFields, first.recordAfter).differing).toEqual([]);
  });

  test('restores a field that is no longer desired, if it existed before', () => {
    const host: DesiredField = { path: HOST, value: 'new', purpose: '' };
    const className: DesiredField = { path: CLASS, value: 'ours', purpose: '' };
    const first = planned(tenant([[HOST, 'old']]), [host, className]);
    const [live, recorded] = [written(first), first.recordAfter];

    expect(planned(live, [], recorded).restoredValues).toEqual([{ path: HOST, value: 'old' }]);
    expect(planned(live, [host], recorded).restoredValues).toEqual([]);
    // The record stays until none of these fields is left.
    expect(planned(live, [host], recorded)).toMatchObject({
      isDue: true,
      recordBefore: recorded,
      recordAfter: [recorded[0]],
    });
  });

  test('is rejected for an object of another Exposure', () => {
    const { findings } = planned(tenant(), [], [], (uid) =>
      uid === 'u' ? 'tenants/b' : undefined,
    );

    expect(findings).toMatchObject([
      { code: 'ControlPlaneConflict', message: expect.stringContaining('tenants/b') },
    ]);
  });
});

describe('any sequence of desired fields', () => {
  const name = fc.constantFrom(A, B);
  const path = fc.constantFrom(HOST, CLASS);
  const ownName = fc.oneof(name, fc.constant('--v'));
  const entry = fc.tuple(ownName, fc.nat(2)).map(([flag, value]) => `${flag}=${value}`);
  const list = fc.uniqueArray(entry, { selector: (text) => text.split('=')[0] });
  const value = path.chain((at) =>
    fc.nat(3).map((wanted): DesiredField => ({ path: at, value: wanted, purpose: '' })),
  );
  const args = fc
    .uniqueArray(fc.tuple(name, fc.nat(2)), { selector: ([flag]) => flag })
    .map((all): DesiredField => ({
      path: ARGS,
      entries: all.map(([flag, number]) => flagEntry(flag, String(number))),
      purpose: '',
    }));
  const desiredFields = fc.uniqueArray(fc.oneof(value, args), {
    selector: ({ path: at }) => at.join('.'),
  });
  const start = fc.uniqueArray(
    fc.oneof(fc.tuple(path, fc.nat(3)), fc.tuple(fc.constant(ARGS), list)),
    { selector: ([at]) => at.join('.') },
  );

  test("the object without Snicket's fields always equals the one before Snicket", () => {
    fc.assert(
      fc.property(start, fc.array(desiredFields, { minLength: 1, maxLength: 4 }), (fields, all) => {
        let live: KubeObject = tenant(fields);
        let recorded: Recorded = [];
        for (const desired of all) {
          const plan = planned(live, desired, recorded);
          // As on the API server: restored values first, then Snicket's fields that are no longer applied.
          const base = undone(live, recorded);
          const kept = new Set(plan.recordAfter.map(({ path: at }) => at.join('.')));
          const dropped = recorded.filter(({ path: at }) => !kept.has(at.join('.')));
          const pruned = dropped.reduce(
            (object, { path: at }) => withField(object, at, valueAt(base, ...at)),
            plan.live,
          );
          // A process may end after it has written the record and before it writes the object.
          expect(undone(live, plan.recordBefore)).toEqual(base);
          live = written({ ...plan, live: pruned });
          expect(specOf(undone(live, plan.recordBefore))).toEqual(specOf(tenant(fields)));
          recorded = plan.recordAfter;
        }

        expect(specOf(undone(live, recorded))).toEqual(specOf(tenant(fields)));
      }),
    );
  });

  /** Returns the leaves of the spec, without order and without empty objects. */
  function specOf(object: KubeObject): unknown {
    return Object.fromEntries(
      leavesOf(object)
        .filter(([at, leaf]) => at[0] === 'spec' && leaf !== undefined)
        .map(([at, leaf]) => [at.join('.'), leaf]),
    );
  }
});

test('a field with any name is handled like other fields', () => {
  const tree = treeOf([[['spec', '__proto__', 'polluted'], true]]);

  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(Object.keys(valueAt(tree, 'spec') as object)).toEqual(['__proto__']);
});
