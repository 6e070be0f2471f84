/**
 * For tests only: generated pairs of clusters around Exposure `tenants/blue`. A world may have a past: it was reconciled
 * with another spec, and then other clients changed what Snicket had written.
 */
import fc from 'fast-check';
import { DRIVERS, type Driver } from '../../api/edge.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import { APPLIED_ANNOTATION } from '../../kube/apply/needs-apply.ts';
import { microTimeText, type KubeObject } from '../../kube/object.ts';
import { groupOf, resourceOf, RESOURCES, withVersion, type Resource } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { objectOf, secretOf } from '../../operator/testing/objects.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../../operator/testing/namespaces.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { makeCa, type TestCa } from '../../pki/testing/test-ca.ts';
import type { Cluster } from '../../plan/render.ts';
import { tenantRoute } from '../../plan/testing/tenant-routes.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  changed,
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from '../../providers/testing/provider-objects.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { newOwnerLease } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { BLUE, ReconcileLab } from './reconcile-lab.ts';

/** The image of the proxies of this release. */
export const IMAGE = 'snicket.test/snicket:2';

/** The spec of the user. It may change during the life of a world. */
export interface GeneratedSpec {
  readonly driver: Driver;
  readonly prepare: 'Patch' | 'Force' | 'Report';
  readonly hasKonnectivity: boolean;
  readonly worker: Readonly<Record<string, unknown>>;
  /** Default: below the domain of the Edge. */
  readonly apiHost: string | undefined;
}

const PROVIDERS = ['kamaji', 'k0smotron', 'v1beta1', 'v1beta2'] as const;
const DRIFTS = ['delete', 'damage', 'stray', 'unlabel', 'unmark', 'claim'] as const;

/** What another client does to one of the objects that Snicket wrote. */
export interface Drift {
  readonly cluster: Cluster;
  /** Of the objects that Snicket wrote there, modulo their number. */
  readonly index: number;
  readonly action: (typeof DRIFTS)[number];
}

/** A world. */
export interface GeneratedWorld {
  readonly controlPlane: 'Service' | 'Endpoints' | (typeof PROVIDERS)[number];
  readonly spec: GeneratedSpec;
  /** Whether the ingress controller of the Edge is installed. */
  readonly hasController: boolean;
  readonly hasCaKey: boolean;
  readonly nodes: number;
  /** Whether the API server of the tenant has written its own endpoints. */
  readonly hasForeignEndpoints: boolean;
  readonly lease: 'none' | 'foreign' | 'expired' | 'orphaned';
  /** An object of a user that has a name which Snicket needs. */
  readonly taken: 'none' | 'Secret' | 'Ingress';
  /** Fields of the provider's object that another field manager owns. */
  readonly hasForeignFields: boolean;
  /** Another Exposure owns the API host. */
  readonly hasConflict: boolean;
  /** What the world was reconciled with before. Absent: Snicket has never seen it. */
  readonly past: PastWorld | undefined;
}

/** What has happened to a world. */
export interface PastWorld {
  readonly spec: GeneratedSpec;
  /** Of the previous release. */
  readonly image: string;
  readonly reconciles: number;
  readonly drifts: readonly Drift[];
}

