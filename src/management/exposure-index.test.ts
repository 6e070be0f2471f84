import { describe, expect, test } from 'bun:test';
import { keyText, type KubeObject, type ObjectMeta } from '../kube/object.ts';
import type { Change } from '../kube/informer/cache.ts';
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { ExposureIndex } from './exposure-index.ts';

/** The metadata of an Exposure that was created for an annotation of a TenantControlPlane. */
const CREATED_FOR_KAMAJI = {
  name: 'blue',
  namespace: 'tenants',
  ownerReferences: [
    {
      apiVersion: 'kamaji.clastix.io/v1alpha1',
      kind: 'TenantControlPlane',
      name: 'blue',
      uid: 'u',
      controller: true,
    },
  ],
  labels: { 'app.kubernetes.io/managed-by': 'snicket' },
};

function exposure(name: string, spec: object = {}, rest: object = {}): KubeObject {
  const controlPlane = {
    type: 'Service',
    service: { name, apiPort: 6443 },
    caSecretRef: { name: 'ca' },
    kubeconfigSecretRef: { name: 'kubeconfig' },
  };
  const object = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    spec: { controlPlane, ...spec },
    metadata: { name, namespace: 'tenants', creationTimestamp: '2026-11-01T00:00:00Z' },
    ...rest,
  };
  return object;
}

function edge(name: string, metadata: Partial<ObjectMeta> = {}): KubeObject {
  const object = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name, ...metadata },
    spec: { driver: 'snicket', domain: 'example.test' },
  };
  return object;
}

function indexOf(
  exposures: readonly KubeObject[],
  edges: readonly KubeObject[],
  routes: readonly TenantRoute[] = [],
): ExposureIndex {
  return new ExposureIndex({
    exposures: () => exposures,
    exposure: (key) => exposures.find(({ metadata }) => keyText(metadata) === key),
    edges: () => edges,
    tenantRoutes: new TenantRouteIndex(routes),
  });
}

const DEFAULT = { 'snicket.dev/is-default': 'true' };

