/**
 * Why a tenant's API could not be worked with, for a person.
 */
import { KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import type { TenantLink } from './link/tenant-link.ts';
import { TenantNotOwned } from './ownership/owned-client.ts';
import { TenantNotInitialised } from './tenant-facts.ts';

/** By the reason of a failed call. All others are {@link UNREACHABLE}. */
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

const NOT_INITIALISED: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantNotInitialised',
  action: 'wait a few seconds',
};

const NOT_OWNED: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantOwnedElsewhere',
  action: 'wait until Snicket holds the Lease again',
};

/** What an error means that came while the tenant was worked with. */
export function tenantFault(
  { client }: Pick<TenantLink, 'client'>,
  error: unknown,
  inTime: AbortSignal,
): Finding {
  const { server } = client;
  if (inTime.aborted) return apiFault(server, UNREACHABLE, 'no answer in time');
  if (error instanceof KubeError) {
    return apiFault(server, FAULTS[error.reason] ?? UNREACHABLE, error.message);
  }
  if (error instanceof TenantNotInitialised) {
    return apiFault(server, NOT_INITIALISED, error.message);
  }
  if (error instanceof TenantNotOwned) return apiFault(server, NOT_OWNED, error.message);
  return {
    code: 'InternalError',
    severity: 'error',
    message: `internal error while the tenant at ${server} was reconciled: ${quoted(String(error))}`,
    action: "report it as a bug of Snicket, with the operator's log",
  };
}

function apiFault(
  server: string,
  { code, action }: Pick<Finding, 'code' | 'action'>,
  cause: string,
): Finding {
  const message = `the tenant's API server at ${server} cannot be worked with: ${cause}`;
  return { code, severity: 'error', message, action };
}
