/**
 * What there is to see in a management cluster: by watches, as the operator sees it, or once, as a tool does. Whoever
 * plans needs no more than this, so that both plan alike.
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

/** Every cluster has this namespace from its first start on, and none deletes it. */
export const IDENTITY_NAMESPACE = { name: 'kube-system' } as const;

/** A management cluster that is looked at. */
export interface ManagementView {
  /** For what is not kept: the gateway's keys, and whether a name is free. */
  readonly client: Pick<KubeClient, 'get'>;
  /** A Secret, as it is or was a moment ago. @throws KubeError */
  secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** A Secret as the API server has it now. @throws KubeError */
  secretNow(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined>;
  /** Why the objects of a kind are not known; undefined if they are. */
  unread(resource: Resource): KubeError | undefined;
  readonly served: DiscoveredApis;
  readonly exposureIndex: ExposureIndex;
  /** All TenantRoutes. */
  readonly tenantRoutes: TenantRouteIndex<TenantRoute>;
  service(key: ObjectKey): Service | undefined;
  /**
   * An object of a provider, with its managedFields, or what a provider made. Of a kind that is served in another version
   * only, in that one. @throws KubeError
   */
  object(resource: Resource, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined>;
  /** Identifies the cluster: the uid of {@link IDENTITY_NAMESPACE}. Undefined: the objects are from files. */
  readonly clusterId: string | undefined;
  namespaceLabels(name: string): Readonly<Record<string, string>>;
  /** All objects of a kind; none if it is not served. */
  all(resource: Resource): readonly KubeObject[];
  /** The route objects, whosever, that may claim one of these hosts. */
  claimants(hosts: readonly string[]): readonly KubeObject[];
  /** What was made for an Exposure, of every kind. TenantRoutes count by their exposureRef. */
  ownedBy(exposure: KubeObject): readonly KubeObject[];
}

/** A management cluster that is read and written. */
export interface ManagementAccess extends ManagementView {
  readonly client: ObjectClient;
}

/** A management cluster, and where in it Snicket itself is. */
export interface ManagementPlace {
  readonly management: ManagementView;
  /** Of the operator, and of the gateway's Service and keys. */
  readonly namespace: string;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}