describe('the Edge of an Exposure', () => {
  test('is the Edge that it names', () => {
    const index = indexOf([], [edge('a'), edge('b')]);

    const { value } = index.resolve(exposure('blue', { edgeRef: { name: 'b' } }));

    expect(value?.edge.metadata.name).toBe('b');
  });

  test('is the oldest default Edge if it names none, and the first by name of the same age', () => {
    const at = (creationTimestamp: string) => ({ creationTimestamp, annotations: DEFAULT });
    const edges = [edge('c', at('2026-02-01')), edge('b', at('2026-01-01')), edge('none')];
    const twins = [edge('y', at('2026-01-01')), edge('x', at('2026-01-01'))];

    expect(indexOf([], edges).resolve(exposure('blue')).value?.edge.metadata.name).toBe('b');
    expect(indexOf([], twins).resolve(exposure('blue')).value?.edge.metadata.name).toBe('x');
  });

  test('is, of several default Edges, the Edge of its first TenantRoute, whatever its status says', () => {
    const at = (creationTimestamp: string) => ({ creationTimestamp, annotations: DEFAULT });
    const edges = [edge('old', at('2026-01-01')), edge('young', at('2026-02-01')), edge('other')];
    const on = (name: string, creationTimestamp: string) =>
      tenantRoute('blue', `${name}.example.test`, { creationTimestamp }, { edgeRef: { name } });
    const edgeWith = (...routes: readonly TenantRoute[]) =>
      indexOf([], edges, routes).resolve(exposure('blue', {}, { status })).value?.edge.metadata
        .name;
    const status = { edgeRef: { name: 'old' } };

    expect(edgeWith(on('young', '2026-03-01'))).toBe('young');
    expect(edgeWith(on('old', '2026-03-02'), on('young', '2026-03-01'))).toBe('young');
    expect(edgeWith(on('other', '2026-03-01'))).toBe('old');
    expect(edgeWith()).toBe('old');
  });

  test('follows its TenantRoutes', () => {
    const at = (creationTimestamp: string) => ({ creationTimestamp, annotations: DEFAULT });
    const edges = [edge('old', at('2026-01-01')), edge('young', at('2026-02-01'))];
    const tenantRoutes = new TenantRouteIndex<TenantRoute>();
    const blue = exposure('blue');
    const index = new ExposureIndex({
      exposures: () => [blue],
      exposure: () => blue,
      edges: () => edges,
      tenantRoutes,
    });
    const users = () => ['old', 'young'].map((name) => [...index.usersOf(name)].length);
    expect(users()).toEqual([1, 0]);

    const route = tenantRoute('blue', 'any.example.test', {}, { edgeRef: { name: 'young' } });
    tenantRoutes.put(route);
    expect(users()).toEqual([0, 1]);

    // Another client may have set the label of a previous TenantRoute on all of them.
    const labels = { 'snicket.dev/previous': 'true' };
    const previous = { ...route, metadata: { ...route.metadata, labels } };
    tenantRoutes.put(previous);
    expect(users()).toEqual([0, 1]);

    tenantRoutes.remove(previous);
    expect(users()).toEqual([1, 0]);
  });

  test('may be in an invalid file, which the finding names', () => {
    const sources = { exposures: () => [], edges: () => [], unusableFiles: () => ['edge.yaml'] };
    const index = new ExposureIndex(sources);

    expect(index.resolve(exposure('blue')).finding).toEqual({
      code: 'EdgeNotFound',
      severity: 'error',
      action: 'Correct edge.yaml.',
      message:
        'Field spec.edgeRef is not set, and no Edge exists. It may be defined in edge.yaml, which cannot be used.',
    });
    expect(index.resolve(exposure('blue', { edgeRef: { name: 'a' } })).finding).toMatchObject({
      message: 'Edge a does not exist. It may be defined in edge.yaml, which cannot be used.',
      action: 'Correct edge.yaml.',
    });
  });

  test('is missing, and the finding names the existing ones', () => {
    const index = indexOf([], [edge('b'), edge('a')]);

    expect(index.resolve(exposure('blue', { edgeRef: { name: 'c' } })).finding).toMatchObject({
      code: 'EdgeNotFound',
      action: 'Create it, or correct spec.edgeRef (existing Edges: a, b).',
    });
    expect(index.resolve(exposure('blue')).finding?.code).toBe('EdgeNotFound');
    expect(indexOf([], []).resolve(exposure('blue')).finding).toMatchObject({
      message: 'Field spec.edgeRef is not set, and no Edge exists.',
      action:
        'Create an Edge with the annotation snicket.dev/is-default: "true", or set spec.edgeRef.',
    });
  });

  test('is missing because of an annotation, if the Exposure was created for an annotation', () => {
    const metadata = CREATED_FOR_KAMAJI;
    const index = indexOf([], [edge('a')]);

    const named = index.resolve(exposure('blue', { edgeRef: { name: 'c' } }, { metadata }));
    const unnamed = index.resolve(exposure('blue', {}, { metadata }));

    const place = 'annotation snicket.dev/edge of TenantControlPlane tenants/blue';
    expect(named.finding?.action).toBe(`Create it, or correct the ${place} (existing Edge: a).`);
    expect(unnamed.finding?.message).toBe(
      `The ${place} names no Edge, and no Edge is the default.`,
    );
    expect(unnamed.finding?.action).toStartWith(
      'Name an Edge there (existing Edge: a), or annotate an Edge with snicket.dev/is-default: "true".',
    );
  });

  test("is missing because of the annotation of Kamaji's addon, which can only use the default Edge", () => {
    const annotations = { 'snicket.dev/requested-by': 'kamaji.clastix.io/ingress.domain' };
    const metadata = { ...CREATED_FOR_KAMAJI, annotations };
    const object = exposure('blue', {}, { metadata });
    const place = 'annotation kamaji.clastix.io/ingress.domain of TenantControlPlane tenants/blue';

    expect(indexOf([], [edge('a')]).resolve(object).finding).toEqual({
      code: 'EdgeNotFound',
      severity: 'error',
      message: `The ${place} uses the default Edge, and no Edge is the default.`,
      action:
        'Name an Edge in the annotation snicket.dev/edge of that object (existing Edge: a), or annotate an Edge with snicket.dev/is-default: "true".',
    });
    expect(indexOf([], []).resolve(object).finding).toMatchObject({
      message: `The ${place} uses the default Edge, and no Edge exists.`,
      action:
        'Create an Edge with the annotation snicket.dev/is-default: "true", or name an Edge in the annotation snicket.dev/edge of that object.',
    });
  });

  test('that is invalid is the finding', () => {
    const broken = { ...edge('a'), spec: { driver: 'unheard-of' } };

    const { finding } = indexOf([], [broken]).resolve(exposure('blue', { edgeRef: { name: 'a' } }));

    expect(finding?.message).toContain('unheard-of');
  });
});

