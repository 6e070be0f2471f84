/**
 * For tests only: how control planes of providers are asked for and shown, above all `tenants/blue` of Kamaji.
 */
import type { KubeObject } from '../../kube/object.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { snapshotOf } from './objects.ts';
import type { OperatorLab } from './operator-lab.ts';
import { TENANTS } from './namespaces.ts';
import { ASKS } from './provided-lab.ts';

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;

/** The TenantControlPlane of Kamaji. */
export const BLUE = { name: 'blue', namespace: TENANTS };
/** The host of its API at Edge `shared`. */
export const API_HOST = 'tenants-blue.k8s.example.test';
/** The host of its konnectivity there. */
export const KONNECTIVITY_HOST = 'tenants-blue.konnectivity.example.test';
/** The fields of a control plane that asks for Edge `shared`. */
export const ANNOTATED = { 'metadata.annotations': ASKS };

interface Tenant extends KubeObject {
  readonly spec: {
    readonly controlPlane: { readonly ingress?: object; readonly deployment: object };
    readonly networkProfile: { readonly certSANs?: readonly string[] };
  };
}

/** Blue as it is now. */
export function tenantIn(lab: OperatorLab): Tenant | undefined {
  return lab.management.read(KAMAJI, BLUE) as Tenant | undefined;
}

/** An object without what changes at every write. */
export function shown(object: KubeObject | undefined): unknown {
  if (object === undefined) throw new Error('there is no object to show');
  const { generation: _, annotations = {}, ...metadata } = object.metadata;
  // A patch that removes the last annotation leaves an empty map here, and none in a real API server.
  return snapshotOf([{ ...object, metadata: { ...metadata, annotations } }]);
}

/** The same of blue. */
export function shownIn(lab: OperatorLab): unknown {
  return shown(tenantIn(lab));
}

/** Lets blue ask for this Edge, or for none any more. */
export async function annotate(lab: OperatorLab, value: string | null): Promise<void> {
  const metadata = { annotations: { 'snicket.dev/edge': value } };
  await lab.user.patch(KAMAJI, BLUE, 'merge', { metadata });
}
