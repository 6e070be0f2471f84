/**
 * The kinds of the providers, and what they make of them.
 */
import type { KubeObject } from '../kube/object.ts';
import { groupOf, withVersion, type Resource } from '../kube/resource.ts';

function kind(apiVersion: string, name: string, plural: string): Resource {
  return { apiVersion, kind: name, plural, namespaced: true };
}

/** Every kind; of k0smotron the version that has `spec.patches`. */
export const PROVIDER_RESOURCES = {
  kamaji: kind('kamaji.clastix.io/v1alpha1', 'TenantControlPlane', 'tenantcontrolplanes'),
  steward: kind('steward.butlerlabs.dev/v1alpha1', 'TenantControlPlane', 'tenantcontrolplanes'),
  k0smotron: kind('k0smotron.io/v1beta2', 'Cluster', 'clusters'),
  k0smotronControlPlane: kind(
    'controlplane.cluster.x-k8s.io/v1beta2',
    'K0smotronControlPlane',
    'k0smotroncontrolplanes',
  ),
  capiCluster: kind('cluster.x-k8s.io/v1beta2', 'Cluster', 'clusters'),
  clusterDeployment: kind(
    'k0rdent.mirantis.com/v1beta1',
    'ClusterDeployment',
    'clusterdeployments',
  ),
  deployment: kind('apps/v1', 'Deployment', 'deployments'),
} as const satisfies Record<string, Resource>;

/** What is looked at again and again, in the version that is known best: to be watched where it is served. */
export const WATCHED_RESOURCES: readonly Resource[] = [
  PROVIDER_RESOURCES.kamaji,
  PROVIDER_RESOURCES.steward,
  PROVIDER_RESOURCES.k0smotron,
  PROVIDER_RESOURCES.k0smotronControlPlane,
  PROVIDER_RESOURCES.capiCluster,
  PROVIDER_RESOURCES.clusterDeployment,
];

/** An older version that will do where the other one is not served. */
const OLDER_VERSIONS: Readonly<Record<string, string>> = {
  'k0smotron.io': 'v1beta1',
  'controlplane.cluster.x-k8s.io': 'v1beta1',
  'cluster.x-k8s.io': 'v1beta1',
};

/** The kind in every version that will do, the best first. */
export function versionsOf(resource: Resource): readonly Resource[] {
  const older = OLDER_VERSIONS[groupOf(resource.apiVersion)];
  return [resource, ...(older === undefined ? [] : [withVersion(resource, older)])];
}

/** The kind in the best version that is served; undefined if none is. */
export function servedVersion(
  resource: Resource,
  served: { has(resource: Resource): boolean },
): Resource | undefined {
  return versionsOf(resource).find((version) => served.has(version));
}

/** The kind of an object, in the version that the object has. */
export function inVersionOf(
  resource: Resource,
  { apiVersion }: Pick<KubeObject, 'apiVersion'>,
): Resource {
  return { ...resource, apiVersion };
}

/** Whether an object, or a reference to one, is of a kind, whatever its version. */
export function isOfKind(
  resource: Resource,
  of: { readonly apiVersion: string; readonly kind: string },
): boolean {
  return isReferenceTo(resource, { group: groupOf(of.apiVersion), kind: of.kind });
}

/** The kind in a reference that leaves the version to the reader. */
export interface KindReference {
  readonly group: string;
  readonly kind: string;
}

/** Whether a reference is to an object of this kind. */
export function isReferenceTo(resource: Resource, { group, kind: name }: KindReference): boolean {
  return name === resource.kind && group === groupOf(resource.apiVersion);
}
