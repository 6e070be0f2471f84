import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';
import { changed } from '../testing/provider-objects.ts';
import { leavesOf, treeOf, withField } from './field-path.ts';
import { planPreparations, type PreparationPlan } from './plan-preparation.ts';
import { flagEntry, type FieldPath, type FieldWish } from './preparation.ts';
import { RECORD_ANNOTATION, recordOf } from './record.ts';
import { undone } from './undo.ts';

const RESOURCE = PROVIDER_RESOURCES.steward;
const { apiVersion, kind } = RESOURCE;
const INGRESS = ['spec', 'controlPlane', 'ingress'];
const HOST = [...INGRESS, 'hostname'];
const CLASS = [...INGRESS, 'ingressClassName'];
const ARGS = ['spec', 'controlPlane', 'deployment', 'extraArgs', 'apiServer'];
const HOLDER = { exposure: 'tenants/blue', isThere: () => true };

function tenant(fields: Iterable<readonly [FieldPath, unknown]> = []): KubeObject {
  const object = {
    ...{ apiVersion, kind },
    metadata: { name: 'a', namespace: 'tenants', uid: 'u', resourceVersion: '1' },
    ...treeOf(fields),
  };
  return object;
}

function planned(live: KubeObject, fields: readonly FieldWish[], holder = HOLDER): PreparationPlan {
  const [plan] = planPreparations(
    [live],
    (bases) => bases.map((object) => ({ object, resource: RESOURCE, fields, findings: [] })),
    holder,
  );
  if (plan === undefined) throw new Error('one object has one plan');
  return plan;
}

/** The object as it is after an apply of the plan. */
function written(plan: PreparationPlan): KubeObject {
  const { metadata, ...rest } = plan.body as KubeObject & { readonly spec?: object };
  const withFields = leavesOf(rest.spec ?? {}).reduce(
    (object, [path, value]) => withField(object, ['spec', ...path], value),
    plan.live,
  );
  const { annotations = {} } = metadata;
  return { ...withFields, metadata: { ...plan.live.metadata, annotations } };
}

describe('a plan', () => {
  test.each([
    [['--a=1', '--a=2'], 'has "--a=1", "--a=2", of which one alone can be in force'],
    [['--a=2', '--b', '--a=2'], 'has "--a=2", "--a=2", of which'],
    [['--a', '--a=1'], 'has "--a", "--a=1", of which'],
    [['--a=1', '--a=1'], undefined],
    [['--a=1', '--ab=1'], undefined],
  ])('is refused for a flag that is there more than once: %j', (list, message) => {
    const wish = { path: ARGS, entries: [flagEntry('--a', '1')], why: 'so' };

    const { findings } = planned(tenant([[ARGS, list]]), [wish]);

    expect(findings.map(({ code }) => code)).toEqual(
      message === undefined ? [] : ['EntryRepeated'],
    );
    expect(findings[0]?.message ?? '').toContain(message ?? '');
  });

  test('is not refused where a flag was added behind ours', () => {
    const wish = { path: ARGS, entries: [flagEntry('--a', '1')], why: 'so' };
    const prepared = written(planned(tenant(), [wish]));

    const plan = planned(withField(prepared, ARGS, ['--a=1', '--a=2']), [wish]);

    expect(plan.findings).toEqual([]);
    expect(valueAt(plan.body, ...ARGS)).toEqual(['--a=1']);
  });

  test('is refused for a list of more entries than anybody needs', () => {
    const list = Array.from({ length: 1_001 }, (_, index) => `--v=${index}`);
    const wish = { path: ARGS, entries: [flagEntry('--a', '1')], why: 'so' };

    expect(planned(tenant([[ARGS, list.slice(1)]]), [wish]).findings).toEqual([]);
    expect(planned(tenant([[ARGS, list]]), [wish]).findings).toEqual([
      {
        ...{ code: 'ListTooLong', severity: 'error' },
        message:
          'spec.controlPlane.deployment.extraArgs.apiServer of TenantControlPlane tenants/a has 1001 entries, and Snicket writes no list of more than 1000',
        action: 'take out what is not needed there',
      },
    ]);
  });

  test('is of one version of the object, and of the fields that are wished for', () => {
    const { body, isDue } = planned(tenant([[CLASS, 'own']]), [
      { path: HOST, value: 'a.example.test', why: 'so' },
    ]);

    expect(isDue).toBe(true);
    expect(body as unknown).toEqual({
      ...{ apiVersion, kind },
      metadata: {
        ...{ name: 'a', namespace: 'tenants', uid: 'u', resourceVersion: '1' },
        annotations: {
          [RECORD_ANNOTATION]:
            '{"exposure":"tenants/blue","fields":[{"path":["spec","controlPlane","ingress","hostname"],"wrote":"a.example.test"}]}',
        },
      },
      spec: { controlPlane: { ingress: { hostname: 'a.example.test' } } },
    });
  });

  test('has nothing to write when all of it is there, in whatever order', () => {
    const wishes = [
      { path: ARGS, entries: [flagEntry('--a', '1'), flagEntry('--b', '2')], why: '' },
    ];
    const live = written(planned(tenant([[ARGS, ['--x']]]), wishes));
    const shuffled = changed(live, { [ARGS.join('.')]: ['--b=2', '--x', '--a=1'] });

    expect(planned(live, wishes).isDue).toBe(false);
    expect(planned(shuffled, wishes).differing).toEqual([]);
  });

  test('puts back what is not wished for any more, if it was there before', () => {
    const [host, className]: FieldWish[] = [
      { path: HOST, value: 'new', why: '' },
      { path: CLASS, value: 'ours', why: '' },
    ];
    const live = written(planned(tenant([[HOST, 'old']]), [host!, className!]));

    expect(planned(live, []).putBack).toEqual([{ path: HOST, value: 'old' }]);
    expect(planned(live, [host!]).putBack).toEqual([]);
  });

  test('leaves the record of an Exposure that is there alone, and takes over that of one that is gone', () => {
    const wishes: FieldWish[] = [{ path: HOST, value: 'new', why: '' }];
    const live = written(planned(tenant([[HOST, 'old']]), wishes));
    const second = (isThere: boolean) =>
      planned(live, wishes, { exposure: 'tenants/second', isThere: () => isThere });

    expect(second(true).findings).toMatchObject([
      { code: 'PreparedForAnother', severity: 'error' },
    ]);
    expect(second(false).findings).toEqual([]);
    expect(JSON.stringify(second(false).body)).toContain('\\"was\\":\\"old\\"');
  });
});

