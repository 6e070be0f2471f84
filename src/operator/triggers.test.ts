import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../kube/resource.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import { RECORD_ANNOTATION } from '../providers/preparation/record.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import {
  capiCluster,
  clusterDeployment,
  newTenantControlPlane,
  k0smotronCluster,
  k0smotronControlPlane,
} from '../providers/testing/provider-objects.ts';
import { dependencyOn, DependencyIndex } from '../management/dependency-index.ts';
import { observeExposure } from '../reconcile/observe.ts';
import { ExposureIndex } from '../management/exposure-index.ts';
import { requestedEdge } from '../providers/shims/shim.ts';
import { ManagementSnapshot } from '../management/management-snapshot.ts';
import { Triggers, type TriggersOptions } from './triggers.ts';

/** The objects of the management cluster: control planes, and the Edge of every Exposure. */
const OBJECTS = [
  {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: { driver: 'snicket', domain: 'example.com' },
  },
  ...[newTenantControlPlane('kamaji', 'blue'), newTenantControlPlane('steward', 'blue')],
  ...[k0smotronCluster('amber'), k0smotronControlPlane('amber'), capiCluster('amber')],
  clusterDeployment('amber', 'any'),
];

/** Returns the Exposures that a change enqueues, among one Exposure for each of these control planes. */
async function enqueuedBy(
  change: (triggers: Triggers) => void,
  refs: Readonly<Record<string, { readonly resource: Resource; readonly name: string }>>,
): Promise<readonly string[]> {
  const exposures = Object.entries(refs).map(([name, { resource, name: of }]) => {
    const { apiVersion, kind } = resource;
    const spec = {
      edgeRef: { name: 'shared' },
      controlPlane: { type: 'Object', objectRef: { group: groupOf(apiVersion), kind, name: of } },
    };
    const metadata = { name, namespace: 'tenants' };
    return { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', metadata, spec };
  });
  const management = new ManagementSnapshot([...OBJECTS, ...exposures], { has: () => true });
  const dependencies = new DependencyIndex();
  for (const object of exposures) {
    const { value: resolved } = management.exposureIndex.resolve(object);
    const deps = { management, namespace: 'snicket-system', proxyImage: 'any' };
    const observation = await observeExposure(
      object,
      resolved!,
      deps,
      new AbortController().signal,
    );
    dependencies.set(object.metadata.name, observation.dependencies);
  }
  const keys = new Set<string>();
  const queue = new WorkQueue({ onFailure: ({ key }) => void keys.add(`${key} failed`) });
  const watched = {
    exposureIndex: management.exposureIndex,
    edges: { list: () => [] },
    exposures: {
      get: ({ name }: KubeObject['metadata']) =>
        exposures.find(({ metadata }) => metadata.name === name),
    },
    providerObject: () => undefined,
    all: () => [],
    providerObjects: () => [],
  };
  const triggers = new Triggers({
    management: watched as unknown as TriggersOptions['management'],
    exposures: { add: (key) => void keys.add(key) },
    edges: queue,
    shims: queue,
    namespace: 'snicket-system',
    dependencies,
    hasForeignStatus: () => false,
  });

  change(triggers);

  return [...keys].toSorted();
}

const { kamaji, steward, k0smotron, k0smotronControlPlane: capi } = PROVIDER_RESOURCES;
const ALL = {
  'of-kamaji': { resource: kamaji, name: 'blue' },
  'of-steward': { resource: steward, name: 'blue' },
  'of-k0smotron': { resource: k0smotron, name: 'amber' },
  'of-capi': { resource: capi, name: 'amber-cp' },
  'of-k0rdent': { resource: PROVIDER_RESOURCES.clusterDeployment, name: 'amber' },
};

/** Returns the Exposures that a change of a foreign Ingress with this host enqueues. */
function enqueuedByIngress(host: string): readonly string[] {
  const { apiVersion, kind } = RESOURCES.exposure;
  const exposures = ['blue', 'green'].map((name) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'tenants' },
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: {
        type: 'Service',
        service: { name, apiPort: 6443 },
        caSecretRef: { name: 'ca' },
        kubeconfigSecretRef: { name: 'kubeconfig' },
      },
      hosts: { api: `${name}.${name}.example.com` },
    },
  }));
  const management = new ManagementSnapshot(
    [...OBJECTS, ...exposures, tenantRoute('routed', 'old.blue.example.com')],
    { has: () => true },
  );
  const keys = new Set<string>();
  const queue = new WorkQueue({ onFailure: ({ error }) => void keys.add(String(error)) });
  const triggers = new Triggers({
    management: management as unknown as TriggersOptions['management'],
    exposures: { add: (key) => void keys.add(key) },
    edges: queue,
    shims: queue,
    namespace: 'snicket-system',
    dependencies: new DependencyIndex(),
    hasForeignStatus: () => false,
  });

  triggers.onForeignRoute({
    apiVersion: RESOURCES.ingress.apiVersion,
    kind: RESOURCES.ingress.kind,
    metadata: { name: 'shop', namespace: 'default' },
    spec: { rules: [{ host }] },
  } as KubeObject);

  return [...keys].toSorted();
}

