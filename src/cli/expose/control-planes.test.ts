import { expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from '../../providers/testing/provider-objects.ts';
import {
  controlPlanesIn,
  controlPlaneText,
  isKnownKind,
  controlPlanesMatching,
  portsIn,
  type NamedControlPlane,
} from './control-planes.ts';

function placesOf(...objects: readonly KubeObject[]) {
  return {
    served: { has: () => true },
    exposures: objects.filter(({ kind }) => kind === 'Exposure'),
    all: (resource: Resource) => objects.filter((object) => isOfKind(resource, object)),
  };
}

function service(name: string, ports: readonly object[], metadata: object = {}): KubeObject {
  return objectOf('Service', { name, namespace: 'tenants', ...metadata }, { spec: { ports } });
}

const API = [{ name: 'https', port: 6443 }];

function obviousIn(...objects: readonly KubeObject[]): readonly string[] {
  return controlPlanesIn(placesOf(...objects))
    .filter(({ isObvious }) => isObvious)
    .map(controlPlaneText);
}

test('finds the object that a user wrote, and not those that a provider created from it', () => {
  const controlPlane = k0smotronControlPlane('a');
  const owner = { apiVersion: controlPlane.apiVersion, kind: controlPlane.kind };
  const cluster = k0smotronCluster('a');
  const made = {
    ...cluster,
    metadata: { ...cluster.metadata, ownerReferences: [{ ...owner, name: 'a-cp', uid: '1' }] },
  };
  const { apiVersion, kind } = PROVIDER_RESOURCES.clusterDeployment;
  const metadata = { name: 'a', namespace: 'tenants' };

  expect(obviousIn(controlPlane, made)).toEqual([
    'K0smotronControlPlane tenants/a-cp (controlplane.cluster.x-k8s.io)',
  ]);
  expect(obviousIn(controlPlane, made, { apiVersion, kind, metadata })).toEqual([
    'ClusterDeployment tenants/a (k0rdent.mirantis.com)',
  ]);
});

test('finds Services that look like an API server and belong to no provider', () => {
  const labels = { 'app.kubernetes.io/managed-by': 'snicket' };

  expect(
    obviousIn(
      readyTenantControlPlane('kamaji', 'blue'),
      service('blue', API),
      service('white', API),
      service('named', [{ name: 'kube-apiserver', port: 30443 }]),
      service('web', [{ name: 'https', port: 443 }]),
      service('udp', [{ port: 6443, protocol: 'UDP' }]),
      service('snicket-grey', API, { labels }),
      service('leaving', API, { deletionTimestamp: '2026-03-02T08:00:00Z' }),
      service('kubernetes', API, { namespace: 'default' }),
    ),
  ).toEqual([
    'TenantControlPlane tenants/blue (kamaji.clastix.io)',
    'Service tenants/white',
    'Service tenants/named',
  ]);
});

test('finds the Exposure of each control plane', () => {
  const objectRef = { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'blue' };
  const places = placesOf(
    readyTenantControlPlane('kamaji', 'blue'),
    readyTenantControlPlane('steward', 'blue'),
    service('white', API),
    objectOf(
      'Exposure',
      { name: 'a', namespace: 'tenants' },
      { spec: { controlPlane: { type: 'Object', objectRef } } },
    ),
    objectOf(
      'Exposure',
      { name: 'b', namespace: 'tenants' },
      { spec: { controlPlane: { type: 'Service', service: { name: 'white' } } } },
    ),
    objectOf(
      'Exposure',
      { name: 'c', namespace: 'other' },
      {
        spec: {
          controlPlane: {
            type: 'Object',
            objectRef: { ...objectRef, group: 'steward.butlerlabs.dev' },
          },
        },
      },
    ),
  );

  expect(controlPlanesIn(places).map(({ exposedBy }) => exposedBy)).toEqual([
    ...['tenants/a', undefined, 'tenants/b'],
  ]);
});

test.each<[NamedControlPlane, readonly string[]]>([
  [{ name: 'blue' }, ['TenantControlPlane']],
  [{ name: 'white' }, ['Service']],
  [{ name: 'web' }, []],
  [{ name: 'told' }, ['Service']],
  [{ kind: 'TenantControlPlane', name: 'blue' }, ['TenantControlPlane']],
  [{ kind: 'tenantcontrolplanes', name: 'blue' }, ['TenantControlPlane']],
  [{ kind: 'tenantcontrolplane.kamaji.clastix.io', name: 'blue' }, ['TenantControlPlane']],
  [{ kind: 'tenantcontrolplane.steward.butlerlabs.dev', name: 'blue' }, []],
  [{ kind: 'svc', name: 'blue' }, ['Service']],
  [{ kind: 'cluster', name: 'blue' }, []],
])('%j means %j', (named, kinds) => {
  const found = controlPlanesIn(
    placesOf(
      readyTenantControlPlane('kamaji', 'blue'),
      service('blue', API),
      service('white', API),
      service('web', [{ name: 'https', port: 443 }]),
      service('told', [{ name: 'https', port: 443 }]),
      objectOf(
        'Exposure',
        { name: 'a', namespace: 'tenants' },
        { spec: { controlPlane: { type: 'Service', service: { name: 'told' } } } },
      ),
      objectOf(
        'Exposure',
        { name: 'b', namespace: 'tenants' },
        { spec: { controlPlane: { type: 'Service', service: { name: 'blue' } } } },
      ),
    ),
  );

  expect(controlPlanesMatching(named, found).map(({ object }) => object.kind)).toEqual([...kinds]);
});

test.each([
  ['tenantcontrolplane', true],
  ['TenantControlPlanes.steward.butlerlabs.dev', true],
  ['SVC', true],
  ['foo', false],
  ['tenants', false],
])('isKnownKind(%s) is %p', (word, isOne) => {
  expect(isKnownKind(word)).toBe(isOne);
});

test.each([
  [[{ name: 'kube-apiserver', port: 6443 }], { api: 6443 }],
  [[{ port: 30443 }], { api: 30443 }],
  [
    [
      { name: 'konnectivity-server', port: 8132 },
      { name: 'https', port: 443 },
    ],
    { api: 443, konnectivity: 8132 },
  ],
  [
    [
      { name: 'metrics', port: 9090 },
      { name: 'api', port: 30443 },
      { name: 'konnectivity', port: 30132 },
    ],
    { api: 30443, konnectivity: 30132 },
  ],
  [
    [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
    {},
  ],
])('finds in ports %j the ports %j', (ports, expected) => {
  expect(portsIn(service('a', ports))).toMatchObject(expected);
  expect(portsIn(service('a', ports)).api).toBe((expected as { api?: number }).api);
});
