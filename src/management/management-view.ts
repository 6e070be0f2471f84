/**
 * A read-only view of a management cluster: watched, as in the operator, or read once, as in a command. Both plan with this
 * interface alone, so that their plans are equal.
 */
import type { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { Clock } from '../clock/clock.ts';
import type { DiscoveredApis } from '../edges/driver.ts';
import type { KubeClient, ObjectClient } from '../kube/client/client.ts';
import type { KubeError } from '../kube/kube-error.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { Secret, Service } from '../providers/plain.ts';
import type { ExposureIndex } from './exposure-index.ts';

/** The uid of this namespace identifies a cluster, since every cluster has this namespace and it cannot be deleted. */
export const IDENTITY_NAMESPACE = { name: 'kube-system' } as const;

/** A management cluster for reading. */
export interface ManagementView {
  /** For objects that are not watched, such as the gateway's keys. */
  readonly client: Pick<KubeClient, 'get'>;
  /** Returns a Secret, possibly from a cache of some seconds. @throws KubeError */
  secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** Returns the current Secret of the API server. @throws KubeError */
  currentSecret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** Returns why the objects of a kind are unknown; undefined if they are known. */
  readErrorOf(resource: Resource): KubeError | undefined;
  readonly served: DiscoveredApis;
  readonly exposureIndex: ExposureIndex;
  /** All TenantRoutes. */
  readonly tenantRoutes: TenantRouteIndex<TenantRoute>;
  service(key: ObjectKey): Service | undefined;
  /**
   * Returns an object of a provider, or one that a provider created, with managedFields, in a served version.
   * @throws KubeError
   */
  object(resource: Resource, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined>;
  /**
   * The identity of the cluster: the uid of {@link IDENTITY_NAMESPACE}. Undefined if the objects are from
   * files.
   */
  readonly clusterId: string | undefined;
  namespaceLabels(name: string): Readonly<Record<string, string>>;
  /** Returns all objects of a kind; none if it is not served. */
  all(resource: Resource): readonly KubeObject[];
  /** Returns all route objects, including foreign ones, that may claim one of these hosts. */
  claimants(hosts: readonly string[]): readonly KubeObject[];
  /**
   * Returns all objects that were created for an Exposure. TenantRoutes are found by their
   * exposureRef.
   */
  ownedBy(exposure: KubeObject): readonly KubeObject[];
}

/** A management cluster for reading and writing. */
export interface ManagementAccess extends ManagementView {
  readonly client: ObjectClient;
}

/** A management cluster, and the namespace in which Snicket runs. */
export interface ManagementContext {
  readonly management: ManagementView;
  /** The namespace of the operator, the gateway's Service and the gateway's keys. */
  readonly namespace: string;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}
