/**
 * Whoever has to act on what changes in the management cluster.
 */
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';

/** Whoever has to act on changes. */
export interface ManagementListener {
  readonly onExposure: (object: KubeObject, previous: KubeObject | undefined) => void;
  readonly onEdge: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** A Service of this place. */
  readonly onService: (key: ObjectKey) => void;
  /** An object that we made for this Exposure. */
  readonly onOwned: (exposure: ObjectKey) => void;
  /** A TenantRoute that another client wrote, or that is gone. */
  readonly onTenantRoute: (route: TenantRoute) => void;
  /** A route object of somebody else. */
  readonly onForeignRoute: (object: KubeObject) => void;
  /** A namespace; whether its labels have changed. */
  readonly onNamespace: (name: string, change: { readonly isRelabeled: boolean }) => void;
  /** A class or a Gateway. */
  readonly onEdgeSetting: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** An object of a provider. */
  readonly onProvided: (object: KubeObject) => void;
  /** Which APIs are served. */
  readonly onDiscovery: () => void;
}