describe('whatever is wished for, one thing after the other', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const path = fc.constantFrom(HOST, CLASS, [...INGRESS, 'controllerType']);
  const entry = fc.tuple(name, fc.nat(2)).map(([flag, value]) => `--${flag}=${value}`);
  const list = fc.uniqueArray(entry, { selector: (text) => text.slice(0, 3) });
  const value = path.chain((at) =>
    fc.nat(3).map((wanted): FieldWish => ({ path: at, value: wanted, why: '' })),
  );
  const args = fc
    .uniqueArray(fc.tuple(name, fc.nat(2)), { selector: ([flag]) => flag })
    .map((all): FieldWish => ({
      path: ARGS,
      entries: all.map(([flag, number]) => flagEntry(`--${flag}`, String(number))),
      why: '',
    }));
  const wishes = fc.uniqueArray(fc.oneof(value, args), {
    selector: ({ path: at }) => at.join('.'),
  });
  const start = fc.uniqueArray(
    fc.oneof(fc.tuple(path, fc.nat(3)), fc.tuple(fc.constant(ARGS), list)),
    { selector: ([at]) => at.join('.') },
  );

  test('the object without us is always the one that was there before us', () => {
    fc.assert(
      fc.property(start, fc.array(wishes, { minLength: 1, maxLength: 4 }), (fields, all) => {
        let live: KubeObject = tenant(fields);
        for (const wish of all) {
          const plan = planned(live, wish);
          // As the API server does it: values that are put back first, and fields of ours that are not applied any more.
          const base = undoneOf(live);
          const kept = new Set(wish.map(({ path: at }) => at.join('.')));
          const dropped = recordedPaths(live).filter((at) => !kept.has(at.join('.')));
          const pruned = dropped.reduce(
            (object, at) => withField(object, at, valueAt(base, ...at)),
            plan.live,
          );
          live = written({ ...plan, live: pruned });
        }

        for (const [at, was] of fields) {
          expect([at, valueAt(undoneOf(live), ...at)]).toEqual([at, was]);
        }
        expect(leavesOf(undoneOf(live)).filter(([at]) => at[0] === 'spec').length).toBe(
          fields.length,
        );
      }),
    );
  });

  function undoneOf(live: KubeObject): KubeObject {
    const record = recordOf(live);
    return record === undefined || record === 'unreadable' ? live : undone(live, record);
  }

  function recordedPaths(live: KubeObject): readonly (readonly string[])[] {
    const record = recordOf(live);
    if (record === undefined || record === 'unreadable') return [];
    return record.fields.map(({ path: at }) => at);
  }
});

test('a field of any name is nothing but a field', () => {
  const tree = treeOf([[['spec', '__proto__', 'polluted'], true]]);

  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(Object.keys(valueAt(tree, 'spec') as object)).toEqual(['__proto__']);
});