/** A Service behind Snicket's gateway, with one node, and without conflicts. */
export const PLAIN_WORLD: GeneratedWorld = {
  controlPlane: 'Service',
  spec: {
    driver: 'snicket',
    prepare: 'Patch',
    hasKonnectivity: true,
    worker: {},
    apiHost: undefined,
  },
  hasController: true,
  hasCaKey: true,
  nodes: 1,
  hasForeignEndpoints: false,
  lease: 'none',
  taken: 'none',
  hasForeignFields: false,
  hasConflict: false,
  past: undefined,
};

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
/** Mostly the first value: most worlds must be able to settle with everything in its place. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(usual) },
    ...others.map((value) => fc.constant(value)),
  );

const spec: fc.Arbitrary<GeneratedSpec> = fc.record({
  driver: fc.oneof(fc.constant<Driver>('snicket'), fc.constantFrom(...DRIVERS)),
  prepare: mostly<GeneratedSpec['prepare']>('Patch', 'Force', 'Report'),
  hasKonnectivity: fc.boolean(),
  worker: fc.record({
    mode: fc.constantFrom(undefined, undefined, undefined, 'Passthrough', 'Terminate'),
    address: fc.constantFrom('Virtual', 'Node'),
    virtualAddresses: fc.constantFrom(undefined, ['100.64.64.2']),
    directInjection: fc.boolean(),
    image: mostly(undefined, 'own.test/snicket:1'),
    nodeSelector: mostly(undefined, { pool: 'a' }),
  }),
  apiHost: optional(fc.constant('own.k8s.example.test')),
});

const past: fc.Arbitrary<PastWorld> = fc.record({
  spec,
  image: fc.constantFrom(IMAGE, 'snicket.test/snicket:1'),
  reconciles: fc.integer({ min: 1, max: 3 }),
  drifts: fc.array(
    fc.record({
      cluster: fc.constantFrom<Cluster>('management', 'tenant'),
      index: fc.nat({ max: 12 }),
      action: fc.constantFrom(...DRIFTS),
    }),
    { maxLength: 4 },
  ),
});

/** Worlds with and without a past. */
export const generatedWorld: fc.Arbitrary<GeneratedWorld> = fc
  .record({
    controlPlane: fc.constantFrom('Service', 'Endpoints', ...PROVIDERS),
    spec,
    keepsSpec: fc.boolean(),
    hasController: mostly(true, false),
    hasCaKey: mostly(true, false),
    nodes: fc.nat({ max: 2 }),
    hasForeignEndpoints: fc.boolean(),
    lease: mostly<GeneratedWorld['lease']>('none', 'foreign', 'expired', 'orphaned'),
    taken: mostly<GeneratedWorld['taken']>('none', 'Secret', 'Ingress'),
    hasForeignFields: mostly(false, true),
    hasConflict: mostly(false, true),
    past: optional(past),
  })
  .map(({ keepsSpec, ...world }) =>
    keepsSpec && world.past !== undefined ? { ...world, spec: world.past.spec } : world,
  );

/** Creates a world, and lets its past happen. */
export async function createWorld(world: GeneratedWorld): Promise<ReconcileLab> {
  const lab = new ReconcileLab(
    Object.values(PROVIDER_RESOURCES).map((resource) => servedAs(resource, world)),
  );
  const first = world.past?.spec ?? world.spec;
  await createManagement(lab, world);
  await createTenant(lab, world);
  await applyEdge(lab, first);
  await applyExposure(lab, world, first);
  if (world.past === undefined) return lab;

  const { image, reconciles, drifts } = world.past;
  const operator = lab.operator(image);
  for (let pass = 0; pass < reconciles; pass++) {
    await operator.reconcile();
    await lab.runTenantControllers();
  }
  for (const kind of drifts) await drift(lab, kind);
  // The operator was away for a moment: it has to renew the Lease.
  lab.clock.advance(60_000);
  await applyEdge(lab, world.spec);
  await applyExposure(lab, world, world.spec);
  return lab;
}

const user = (lab: ReconcileLab) => lab.management.client('user');
const at = (name: string) => ({ name, namespace: TENANTS });

async function create(client: ReturnType<typeof user>, ...objects: readonly ApiObject[]) {
  for (const object of objects) await client.create(resourceOf(object), object);
}

let authority: Promise<TestCa> | undefined;

