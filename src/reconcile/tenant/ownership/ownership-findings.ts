/**
 * Why an Exposure does not own its tenant, for a person.
 */
import type { Finding } from '../../../api/finding.ts';
import { keyText, timeText } from '../../../kube/object.ts';
import { OWNER_LEASE, ownerText } from '../../../tenant/owner-lease.ts';

const { name, namespace } = OWNER_LEASE;

/** The tenant belongs to another management cluster, until its Lease expires. */
export function ownedElsewhere(holderIdentity: string, expiresAt: Date): Finding {
  return {
    code: 'TenantOwnedElsewhere',
    severity: 'error',
    message: `The tenant is owned by ${ownerText(holderIdentity)}, whose Lease ${keyText(OWNER_LEASE)} in the tenant expires at ${timeText(expiresAt)} unless it is renewed.`,
    action: `Wait until it expires, or delete one of the two Exposures. If the other operator is stopped, you can hand the tenant over at once by deleting the Lease in the tenant: kubectl delete lease ${name} --namespace=${namespace}`,
  };
}

/** The tenant belongs to another Exposure of the same management cluster. */
export function ownedHere(exposure: string): Finding {
  return {
    code: 'ControlPlaneConflict',
    severity: 'error',
    message: `The tenant is already managed by Exposure ${exposure} for the same control plane.`,
    action: 'Delete one of the two Exposures.',
  };
}