describe('a change of a foreign route enqueues', () => {
  test.each([
    ['an Exposure with a TenantRoute of its host', 'old.blue.example.com', ['tenants/routed']],
    ['an Exposure that claims its host', 'blue.blue.example.com', ['tenants/blue']],
    [
      'both for a wildcard that covers their hosts',
      '*.blue.example.com',
      ['tenants/blue', 'tenants/routed'],
    ],
    ['no other Exposure', 'shop.example.com', []],
  ])('%s', (_, host, expected) => {
    expect(enqueuedByIngress(host)).toEqual(expected);
  });
});

describe('a change of the gateway Service enqueues', () => {
  const service = { namespace: 'snicket-system', name: 'snicket-gateway' };

  test('the Exposures on Edges that have its addresses', async () => {
    const enqueued = await enqueuedBy(({ onService }) => onService(service), ALL);

    expect(enqueued).toEqual(Object.keys(ALL).toSorted());
  });
});

/** A namespace per Exposure, so that a selector of an Edge can distinguish them. */
const namespaceOf = (name: string) => `of-${name}`;

/** Records the enqueued keys when Edges, namespaces and classes change, with many other Exposures on Edge `crowded`. */
class EdgeLab {
  readonly edges = new Map<string, KubeObject>();
  readonly labels = new Map<string, Readonly<Record<string, string>>>();
  readonly added = new Set<string>();
  readonly shims = new Set<string>();
  readonly dependencies = new DependencyIndex();
  readonly #exposures = new Map<string, KubeObject>();
  readonly #annotated: KubeObject[] = [];
  readonly #index: ExposureIndex;
  readonly #triggers: Triggers;

