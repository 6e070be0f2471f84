/**
 * For tests only: annotates and shows control planes of providers, mostly `tenants/blue` of Kamaji.
 */
import type { KubeObject } from '../../kube/object.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { snapshotOf } from './objects.ts';
import type { OperatorLab } from './operator-lab.ts';
import { TENANTS } from './namespaces.ts';
import { REQUESTS_EDGE } from './provided-lab.ts';

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;

/** The TenantControlPlane of Kamaji. */
export const BLUE = { name: 'blue', namespace: TENANTS };
/** The host of its API at Edge `shared`. */
export const API_HOST = 'tenants-blue.k8s.example.test';
/** The host of its konnectivity there. */
export const KONNECTIVITY_HOST = 'tenants-blue.konnectivity.example.test';
/** The fields of a control plane that requests Edge `shared`. */
export const ANNOTATED = { 'metadata.annotations': REQUESTS_EDGE };

interface Tenant extends KubeObject {
  readonly spec: {
    readonly controlPlane: { readonly ingress?: object; readonly deployment: object };
    readonly networkProfile: { readonly certSANs?: readonly string[] };
  };
}

/** The current TenantControlPlane `blue`. */
export function tenantIn(lab: OperatorLab): Tenant | undefined {
  return lab.management.read(KAMAJI, BLUE) as Tenant | undefined;
}

/** An object without fields that change with every write. */
export function shown(object: KubeObject | undefined): unknown {
  if (object === undefined) throw new Error('there is no object to show');
  const { generation: _, annotations = {}, ...metadata } = object.metadata;
  // A patch that removes the last annotation leaves an empty map here, and none in a real API server.
  return snapshotOf([{ ...object, metadata: { ...metadata, annotations } }]);
}

/** TenantControlPlane `blue` without these fields. */
export function shownIn(lab: OperatorLab): unknown {
  return shown(tenantIn(lab));
}

/** Annotates `blue` with an Edge, or removes the annotation. */
export async function annotate(lab: OperatorLab, value: string | null): Promise<void> {
  const metadata = { annotations: { 'snicket.dev/edge': value } };
  await lab.user.patch(KAMAJI, BLUE, 'merge', { metadata });
}