describe('hosts', () => {
  const EDGES = [edge('a', { annotations: DEFAULT })];

  test('belong to one Exposure, even if it is no longer valid', () => {
    const broken = exposure('old', { worker: { mode: 'unheard-of' } });
    const blue = exposure('blue');
    const routes = [tenantRoute('old', 'tenants-blue.k8s.example.test')];

    const { value } = indexOf([blue, broken], EDGES, routes).resolve(blue);

    expect(value?.conflict).toMatchObject({ code: 'HostConflict' });
    expect(value?.conflict?.message).toContain('Exposure tenants/old');
  });

  test('follow every change of an Exposure', () => {
    const blue = exposure('blue');
    const rival = exposure('a', { hosts: { api: 'tenants-blue.k8s.example.test' } });
    const index = indexOf([blue], EDGES);
    const conflict = () => index.resolve(blue).value?.conflict?.message;
    expect(conflict()).toBeUndefined();

    index.exposureChanged({ type: 'ADDED', object: rival });
    expect(conflict()).toContain('Exposure tenants/a');

    const moved = exposure('a', { hosts: { api: 'another.example.test' } });
    index.exposureChanged({ type: 'MODIFIED', object: moved, previous: rival });
    expect(conflict()).toBeUndefined();

    index.exposureChanged({ type: 'MODIFIED', object: rival, previous: moved });
    index.exposureChanged({ type: 'DELETED', object: rival });
    expect(conflict()).toBeUndefined();
  });

  test('follow the domain of an Edge', () => {
    const edges = [edge('a', { annotations: DEFAULT })];
    const blue = exposure('blue');
    const rival = exposure('a', { hosts: { api: 'tenants-blue.k8s.other.test' } });
    const index = indexOf([blue, rival], edges);
    expect(index.resolve(blue).value?.conflict).toBeUndefined();

    const previous = edges[0]!;
    const object = { ...previous, spec: { driver: 'snicket', domain: 'other.test' } };
    edges[0] = object;
    index.edgeChanged({ type: 'MODIFIED', object, previous });

    expect(index.resolve(blue).value?.conflict?.message).toContain('Exposure tenants/a');
  });
});

test('default hosts that are equal for Exposures of two namespaces are a conflict of the younger Exposure', () => {
  const inNamespace = (namespace: string, name: string, creationTimestamp: string) =>
    exposure(name, {}, { metadata: { namespace, name, creationTimestamp } });
  const older = inNamespace('team', 'prod-db', '2026-11-01T00:00:00Z');
  const younger = inNamespace('team-prod', 'db', '2026-11-02T00:00:00Z');
  const index = indexOf([younger, older], [edge('a', { annotations: DEFAULT })]);

  expect(index.resolve(older).value?.conflict).toBeUndefined();
  expect(index.resolve(younger).value?.conflict).toMatchObject({
    code: 'HostConflict',
    message: 'Host team-prod-db.k8s.example.test is already used by Exposure team/prod-db.',
  });
});