async function createManagement(lab: ReconcileLab, world: GeneratedWorld): Promise<void> {
  authority ??= makeCa();
  const { certificate, key } = await authority;
  const kubeconfig = writeKubeconfig({
    server: 'https://tenant.test:6443',
    ca: certificate,
    names: { cluster: 'blue', user: 'admin' },
    credentials: { token: 'token' },
  });
  const address = { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] };
  const serviceOf = (name: string, ports: Readonly<Record<string, number>>) =>
    objectOf('Service', at(name), {
      spec: {
        ...address,
        ports: Object.entries(ports).map(([port, number]) => ({
          name: port,
          port: number,
          protocol: 'TCP',
        })),
      },
    });
  await create(
    user(lab),
    serviceOf('blue', { 'kube-apiserver': 6443, 'konnectivity-server': 8132 }),
    serviceOf('kmc-blue', { api: 30443, konnectivity: 30132 }),
    secretOf(at('blue-ca'), {
      'tls.crt': certificate,
      'ca.crt': certificate,
      ...(world.hasCaKey && { 'tls.key': key, 'ca.key': key }),
    }),
    secretOf(at('blue-kubeconfig'), { 'admin.conf': kubeconfig, value: kubeconfig }),
    secretOf(at('blue-admin-kubeconfig'), {
      'admin.conf': kubeconfig,
      'super-admin.svc': kubeconfig,
    }),
    objectOf(
      'Service',
      { name: 'snicket-gateway', namespace: SYSTEM_NAMESPACE },
      { spec: address },
    ),
    ...(world.hasController ? CONTROLLERS : []),
  );
  await createProvided(lab, world);
  if (world.taken === 'Ingress') {
    await create(user(lab), objectOf('Ingress', at('snicket-blue.haproxy'), { spec: {} }));
  }
  if (world.hasConflict) {
    const host = world.spec.apiHost ?? 'tenants-blue.k8s.example.test';
    const other = exposureOf('other', world, world.spec);
    await create(user(lab), { ...other }, { ...tenantRoute('other', host) });
  }
}

const CONTROLLERS: readonly ApiObject[] = [
  ...[
    ['haproxy', 'haproxy.org/ingress-controller'],
    ['haproxy-ingress', 'haproxy-ingress.github.io/controller'],
    ['nginx', 'k8s.io/ingress-nginx'],
    ['nginx-inc', 'nginx.org/ingress-controller'],
    ['mine', 'example.test/mine'],
  ].map(([name = '', controller]) => objectOf('IngressClass', { name }, { spec: { controller } })),
  objectOf('GatewayClass', { name: 'some' }, { spec: { controllerName: 'example.test/some' } }),
  objectOf(
    'Gateway',
    { name: 'shared', namespace: TENANTS },
    {
      spec: {
        gatewayClassName: 'some',
        listeners: [
          {
            name: 'tls',
            port: 443,
            protocol: 'TLS',
            tls: { mode: 'Passthrough' },
            allowedRoutes: { namespaces: { from: 'All' } },
          },
        ],
      },
    },
  ),
];

/** A kind of a provider in the version that the management cluster of a world serves. */
function servedAs(resource: Resource, { controlPlane }: GeneratedWorld): Resource {
  const isOlder =
    controlPlane === 'v1beta1' && resource === PROVIDER_RESOURCES.k0smotronControlPlane;
  return isOlder ? withVersion(resource, controlPlane) : resource;
}

/** The object of the provider, as its user applied it and as its controller completed it. */
async function createProvided(lab: ReconcileLab, world: GeneratedWorld): Promise<void> {
  const found = providedBy(world);
  if (found === undefined) return;
  const [resource, object] = found;
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  const { status, ...applied } = { ...object, metadata } as ApiObject;
  await user(lab).apply(applied, { resource });
  const subresource = 'status';
  await user(lab).patch(resource, metadata, 'merge', { status }, { subresource });
  if (!world.hasForeignFields) return;
  const { apiVersion, kind } = object;
  const isKamaji = world.controlPlane === 'kamaji';
  const foreign = isKamaji
    ? { controlPlane: { ingress: { hostname: 'x.example.test', ingressClassName: 'nginx' } } }
    : { externalAddress: 'x.example.test' };
  const { name, namespace } = metadata;
  const body: ApiObject = { apiVersion, kind, metadata: { name, namespace }, spec: foreign };
  await lab.management.client('argocd-controller').apply(body, { resource });
}

