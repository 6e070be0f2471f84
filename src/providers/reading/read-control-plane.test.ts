import { expect, test } from 'bun:test';
import type { Exposure } from '../../api/exposure.ts';
import { parseExposure } from '../../api/objects.ts';
import { groupOf, RESOURCES, withVersion } from '../../kube/resource.ts';
import { providerFor } from '../provider-for.ts';
import { PROVIDER_RESOURCES, servedVersion, WATCHED_RESOURCES } from '../provider-resources.ts';
import { readControlPlane } from './read-control-plane.ts';
import {
  clusterDeployment,
  newTenantControlPlane,
  k0smotronCluster,
  k0smotronControlPlane,
} from '../testing/provider-objects.ts';
import { objectsFrom } from '../testing/provider-objects-source.ts';

function exposureFor(objectRef: object): Exposure {
  return parseExposure({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'blue', namespace: 'tenants' },
    spec: { controlPlane: { type: 'Object', objectRef } },
  });
}

test.each([
  ['kamaji', newTenantControlPlane('kamaji', 'blue')],
  ['steward', newTenantControlPlane('steward', 'blue')],
  ['k0smotron', k0smotronCluster('blue')],
  ['capi-k0smotron', k0smotronControlPlane('blue')],
  ['k0rdent', clusterDeployment('blue', 'any-1-0-0')],
])(
  'an object of %s is read by its provider, with findings for missing parts',
  async (name, object) => {
    const { apiVersion, kind, metadata } = object;
    const ref = { group: groupOf(apiVersion), kind, name: metadata.name };

    const { provided, findings } = await readControlPlane(exposureFor(ref), objectsFrom([object]));

    expect(providerFor(object)?.name as string).toBe(name);
    expect(provided).toMatchObject({ provider: name, objects: [object] });
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every(({ message, action }) => message !== '' && action !== '')).toBe(true);
  },
);

test('a missing object is reported', async () => {
  const ref = {
    group: 'kamaji.clastix.io',
    kind: 'TenantControlPlane',
    name: 'blue',
  };

  const reading = await readControlPlane(exposureFor(ref), objectsFrom([]));

  expect(reading).toEqual({
    addresses: [],
    findings: [
      {
        code: 'ControlPlaneMissing',
        severity: 'error',
        message: 'TenantControlPlane tenants/blue of kamaji.clastix.io does not exist.',
        action: 'Create it, or correct spec.controlPlane.objectRef.',
      },
    ],
  });
});

test('no provider is known if only Services and Secrets are read', async () => {
  const { object: _, ...objects } = objectsFrom([newTenantControlPlane('kamaji', 'blue')]);
  const ref = {
    group: 'kamaji.clastix.io',
    kind: 'TenantControlPlane',
    name: 'blue',
  };

  const { findings } = await readControlPlane(exposureFor(ref), objects);

  expect(findings).toMatchObject([
    {
      code: 'ProviderUnknown',
      message: 'Objects of kind TenantControlPlane of group kamaji.clastix.io cannot be read here.',
    },
  ]);
});

test('an unknown kind is reported with the supported ones', async () => {
  const ref = { group: 'kamaji.clastix.io', kind: 'TenantControlPlan', name: 'blue' };

  const { findings } = await readControlPlane(exposureFor(ref), objectsFrom([]));

  expect(findings).toMatchObject([
    {
      message:
        'No provider that this version of Snicket supports has the kind TenantControlPlan of group kamaji.clastix.io.',
      action:
        'Correct spec.controlPlane.objectRef (TenantControlPlane of kamaji.clastix.io or of steward.butlerlabs.dev, Cluster of k0smotron.io, ClusterDeployment of k0rdent.mirantis.com, K0smotronControlPlane of controlplane.cluster.x-k8s.io), or set spec.controlPlane.type to Service, with service, caSecretRef and kubeconfigSecretRef.',
    },
  ]);
});

test('a Cluster of Cluster API is not confused with one of k0smotron', () => {
  expect(providerFor(PROVIDER_RESOURCES.capiCluster)).toBeUndefined();
  expect(providerFor({ apiVersion: 'k0smotron.io/v1beta1', kind: 'Cluster' })?.name).toBe(
    'k0smotron',
  );
});

test('a kind is read in the best served version', () => {
  const { k0smotron, kamaji } = PROVIDER_RESOURCES;
  const old = withVersion(k0smotron, 'v1beta1');
  const serves = (...apiVersions: readonly string[]) => ({
    has: ({ apiVersion }: { readonly apiVersion: string }) => apiVersions.includes(apiVersion),
  });

  expect(servedVersion(k0smotron, serves(old.apiVersion, k0smotron.apiVersion))).toEqual(k0smotron);
  expect(servedVersion(k0smotron, serves(old.apiVersion))).toEqual(old);
  expect(servedVersion(kamaji, serves('v1'))).toBeUndefined();
  expect(WATCHED_RESOURCES).not.toContain(RESOURCES.secret);
});