test('an Exposure that its Edge does not allow uses it only while it has a TenantRoute there', () => {
  const spec = { driver: 'snicket', domain: 'example.test', allowedHosts: ['*.other.test'] };
  const strict = { ...edge('shared'), spec };
  const refused = exposure('blue', { edgeRef: { name: 'shared' } });
  const allowed = exposure('green', {
    edgeRef: { name: 'shared' },
    hosts: { api: 'green.other.test' },
  });
  const route = tenantRoute('blue', 'tenants-blue.k8s.example.test');
  const usersWith = (...routes: readonly TenantRoute[]) =>
    [...indexOf([refused, allowed], [strict], routes).usersOf('shared')].toSorted();

  expect(usersWith()).toEqual(['tenants/green']);
  expect(usersWith(route)).toEqual(['tenants/blue', 'tenants/green']);
  expect(usersWith({ ...route, spec: { ...route.spec, edgeRef: { name: 'other' } } })).toEqual([
    'tenants/green',
  ]);
});

test('an Exposure that moves to another Edge uses the previous Edge while it has a TenantRoute there', () => {
  const moved = exposure('blue', { edgeRef: { name: 'other' } });
  const edges = [edge('shared'), edge('other')];
  const route = tenantRoute('blue', 'tenants-blue.k8s.example.test');
  const orphan = tenantRoute('gone', 'tenants-gone.k8s.example.test');
  const index = indexOf([moved], edges, [route, orphan]);

  expect([...index.usersOf('shared')]).toEqual(['tenants/blue']);
  expect([...index.usersOf('other')]).toEqual(['tenants/blue']);
});

describe('a change of an Edge', () => {
  const DEFAULT_A = { name: 'a', annotations: DEFAULT, generation: 1 };
  const A = { ...edge('a'), metadata: DEFAULT_A };
  const B = edge('b', { generation: 1 });
  const onB = { edgeRef: { name: 'b' } };

  /** Exposures on the default Edge, on Edge b, and on one that does not exist. */
  function lab(edges: KubeObject[]) {
    const exposures = [
      exposure('blue'),
      exposure('green', onB),
      exposure('grey', { edgeRef: { name: 'missing' } }),
    ];
    const index = indexOf(exposures, edges, [
      tenantRoute('blue', 'any.example.test', {}, { edgeRef: { name: 'left' } }),
      tenantRoute('orphan', 'orphan.example.test', {}, { edgeRef: { name: 'b' } }),
    ]);
    const change = (object: KubeObject, previous?: KubeObject) => {
      const known = edges.findIndex(({ metadata }) => metadata.name === object.metadata.name);
      edges.splice(known < 0 ? edges.length : known, known < 0 ? 0 : 1, object);
      return affected(
        previous === undefined ? { type: 'ADDED', object } : { type: 'MODIFIED', object, previous },
      );
    };
    const affected = (change: Change<KubeObject>) => {
      const { keys, hosts, edgeRefs } = index.edgeChanged(change);
      return { keys: [...keys].toSorted(), hosts: hosts.toSorted(), edgeRefs };
    };
    expect([...index.claimantsOf('tenants-green.k8s.example.test')]).toHaveLength(1);
    return { edges, index, change, affected };
  }

  function changed(object: KubeObject, rest: object): KubeObject {
    return { ...object, ...rest, metadata: { ...object.metadata, generation: 2 } };
  }

  test('affects its Exposures, and the hosts that they claim before and after it', () => {
    const { index, change } = lab([A, B]);
    const spec = { driver: 'snicket', domain: 'other.test' };

    expect(change(changed(B, { spec }), B)).toEqual({
      keys: ['tenants/green'],
      hosts: ['tenants-green.k8s.example.test', 'tenants-green.k8s.other.test'],
      edgeRefs: ['b'],
    });
    expect([...index.claimantsOf('tenants-green.k8s.other.test')]).toEqual(['tenants/green']);
    expect([...index.claimantsOf('tenants-green.k8s.example.test')]).toEqual([]);
  });

  test('affects nothing if only the status has changed', () => {
    const { change } = lab([A, B]);

    const object = { ...B, status: { exposures: 1 } } as KubeObject;
    expect(change(object, B)).toEqual({ keys: [], hosts: [], edgeRefs: [] });
  });

  test('affects Exposures without edgeRef if the Edge is or was a default Edge', () => {
    const { edges, change } = lab([A, B]);
    const spec = { driver: 'snicket', domain: 'example.test', port: 8443 };
    expect(change(changed(A, { spec }), A)).toMatchObject({ keys: ['tenants/blue'], hosts: [] });

    const before = edges[0]!;
    const after = { ...before, metadata: { name: 'a', generation: 2 } };
    expect(change(after, before)).toMatchObject({ keys: ['tenants/blue'], edgeRefs: ['a', ''] });
    expect(change({ ...B, metadata: { ...B.metadata, annotations: DEFAULT } }, B)).toMatchObject({
      keys: ['tenants/blue', 'tenants/green'],
      edgeRefs: ['b', ''],
    });
  });

  test('affects Exposures whose Edge is missing if an Edge is added or removed', () => {
    const { edges, change, affected } = lab([A, B]);

    expect(change(edge('new'))).toMatchObject({ keys: ['tenants/grey'], hosts: [] });
    edges.length = 0;
    expect(affected({ type: 'DELETED', object: A }).keys).toEqual([
      'tenants/blue',
      'tenants/green',
      'tenants/grey',
    ]);
  });

  test('affects Exposures that move away from it', () => {
    const { change } = lab([A, B, edge('left', { generation: 1 })]);

    const left = edge('left', { generation: 2 });
    expect(change(left, edge('left', { generation: 1 })).keys).toEqual(['tenants/blue']);
  });

  test('affects all Exposures before their hosts are known', () => {
    const index = indexOf([exposure('blue'), exposure('green', onB)], [A, B]);

    const { keys, edgeRefs } = index.edgeChanged({ type: 'ADDED', object: B });
    expect([...keys]).toEqual(['tenants/blue', 'tenants/green']);
    expect(edgeRefs).toEqual(['b', '']);
  });
});