function providedBy(world: GeneratedWorld): readonly [Resource, ApiObject] | undefined {
  const { controlPlane, spec: desired } = world;
  switch (controlPlane) {
    case 'Service':
    case 'Endpoints':
      return undefined;
    case 'kamaji': {
      const tenant = readyTenantControlPlane('kamaji', 'blue');
      const without = { 'spec.addons.konnectivity': undefined, 'status.addons': undefined };
      return [
        PROVIDER_RESOURCES.kamaji,
        desired.hasKonnectivity ? tenant : changed(tenant, without),
      ];
    }
    case 'k0smotron':
      return [PROVIDER_RESOURCES.k0smotron, k0smotronCluster('blue')];
    case 'v1beta1':
    case 'v1beta2': {
      const resource = servedAs(PROVIDER_RESOURCES.k0smotronControlPlane, world);
      return [resource, { ...k0smotronControlPlane('blue'), apiVersion: resource.apiVersion }];
    }
  }
}

async function createTenant(lab: ReconcileLab, world: GeneratedWorld): Promise<void> {
  const client = lab.tenant.client('kube-apiserver');
  const spec = {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ports: [{ name: 'https', port: 443 }],
  };
  await create(client, objectOf('Service', KUBERNETES, { spec }));
  for (let node = 1; node <= world.nodes; node++) {
    const name = `node-${node}`;
    await create(client, objectOf('Node', { name, labels: { pool: 'a' } }));
    const status = { addresses: [{ type: 'InternalIP', address: `10.1.0.${node}` }] };
    await client.patch(RESOURCES.node, { name }, 'merge', { status }, { subresource: 'status' });
  }
  if (world.hasForeignEndpoints) {
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }];
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    await create(
      client,
      objectOf('Endpoints', KUBERNETES, {
        subsets: [{ addresses: [{ ip: '10.1.0.100' }], ports }],
      }),
      objectOf(
        'EndpointSlice',
        { ...KUBERNETES, labels },
        { addressType: 'IPv4', ports, endpoints: [{ addresses: ['10.1.0.100'] }] },
      ),
    );
  }
  if (world.taken === 'Secret') await create(client, secretOf(PROXY, { own: 'x' }));
  if (world.lease !== 'none') await create(client, leaseOf(world.lease, lab));
}

/** The Lease of another management cluster, or of an Exposure of this one that is gone. */
function leaseOf(kind: 'foreign' | 'expired' | 'orphaned', { clock }: ReconcileLab): ApiObject {
  const holder =
    kind === 'orphaned' ? 'management-kube-system/tenants/gone' : 'other-cluster/tenants/blue';
  const renewed = clock.now().getTime() - (kind === 'expired' ? 86_400_000 : 0);
  const { spec, ...lease } = newOwnerLease(holder, 900_000) as KubeObject & { spec: object };
  return { ...lease, spec: { ...spec, renewTime: microTimeText(new Date(renewed)) } };
}

async function applyEdge(lab: ReconcileLab, { driver }: GeneratedSpec): Promise<void> {
  const classes: Partial<Record<Driver, string>> = { ingress: 'mine' };
  const isIngress = ['haproxy', 'haproxy-ingress', 'nginx', 'ingress'].includes(driver);
  const edge = objectOf(
    'Edge',
    { name: 'shared' },
    {
      spec: {
        driver,
        domain: 'example.test',
        addresses: ['203.0.113.10'],
        ...(isIngress && { ingress: { className: classes[driver] ?? driver } }),
        ...(driver === 'gateway-api' && {
          gatewayApi: {
            parentRefs: [{ namespace: TENANTS, name: 'shared', sectionName: 'tls' }],
          },
        }),
      },
    },
  );
  await user(lab).apply(edge, { force: true });
}

async function applyExposure(
  lab: ReconcileLab,
  world: GeneratedWorld,
  spec: GeneratedSpec,
): Promise<void> {
  await user(lab).apply(exposureOf(BLUE.name, world, spec), { force: true });
}

