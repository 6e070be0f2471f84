/**
 * The event handlers for objects in the management cluster.
 */
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { AffectedByEdge, AffectedExposures } from '../../management/exposure-index.ts';

/**
 * Event handlers for objects in the management cluster. `previous` is the object before an update. It is undefined if the
 * object was created or deleted: these are distinguished by whether the informer has the object.
 */
export interface ManagementListener {
  readonly onExposure: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** An Edge, and the Exposures and provider objects that its change affects. */
  readonly onEdge: (
    object: KubeObject,
    previous: KubeObject | undefined,
    affected: AffectedByEdge,
  ) => void;
  /** The Service with this key. */
  readonly onService: (key: ObjectKey) => void;
  /** An object that Snicket created for this Exposure was created, updated or deleted. */
  readonly onOwnedObject: (exposure: ObjectKey) => void;
  /** A TenantRoute that was written by another client, or deleted. */
  readonly onTenantRoute: (route: TenantRoute) => void;
  /** A route object that may claim hosts of Exposures, whether Snicket manages it or not. */
  readonly onForeignRoute: (object: KubeObject) => void;
  /** The namespace with this name, and the Exposures that its labels affect through spec.allowedNamespaces of Edges. */
  readonly onNamespace: (name: string, affected: AffectedExposures) => void;
  /** An IngressClass, GatewayClass or Gateway. */
  readonly onEdgeSetting: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** A control plane object of a provider, such as a TenantControlPlane. */
  readonly onProviderObject: (object: KubeObject) => void;
  /** The API server has started or stopped serving a kind of an edge or provider. */
  readonly onDiscoveryChange: () => void;
}
