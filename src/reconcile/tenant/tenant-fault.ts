/**
 * Why a tenant's API could not be worked with, for a person.
 */
import { KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import type { TenantLink } from './link/tenant-link.ts';
import { TenantNotOwned } from './ownership/owned-client.ts';
import { TenantNotInitialized } from './tenant-facts.ts';
import { sentence } from '../../text/sentence.ts';

/** By the reason of a failed call. All others are {@link UNREACHABLE}. */
const FAULTS: Partial<Record<KubeErrorReason, Pick<Finding, 'code' | 'action'>>> = {
  Forbidden: {
    code: 'TenantForbidden',
    action: 'Grant the user of its kubeconfig the permissions of an administrator.',
  },
  Unauthorized: {
    code: 'TenantUnauthorized',
    action: 'Store a kubeconfig with a valid certificate or token in its Secret.',
  },
  Untrusted: {
    code: 'TenantUntrusted',
    action:
      "Check that the CA in its kubeconfig is that of the tenant's API server, or correct spec.controlPlane.endpoints.",
  },
  Invalid: {
    code: 'TenantRejected',
    action: 'Check which admission policy of the tenant rejects it.',
  },
  Malformed: {
    code: 'NotKubernetes',
    action: 'Check that a kube-apiserver answers at this address.',
  },
};

/** That it does not answer. */
export const UNREACHABLE: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantUnreachable',
  action: 'Check that the control plane runs and that the operator can dial it.',
};

const NOT_INITIALIZED: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantNotInitialized',
  action: 'Wait a few seconds.',
};

const NOT_OWNED: Pick<Finding, 'code' | 'action'> = {
  code: 'TenantOwnedElsewhere',
  action: 'Wait until Snicket holds the Lease again.',
};

/** What an error means that came while the tenant was worked with. */
export function tenantFault(
  { client }: Pick<TenantLink, 'client'>,
  error: unknown,
  boundedSignal: AbortSignal,
): Finding {
  const { server } = client;
  if (boundedSignal.aborted) return apiFault(server, UNREACHABLE, 'timeout');
  if (error instanceof KubeError) {
    return apiFault(server, FAULTS[error.reason] ?? UNREACHABLE, error.message);
  }
  if (error instanceof TenantNotInitialized) {
    return apiFault(server, NOT_INITIALIZED, error.message);
  }
  if (error instanceof TenantNotOwned) return apiFault(server, NOT_OWNED, error.message);
  return {
    code: 'InternalError',
    severity: 'error',
    message: sentence(
      `An internal error occurred while Snicket reconciled the tenant at ${server}: ${quoted(String(error))}`,
    ),
    action: "Report it as a bug of Snicket, with the operator's log.",
  };
}

function apiFault(
  server: string,
  { code, action }: Pick<Finding, 'code' | 'action'>,
  cause: string,
): Finding {
  const message = sentence(`The tenant's API server at ${server} cannot be used: ${cause}`);
  return { code, severity: 'error', message, action };
}