test('new labels of a namespace affect its Exposures, and the hosts that an Edge then allows', () => {
  const selector = { matchLabels: { team: 'a' } };
  const allowedNamespaces = { from: 'Selector', selector };
  const spec = { driver: 'snicket', domain: 'example.test', allowedNamespaces };
  const moved = exposure('green', { edgeRef: { name: 'shared' } });
  const exposures = [
    exposure('blue', { edgeRef: { name: 'shared' } }),
    { ...moved, metadata: { ...moved.metadata, namespace: 'other' } },
  ];
  const labels: Record<string, string> = {};
  const edges = [{ ...edge('shared'), spec }];
  const index = new ExposureIndex({
    exposures: () => exposures,
    exposure: (key) => exposures.find(({ metadata }) => keyText(metadata) === key),
    edges: () => edges,
    namespaceLabels: () => labels,
  });
  expect([...index.claimedHosts()]).toEqual([]);

  labels['team'] = 'a';
  const { keys, hosts } = index.namespaceChanged('tenants');

  expect([...keys]).toEqual(['tenants/blue']);
  expect(hosts).toEqual(['tenants-blue.k8s.example.test']);
  edges[0] = { ...edge('shared'), spec: { driver: 'snicket' } } as (typeof edges)[0];
  expect(index.namespaceChanged('tenants')).toEqual({ keys: [], hosts: [] });
});

describe('the index', () => {
  test('parses each version of an object once', () => {
    const index = indexOf([], []);
    const object = exposure('blue');

    expect(index.exposureIn(object)).toBe(index.exposureIn(object));
    expect(index.exposureIn({ ...object })).not.toBe(index.exposureIn(object));
  });

  test('returns the keys of all Exposures', () => {
    const index = indexOf([exposure('blue')], []);

    expect(index.has('tenants/blue')).toBe(true);
    expect(index.has('tenants/green')).toBe(false);
    expect(index.has('blue')).toBe(false);

    index.exposureChanged({ type: 'ADDED', object: exposure('green') });
    expect(index.has('tenants/green')).toBe(true);
    index.exposureChanged({ type: 'DELETED', object: exposure('green') });
    expect(index.has('tenants/green')).toBe(false);
  });
});

test('many Exposures are parsed in several turns of the event loop', async () => {
  const exposures = Array.from({ length: 120 }, (_, index) => exposure(`e${index}`));
  const index = indexOf(exposures, []);
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);

  await index.parseAll();
  clearImmediate(counting);

  expect(turns).toBeGreaterThanOrEqual(2);
});