  constructor() {
    this.#index = new ExposureIndex({
      exposures: () => [...this.#exposures.values()],
      exposure: (key) => this.#exposures.get(key),
      edges: () => [...this.edges.values()],
      namespaceLabels: (name) => this.labels.get(name) ?? {},
    });
    const queue = new WorkQueue({ onFailure: ({ error }) => void this.added.add(String(error)) });
    const management = {
      exposureIndex: this.#index,
      exposures: { list: () => [...this.#exposures.values()] },
      edges: { list: () => [...this.edges.values()] },
      all: () => [...this.edges.values()].filter(({ kind }) => kind === 'IngressClass'),
      providerObjects: (resource: Resource) => (resource === kamaji ? this.#annotated : []),
      objectsRequesting: (edge: string) =>
        this.#annotated.filter((object) => requestedEdge(object) === edge),
    };
    this.#triggers = new Triggers({
      management: management as unknown as TriggersOptions['management'],
      exposures: { add: (key) => void this.added.add(key) },
      edges: queue,
      shims: { add: (key: string) => void this.shims.add(key) } as unknown as WorkQueue,
      namespace: 'snicket-system',
      dependencies: this.dependencies,
      hasForeignStatus: () => false,
    });
    this.edges.set('crowded', edgeObject('crowded'));
    for (let n = 0; n < 300; n++) this.expose(`other-${n}`, 'crowded');
    // The index is complete once it was used.
    expect(this.#index.has('of-other-0/other-0')).toBe(true);
  }

  expose(name: string, edge: string | undefined, api?: string): void {
    const exposure = {
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: { name, namespace: namespaceOf(name) },
      spec: {
        ...(edge !== undefined && { edgeRef: { name: edge } }),
        controlPlane: {
          type: 'Object',
          objectRef: { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name },
        },
        ...(api !== undefined && { hosts: { api } }),
      },
    };
    this.#exposures.set(`${exposure.metadata.namespace}/${name}`, exposure);
    this.#index.exposureChanged({ type: 'ADDED', object: exposure });
  }

  annotate(name: string, edge: string): void {
    const { metadata, ...object } = newTenantControlPlane('kamaji', name);
    const annotations = { 'snicket.dev/edge': edge };
    this.#annotated.push({ ...object, metadata: { ...metadata, annotations } });
  }

  /** Applies an Edge. Returns the names of the added Exposures. */
  apply(object: KubeObject): readonly string[] {
    const previous = this.edges.get(object.metadata.name);
    this.edges.set(object.metadata.name, object);
    const affected = this.#index.edgeChanged(
      previous === undefined ? { type: 'ADDED', object } : { type: 'MODIFIED', object, previous },
    );
    return this.#addedBy(({ onEdge }) => onEdge(object, previous, affected));
  }

  label(namespace: string, labels: Readonly<Record<string, string>>): readonly string[] {
    this.labels.set(namespace, labels);
    const affected = this.#index.namespaceChanged(namespace);
    return this.#addedBy(({ onNamespace }) => onNamespace(namespace, affected));
  }

  set(setting: KubeObject, previous: KubeObject | undefined): readonly string[] {
    return this.#addedBy(({ onEdgeSetting }) => onEdgeSetting(setting, previous));
  }

  #addedBy(change: (triggers: Triggers) => void): readonly string[] {
    this.added.clear();
    this.shims.clear();
    change(this.#triggers);
    return [...this.added].map((key) => key.slice(key.indexOf('/') + 1)).toSorted();
  }
}

let generation = 1;
function edgeObject(name: string, spec: object = {}, annotations = {}): KubeObject {
  const object = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name, generation: generation++, annotations },
    spec: { driver: 'haproxy', domain: `${name}.test`, ...spec },
  };
  return object;
}

const IS_DEFAULT = { 'snicket.dev/is-default': 'true' };

describe('among many Exposures, a change of an Edge enqueues', () => {
  test('Exposures and annotated objects that reference it', () => {
    const lab = new EdgeLab();
    lab.annotate('red', 'few');
    lab.annotate('grey', 'crowded');
    lab.expose('blue', 'few');

    expect(lab.apply(edgeObject('few'))).toEqual(['blue']);
    expect(lab.apply(edgeObject('few', { port: 8443 }))).toEqual(['blue']);
    expect([...lab.shims].join()).toMatch(/^[^,]*red$/);
  });

  test('no Exposures if only its status changes', () => {
    const lab = new EdgeLab();
    lab.expose('blue', 'few');
    const before = edgeObject('few');
    lab.apply(before);

    const status = { addresses: ['203.0.113.10'] };
    expect(lab.apply({ ...before, status } as KubeObject)).toEqual([]);
    expect(lab.shims.size).toBe(0);
  });

  test('Exposures without an edgeRef if it becomes a default Edge', () => {
    const lab = new EdgeLab();
    lab.annotate('red', '');
    lab.expose('blue', undefined);

    expect(lab.apply(edgeObject('few', {}, IS_DEFAULT))).toEqual(['blue']);
    expect(lab.shims.size).toBe(1);
    expect(lab.apply(edgeObject('few', { port: 8443 }, IS_DEFAULT))).toEqual(['blue']);
    expect(lab.apply(edgeObject('few'))).toEqual(['blue']);
    expect(lab.apply(edgeObject('few', { port: 8443 }))).toEqual([]);
  });

  test('Exposures on another Edge that wait for a host which its Exposures release', () => {
    const lab = new EdgeLab();
    lab.apply(edgeObject('few', { domain: 'few.test' }));
    lab.apply(edgeObject('third', { allowedHosts: ['*.test'] }));
    lab.expose('blue', 'few');
    lab.expose('green', 'third', 'of-blue-blue.k8s.few.test');
    lab.expose('red', 'third', 'of-blue-blue.k8s.new.test');

    const moved = edgeObject('few', { domain: 'new.test' });
    expect(lab.apply(moved)).toEqual(['blue', 'green', 'red']);
  });
});

