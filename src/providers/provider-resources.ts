/**
 * The kinds of the providers, and of the objects that they create.
 */
import type { KubeObject } from '../kube/object.ts';
import { groupOf, withVersion, type Resource } from '../kube/resource.ts';

function kind(apiVersion: string, name: string, plural: string): Resource {
  return { apiVersion, kind: name, plural, namespaced: true };
}

/** All kinds in their preferred versions. For k0smotron, that is the version with `spec.patches`. */
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
  clusterTemplate: kind('k0rdent.mirantis.com/v1beta1', 'ClusterTemplate', 'clustertemplates'),
  deployment: kind('apps/v1', 'Deployment', 'deployments'),
} as const satisfies Record<string, Resource>;

/** The kinds to watch if the API serves them, in their preferred versions. */
export const WATCHED_RESOURCES: readonly Resource[] = [
  PROVIDER_RESOURCES.kamaji,
  PROVIDER_RESOURCES.steward,
  PROVIDER_RESOURCES.k0smotron,
  PROVIDER_RESOURCES.k0smotronControlPlane,
  PROVIDER_RESOURCES.capiCluster,
  PROVIDER_RESOURCES.clusterDeployment,
  PROVIDER_RESOURCES.clusterTemplate,
];

/** Older versions that Snicket also supports, by group. */
const OLDER_VERSIONS: Readonly<Record<string, string>> = {
  'k0smotron.io': 'v1beta1',
  'controlplane.cluster.x-k8s.io': 'v1beta1',
  'cluster.x-k8s.io': 'v1beta1',
};

/** Returns the kind in all supported versions, the preferred one first. */
export function versionsOf(resource: Resource): readonly Resource[] {
  const older = OLDER_VERSIONS[groupOf(resource.apiVersion)];
  return [resource, ...(older === undefined ? [] : [withVersion(resource, older)])];
}

/** Returns the kind in the preferred version that the API serves; undefined if it serves none. */
export function servedVersion(
  resource: Resource,
  served: { has(resource: Resource): boolean },
): Resource | undefined {
  return versionsOf(resource).find((version) => served.has(version));
}

/**
 * Returns a control plane of k0smotron in the preferred version, as an API server that serves it returns an object that
 * was written in the older one. Snicket reads renamed fields by either name.
 */
export function inPreferredVersion(object: KubeObject): KubeObject {
  const { k0smotron, k0smotronControlPlane } = PROVIDER_RESOURCES;
  const resource = [k0smotron, k0smotronControlPlane].find((candidate) =>
    isOfKind(candidate, object),
  );
  return resource === undefined ? object : { ...object, apiVersion: resource.apiVersion };
}

/** Returns the kind of an object, in the version of the object. */
export function inVersionOf(
  resource: Resource,
  { apiVersion }: Pick<KubeObject, 'apiVersion'>,
): Resource {
  return { ...resource, apiVersion };
}

/** Reports whether an object or a reference has a kind, in any version. */
export function isOfKind(
  resource: Resource,
  reference: { readonly apiVersion: string; readonly kind: string },
): boolean {
  return isReferenceTo(resource, { group: groupOf(reference.apiVersion), kind: reference.kind });
}

/** A reference to a kind without a version. */
export interface KindReference {
  readonly group: string;
  readonly kind: string;
}

/** Reports whether a reference is to an object of this kind. */
export function isReferenceTo(resource: Resource, { group, kind: name }: KindReference): boolean {
  return name === resource.kind && group === groupOf(resource.apiVersion);
}
