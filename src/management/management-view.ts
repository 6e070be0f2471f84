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

/** The uid of this namespace identifies a cluster: every cluster has it, and it cannot be deleted. */
export const IDENTITY_NAMESPACE = { name: 'kube-system' } as const;

/** A management cluster that is read. */
export interface ManagementView {
  /** For objects that are not watched, such as the gateway's keys. */
  readonly client: Pick<KubeClient, 'get'>;
  /** A Secret, possibly as it was read a moment ago. @throws KubeError */
  secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** A Secret as the API server has it now. @throws KubeError */
  secretNow(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** Why the objects of a kind are unknown; undefined if they are known. */
  unread(resource: Resource): KubeError | undefined;
  readonly served: DiscoveredApis;
  readonly exposureIndex: ExposureIndex;
  /** All TenantRoutes. */
  readonly tenantRoutes: TenantRouteIndex<TenantRoute>;
  service(key: ObjectKey): Service | undefined;
  /**
   * An object of a provider, or one that a provider created, with its managedFields. It is read in a version that is served.
   * @throws KubeError
   */
  object(resource: Resource, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined>;
  /** Identifies the cluster: the uid of {@link IDENTITY_NAMESPACE}. Undefined: the objects are from files. */
  readonly clusterId: string | undefined;
  namespaceLabels(name: string): Readonly<Record<string, string>>;
  /** All objects of a kind; none if it is not served. */
  all(resource: Resource): readonly KubeObject[];
  /** All route objects, foreign ones included, that may claim one of these hosts. */
  claimants(hosts: readonly string[]): readonly KubeObject[];
  /** All objects that were created for an Exposure. TenantRoutes are found by their exposureRef. */
  ownedBy(exposure: KubeObject): readonly KubeObject[];
}

/** A management cluster that is read and written. */
export interface ManagementAccess extends ManagementView {
  readonly client: ObjectClient;
}

/** A management cluster, and the namespace in it where Snicket runs. */
export interface ManagementContext {
  readonly management: ManagementView;
  /** The namespace of the operator, and of the gateway's Service and keys. */
  readonly namespace: string;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}