test('a change of namespace labels enqueues only the Exposures in the namespace, and the Exposures that wait for their hosts', () => {
  const lab = new EdgeLab();
  const selector = { matchLabels: { team: 'a' } };
  lab.apply(edgeObject('few', { allowedNamespaces: { from: 'Selector', selector } }));
  lab.apply(edgeObject('third', { allowedHosts: ['*.test'] }));
  lab.expose('blue', 'few');
  lab.expose('green', 'third', 'of-blue-blue.k8s.few.test');

  expect(lab.label(namespaceOf('blue'), { team: 'a' })).toEqual(['blue', 'green']);
  expect(lab.label(namespaceOf('green'), { team: 'a' })).toEqual(['green']);
  expect(lab.label('empty', { team: 'a' })).toEqual([]);
});

describe('a change of a provider object enqueues', () => {
  test.each<[string, KubeObject, readonly string[]]>([
    ['the Exposure that references it', newTenantControlPlane('kamaji', 'blue'), ['of-kamaji']],
    ['no Exposure if none references it', newTenantControlPlane('kamaji', 'green'), []],
    [
      'for a K0smotronControlPlane, also the Exposure of its ClusterDeployment',
      k0smotronControlPlane('amber'),
      ['of-capi', 'of-k0rdent'],
    ],
    [
      'for a k0smotron Cluster, also the Exposures of its owners',
      k0smotronCluster('amber'),
      ['of-capi', 'of-k0rdent', 'of-k0smotron'],
    ],
    [
      'for a Cluster API Cluster, the Exposure of its control plane',
      capiCluster('amber'),
      ['of-capi', 'of-k0rdent'],
    ],
    [
      'for a ClusterDeployment, its own Exposure',
      clusterDeployment('amber', 'any'),
      ['of-k0rdent'],
    ],
  ])('%s', async (_, object, expected) => {
    expect(await enqueuedBy((triggers) => triggers.onProviderObject(object), ALL)).toEqual(
      expected,
    );
  });

  test('no Exposure in another namespace', async () => {
    const tenant = newTenantControlPlane('kamaji', 'blue');
    const inOtherNamespace = { ...tenant, metadata: { ...tenant.metadata, namespace: 'others' } };

    expect(
      await enqueuedBy((triggers) => triggers.onProviderObject(inOtherNamespace), ALL),
    ).toEqual([]);
  });
});

describe('an IngressClass, for Exposures whose preparation depends on the classes,', () => {
  const { apiVersion, kind } = RESOURCES.ingressClass;
  const ingressClass = { apiVersion, kind, metadata: { name: 'public' } };

  test('enqueues them if it is created or deleted', async () => {
    const enqueued = await enqueuedBy(
      ({ onEdgeSetting }) => onEdgeSetting(ingressClass, undefined),
      ALL,
    );

    expect(enqueued).toEqual(['of-capi', 'of-k0rdent', 'of-k0smotron', 'of-kamaji', 'of-steward']);
  });

  test('enqueues nothing if only its metadata changes', async () => {
    const annotations = { 'meta.helm.sh/release-name': 'edge' };
    const after = { ...ingressClass, metadata: { ...ingressClass.metadata, annotations } };

    const enqueued = await enqueuedBy(
      ({ onEdgeSetting }) => onEdgeSetting(after, ingressClass),
      ALL,
    );

    expect(enqueued).toEqual([]);
  });
});

