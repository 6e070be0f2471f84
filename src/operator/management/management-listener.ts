/**
 * Receives the changes in the management cluster.
 */
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { AffectedByEdge, AffectedExposures } from '../../management/exposure-index.ts';

/** Callbacks for changes in the management cluster. */
export interface ManagementListener {
  readonly onExposure: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** An Edge, and the Exposures that the change concerns. */
  readonly onEdge: (
    object: KubeObject,
    previous: KubeObject | undefined,
    affected: AffectedByEdge,
  ) => void;
  /** A Service of this key. */
  readonly onService: (key: ObjectKey) => void;
  /** An object that Snicket created for this Exposure. */
  readonly onOwned: (exposure: ObjectKey) => void;
  /** A TenantRoute that another client has written, or that was deleted. */
  readonly onTenantRoute: (route: TenantRoute) => void;
  /** A route object that Snicket may not manage. */
  readonly onForeignRoute: (object: KubeObject) => void;
  /** A namespace of this name, and the Exposures that the change concerns by way of their Edges. */
  readonly onNamespace: (name: string, affected: AffectedExposures) => void;
  /** An IngressClass, GatewayClass or Gateway. */
  readonly onEdgeSetting: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** An object of a provider. */
  readonly onProvided: (object: KubeObject) => void;
  /** A kind of edges or providers has appeared or disappeared. */
  readonly onDiscovery: () => void;
}