function exposureOf(
  name: string,
  { controlPlane }: GeneratedWorld,
  { prepare, hasKonnectivity, worker, apiHost }: GeneratedSpec,
): ApiObject {
  const secrets = {
    caSecretRef: { name: 'blue-ca' },
    kubeconfigSecretRef: { name: 'blue-kubeconfig' },
  };
  const konnectivity = hasKonnectivity ? { konnectivity: ['10.0.0.5:8132'] } : {};
  const konnectivityPort = hasKonnectivity ? { konnectivityPort: 8132 } : {};
  const described = () => {
    switch (controlPlane) {
      case 'Service':
        return { type: 'Service', service: { name: 'blue', ...konnectivityPort }, ...secrets };
      case 'Endpoints':
        return {
          type: 'Endpoints',
          endpoints: { api: ['10.0.0.5:6443'], ...konnectivity },
          ...secrets,
        };
      case 'kamaji':
        return referenceTo(PROVIDER_RESOURCES.kamaji, 'blue');
      case 'k0smotron':
        return referenceTo(PROVIDER_RESOURCES.k0smotron, 'blue');
      case 'v1beta1':
      case 'v1beta2':
        return referenceTo(PROVIDER_RESOURCES.k0smotronControlPlane, 'blue-cp');
    }
  };
  return objectOf('Exposure', at(name), {
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: described(),
      prepare,
      worker,
      ...(apiHost !== undefined && { hosts: { api: apiHost } }),
    },
  });
}

function referenceTo({ apiVersion, kind }: Resource, name: string): object {
  return { type: 'Object', objectRef: { group: groupOf(apiVersion), kind, name } };
}

/** Changes one of the objects that Snicket wrote, if there is one. */
async function drift(lab: ReconcileLab, { cluster, index, action }: Drift): Promise<void> {
  const server = lab[cluster];
  const ours = server
    .objects()
    .filter(({ metadata: { labels = {} } }) =>
      Object.entries(MANAGED_BY).every(([label, value]) => labels[label] === value),
    );
  const object = ours[index % Math.max(1, ours.length)];
  if (object === undefined) return;
  const client = server.client('user');
  const resource = resourceOf(object);
  const { metadata } = object;
  const patch = async (body: object) => client.patch(resource, metadata, 'merge', body);
  switch (action) {
    case 'delete':
      await client.delete(resource, metadata);
      return;
    case 'damage':
      await patch(damageTo(object));
      return;
    case 'stray':
      await patch({ metadata: { labels: { stray: 'label' }, annotations: { stray: 'text' } } });
      return;
    case 'unlabel':
      await patch({ metadata: { labels: { 'app.kubernetes.io/managed-by': null } } });
      return;
    case 'unmark':
      await patch({ metadata: { annotations: { [APPLIED_ANNOTATION]: null } } });
      return;
    case 'claim': {
      const { name, namespace, labels } = metadata;
      const { status: _, ...rest } = object;
      const body = { ...rest, metadata: { name, namespace, labels } };
      await server.client('argocd-controller').apply(body, { resource, force: true });
    }
  }
}

/** A change of content that an API server admits. */
function damageTo({ kind }: ApiObject): object {
  switch (kind) {
    case 'ConfigMap':
    case 'Secret':
      return { data: { edge: null, 'tls.key': null, 'tenant.key': null, stray: 'eA==' } };
    case 'DaemonSet':
      return { spec: { template: { spec: { hostNetwork: false, priorityClassName: 'x' } } } };
    case 'EndpointSlice':
      return { endpoints: [{ addresses: ['10.1.0.77'] }] };
    case 'Endpoints':
      return { subsets: [{ addresses: [{ ip: '10.1.0.77' }] }] };
    case 'ServiceAccount':
      return { automountServiceAccountToken: true };
    case 'TenantRoute':
      return { spec: { backend: { service: { name: 'other', port: 1 } }, limits: { x: 1 } } };
    case 'Ingress':
      return { spec: { rules: [] } };
    case 'TLSRoute':
      return { spec: { hostnames: ['no.example.test'] } };
    case 'IngressRouteTCP':
      return { spec: { routes: [] } };
    case 'HTTPProxy':
      return { spec: { virtualhost: { fqdn: 'no.example.test' } } };
    case 'Service':
      return { spec: { ports: [{ name: 'other', port: 1 }] } };
    case 'Lease':
      return { spec: { leaseTransitions: 7 } };
    default:
      return { metadata: { labels: { damaged: 'x' } } };
  }
}
