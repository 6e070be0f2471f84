import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DRIVERS, type Edge } from '../api/edge.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import { endpointAddressFault } from '../kube/endpoints/endpoint-address.ts';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import { planExposure, type Facts, type Plan, type DesiredExposure } from './plan.ts';
import {
  CONTROL_PLANE,
  edge,
  exposure,
  facts,
  LEAF,
  TENANT,
  TENANT_KEY,
} from './testing/inputs.ts';

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

const ipv4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((at) => at.join('.'));
const ipv6 = fc
  .tuple(fc.constantFrom('fd00', 'fe80', 'ff02', '2001'), fc.nat(0xffff))
  .map(([first, last]) => `${first}::${last.toString(16)}`);
const anyAddress = fc.oneof(ipv4, ipv6, fc.constantFrom('127.0.0.1', '169.254.1.1', '::1', '::'));

/** Addresses that the schema allows. */
const fixed = fc.constantFrom('10.0.0.5:6443', '10.0.0.6:7443', '[fd00::5]:6443', '127.0.0.1:6443');
const fixedEndpoints = fc.uniqueArray(fixed, { minLength: 1 });

const controlPlaneSpec = fc.oneof(
  fc.constant({
    type: 'Object',
    objectRef: { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'blue' },
  }),
  fc.record({ api: fixedEndpoints, konnectivity: optional(fixedEndpoints) }).map((endpoints) => ({
    type: 'Endpoints',
    endpoints,
    caSecretRef: { name: 'ca' },
    kubeconfigSecretRef: { name: 'kubeconfig' },
  })),
);

const workerSpec = fc.record({
  mode: optional(fc.constantFrom('Passthrough', 'Terminate')),
  address: fc.constantFrom('Virtual', 'Node'),
  virtualAddresses: fc.constantFrom(['100.64.64.1'], ['100.64.64.1', 'fd64::1'], ['fd64::1']),
  directInjection: fc.boolean(),
  resources: fc.constantFrom({}, { limits: { memory: '1024Mi' } }, { requests: {}, limits: {} }),
  tolerations: fc.constantFrom([], [{ operator: 'Exists' }]),
  hostAliases: optional(
    fc.constantFrom([{ ip: '203.0.113.10', hostnames: ['other.example.com'] }], []),
  ),
  nodeSelector: optional(fc.constantFrom({}, { pool: 'a' })),
});

const anyEdge: fc.Arbitrary<Edge> = fc
  .record({
    driver: fc.constantFrom(...DRIVERS),
    domain: optional(fc.constant('example.com')),
    port: fc.constantFrom(443, 8443),
  })
  .map((spec) =>
    edge({
      ...spec,
      ...(spec.driver === 'gateway-api' && {
        gatewayApi: { parentRefs: [{ namespace: 'edge', name: 'shared' }] },
      }),
      ...(spec.driver === 'ingress' && { ingress: { className: 'mine' } }),
    }),
  );

const desired: fc.Arbitrary<DesiredExposure> = fc
  .record({
    edge: anyEdge,
    spec: fc.record({ controlPlane: controlPlaneSpec, worker: workerSpec }),
    name: fc.constantFrom('blue', 'b', 'x'.repeat(63)),
  })
  .map(({ edge: shared, spec, name }) => ({ edge: shared, exposure: exposure(spec, { name }) }));

const tenant = fc
  .record({
    version: fc.constantFrom('v1.36.3', 'v1.35.0+k0s', 'v1.37.1', ''),
    serviceAddresses: fc.constantFrom(['10.96.0.1'], ['fd96::1', '10.96.0.1'], []),
    nodes: fc.uniqueArray(
      fc.record({
        name: fc.nat(30).map((index) => `node-${index}`),
        addresses: fc.array(anyAddress, { maxLength: 2 }),
        ready: fc.boolean(),
      }),
      { selector: ({ name }) => name },
    ),
    // Occasionally more nodes than fit into one slice. Smaller plans keep the test fast.
    extraNodes: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1700),
  })
  .map(({ nodes, extraNodes, ...rest }) => ({
    ...TENANT,
    ...rest,
    nodes: [
      ...nodes,
      ...Array.from({ length: extraNodes }, (_, index) => ({
        name: `extra-${index}`,
        addresses: [`10.2.${index >> 8}.${index & 0xff}`],
        ready: true,
      })),
    ],
  }));

const known: fc.Arbitrary<Facts> = fc
  .record({
    controlPlane: optional(
      fc.constantFrom(
        CONTROL_PLANE,
        { service: CONTROL_PLANE.service },
        {
          ...CONTROL_PLANE,
          ca: { certificate: 'without a key\n' },
        },
      ),
    ),
    tenant: optional(tenant),
    credentials: optional(fc.constantFrom(LEAF, TENANT_KEY)),
    edgeAddresses: fc.array(fc.constantFrom('203.0.113.10', '2001:db8::10', 'lb.example.com')),
    isServed: fc.boolean(),
  })
  .map(({ isServed, ...rest }) => facts({ ...rest, served: { has: () => isServed } }));

