/**
 * Why a tenant's API could not be worked with, for a person.
 */
import { KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import type { Finding } from '../../api/finding.ts';
import type { TenantLink } from './link/tenant-link.ts';

/** The codes; whatever is not here is {@link UNREACHABLE}. */
const FAULTS: Partial<Record<KubeErrorReason, Pick<Finding, 'code' | 'action'>>> = {
  Forbidden: {
    code: 'TenantForbidden',
    action: 'give the user of its kubeconfig the rights of an administrator',
  },
  Unauthorized: {
    code: 'TenantUnauthorized',
    action: 'put a kubeconfig into its Secret whose certificate or token is still good',
  },
  Untrusted: {
    code: 'TenantUntrusted',
    action:
      "see that the CA in its kubeconfig is the one of the tenant's API server, or correct spec.controlPlane.endpoints",
  },
  Invalid: {
    code: 'TenantRefuses',
    action: 'see which admission policy of the tenant refuses it',
  },
  Malformed: {
    code: 'TenantMalformed',
    action: 'see that it is a kube-apiserver that answers there',
  },
};

/** That it does not answer. */
export const UNREACHABLE: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantUnreachable',
  action: 'see that the control plane runs, and that the operator may dial it',
};

/** What an error means that came while the tenant was worked with. */
export function tenantFault(
  { client }: Pick<TenantLink, 'client'>,
  error: unknown,
  inTime: AbortSignal,
): Finding {
  const isKnown = error instanceof KubeError;
  const { code, action } = (isKnown && !inTime.aborted && FAULTS[error.reason]) || UNREACHABLE;
  const said = inTime.aborted ? 'no answer in time' : isKnown ? error.message : String(error);
  return {
    ...{ code, severity: 'error', action },
    message: `the tenant's API server at ${client.server} cannot be worked with: ${said}`,
  };
}