describe('among many Exposures, a change of an IngressClass enqueues', () => {
  const { apiVersion, kind } = RESOURCES.ingressClass;
  const IS_DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class';
  const ingressClass = (annotations: Readonly<Record<string, string>>, spec: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name: 'public', annotations },
    spec: { controller: 'haproxy.org/ingress-controller', ...spec },
  });
  const before = ingressClass({});

  test.each<[string, readonly string[], KubeObject]>([
    [
      'no Exposures if only its metadata changes',
      [],
      ingressClass({ 'meta.helm.sh/release-name': 'edge' }),
    ],
    [
      'Exposures on Edges that use it if it becomes the default class',
      ['blue'],
      ingressClass({ [IS_DEFAULT_CLASS]: 'true' }),
    ],
    [
      'Exposures on Edges that use it if its spec changes',
      ['blue'],
      ingressClass({}, { parameters: {} }),
    ],
  ])('%s', (_, expected, after) => {
    const lab = new EdgeLab();
    lab.apply(edgeObject('few'));
    lab.expose('blue', 'few');
    const onFew = new Set([dependencyOn(RESOURCES.edge, { name: 'few' })]);
    lab.dependencies.set('of-blue/blue', onFew);

    expect(lab.set(after, before)).toEqual(expected);
  });
});

describe('a change of the preparation record of an Exposure enqueues', () => {
  const ofKamaji = { group: groupOf(kamaji.apiVersion), kind: kamaji.kind, name: 'blue', uid: '1' };
  const ofSteward = { ...ofKamaji, group: groupOf(steward.apiVersion), uid: '2' };

  function exposureWith(...objects: readonly object[]): KubeObject {
    const fields: readonly unknown[] = [];
    const named = objects.map((object) => ({ ...object, fields }));
    const record = JSON.stringify({ version: 1, exposure: 'of-capi', objects: named });
    const annotations = { [RECORD_ANNOTATION]: record };
    const metadata = { name: 'of-capi', namespace: 'tenants', annotations };
    return { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', metadata };
  }

  test.each<[string, KubeObject, readonly string[]]>([
    [
      'Exposures that reference an object which it no longer contains',
      exposureWith(ofKamaji),
      ['of-steward'],
    ],
    [
      'Exposures that reference an object whose uid differs',
      exposureWith({ ...ofKamaji, uid: '3' }, ofSteward),
      ['of-kamaji'],
    ],
    ['no other Exposure if it still contains all objects', exposureWith(ofSteward, ofKamaji), []],
  ])('%s', async (_, after, expected) => {
    const before = exposureWith(ofKamaji, ofSteward);

    const enqueued = await enqueuedBy((triggers) => triggers.onExposure(after, before), ALL);

    expect(enqueued).toEqual([...expected, 'tenants/of-capi']);
  });
});

test('an Exposure depends on an object before the first read of the object', async () => {
  const exposure = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'blue', namespace: 'tenants' },
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: {
        type: 'Object',
        objectRef: { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'blue' },
      },
    },
  };
  const management = new ManagementSnapshot([...OBJECTS, exposure], { has: () => true });
  const dependencies = new DependencyIndex();
  const key = dependencyOn(kamaji, exposure.metadata);
  const known: (readonly string[])[] = [];
  const object = management.object.bind(management);
  management.object = async (...at) => {
    known.push([...dependencies.dependents(key)]);
    return object(...at);
  };
  const { value: resolved } = management.exposureIndex.resolve(exposure);
  const deps = { management, namespace: 'snicket-system', proxyImage: 'any' };
  const { signal } = new AbortController();

  await observeExposure(exposure, resolved!, deps, signal, (dependency) =>
    dependencies.add('tenants/blue', dependency),
  );

  expect(known[0]).toEqual(['tenants/blue']);
});