function objectsOf({ management = [], tenant: inTenant = [] }: Plan): readonly KubeObject[] {
  return [...management, ...inTenant];
}

function slicesOf(plan: Plan): readonly EndpointSlice[] {
  return objectsOf(plan).filter(({ kind }) => kind === 'EndpointSlice') as EndpointSlice[];
}

function forAllPlans(check: (plan: Plan, desired: DesiredExposure, facts: Facts) => void): void {
  fc.assert(fc.property(desired, known, (w, f) => check(planExposure(w, f), w, f)));
}

test('the same input gives the same plan, and is not modified', () => {
  fc.assert(
    fc.property(desired, known, (w, f) => {
      const before = JSON.stringify([w, f]);

      const plan = planExposure(freeze(w), freeze(f));

      expect(planExposure(w, f)).toEqual(plan);
      expect(JSON.stringify([w, f])).toBe(before);
    }),
  );
});

test('every object has the label of Snicket, and none is duplicated', () => {
  forAllPlans((plan) => {
    for (const side of [plan.management ?? [], plan.tenant ?? []]) {
      const names = side.map(objectText);
      expect(new Set(names).size).toBe(names.length);
    }
    for (const { metadata } of objectsOf(plan)) {
      expect(metadata.labels?.['app.kubernetes.io/managed-by']).toBe('snicket');
    }
  });
});

test('every object of the management cluster is in the namespace of its Exposure, which owns it', () => {
  forAllPlans(({ management = [] }, { exposure: { metadata } }) => {
    for (const object of management) {
      expect(object.metadata.namespace).toBe(metadata.namespace);
      expect(object.metadata.ownerReferences).toHaveLength(1);
      expect(object.metadata.ownerReferences?.[0]?.uid).toBe(metadata.uid);
    }
  });
});

test('no object contains hosts of another tenant', () => {
  fc.assert(
    fc.property(desired, known, (w, f) => {
      const other = { ...w, exposure: exposure({}, { name: 'other', uid: 'uid-of-other' }) };

      const text = JSON.stringify(objectsOf(planExposure(other, f)));

      for (const host of Object.values(planExposure(w, f).hosts ?? {})) {
        expect(text).not.toContain(`"${host}"`);
      }
    }),
  );
});

test('EndpointSlices have 1 to 1000 endpoints, with valid addresses', () => {
  forAllPlans((plan, _desired, { tenant }) => {
    for (const { endpoints, addressType } of slicesOf(plan)) {
      expect(endpoints?.length).toBeWithin(1, 1001);
      for (const { addresses } of endpoints ?? []) {
        const [address = ''] = addresses;
        expect(endpointAddressFault(address)).toBeUndefined();
        expect(address.includes(':') ? 'IPv6' : 'IPv4').toBe(addressType);
        expect(tenant?.serviceAddresses ?? []).not.toContain(address);
      }
    }
  });
});

test('a plan does not change once its slices exist', () => {
  fc.assert(
    fc.property(desired, known, (w, f) => {
      const plan = planExposure(w, f);

      const again = planExposure(w, { ...f, currentSlices: slicesOf(plan) });

      expect(again).toEqual(plan);
    }),
  );
});

test('existing endpoints of the API are never removed completely', () => {
  fc.assert(
    fc.property(desired, known, fc.array(fc.nat(30)), (w, f, gone) => {
      const before = planExposure(w, f);
      const nodes = (f.tenant?.nodes ?? []).filter((_, index) => !gone.includes(index));
      const fewer = f.tenant && { ...f.tenant, nodes };

      const after = planExposure(w, { ...f, tenant: fewer, currentSlices: slicesOf(before) });

      const isPrimary = ({ metadata }: KubeObject) =>
        metadata.name === 'kubernetes' && metadata.namespace === 'default';
      expect(slicesOf(after).filter(isPrimary)).toHaveLength(
        slicesOf(before).filter(isPrimary).length,
      );
    }),
  );
});

test('objects are normalized as the API server returns them: without undefined or empty fields', () => {
  forAllPlans((plan) => {
    for (const object of objectsOf(plan)) expect(emptyFieldsOf(object)).toEqual([]);
  });
});

/** Returns the paths of fields that the API server would drop. */
function emptyFieldsOf(value: unknown, path = ''): readonly string[] {
  if (value === undefined || value === null) return [path];
  if (typeof value !== 'object') return [];
  const entries = Object.entries(value);
  return entries.length === 0
    ? [path]
    : entries.flatMap(([key, field]) => emptyFieldsOf(field, `${path}.${key}`));
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}
