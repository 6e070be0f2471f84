/**
 * Findings about the API servers of tenants and of the management cluster.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const TENANT_FINDINGS = {
  TenantUnreachable: {
    meaning: "The tenant's API server does not answer.",
    action: 'Check that the control plane runs and that the client can dial it.',
  },
  TenantUntrusted: {
    meaning: "The tenant's API server has a certificate of another CA than its kubeconfig trusts.",
    action: 'Check that the CA in the kubeconfig is that of the API server.',
  },
  TenantUnauthorized: {
    meaning: "The tenant's API server does not know the user of its kubeconfig.",
    action: 'Store a kubeconfig with a valid certificate or token in its Secret.',
  },
  TenantForbidden: {
    meaning: 'The user of the kubeconfig lacks a permission in the tenant.',
    action: 'Grant the user the permissions of an administrator.',
  },
  TenantRejected: {
    meaning: 'The tenant rejects an object of Snicket.',
    action: 'Check which admission policy of the tenant rejects it.',
  },
  NotKubernetes: {
    meaning:
      "The server at the address or behind the host of the tenant's API does not answer as a kube-apiserver does.",
    action: 'Check that the address or the route points to the port of a kube-apiserver.',
  },
  TenantNotInitialized: {
    meaning:
      'The API server of the tenant has just started, and has not created Service default/kubernetes yet.',
    action: 'Wait a few seconds. If this persists, delete the Service if it is headless.',
  },
  TenantOwnedElsewhere: {
    meaning:
      'Another management cluster owns the tenant through the Lease kube-system/snicket-owner in the tenant.',
    action:
      'Wait until the Lease expires, or delete one of the two Exposures. The operator of the owner renews the Lease for as long as it runs.',
  },
  ManagementUnavailable: {
    meaning: "The management cluster's API server keeps failing.",
    action: 'Check the API server.',
  },
  InternalError: {
    meaning: 'A bug of Snicket made a reconcile fail.',
    action: "Report it, with the operator's log.",
  },
} as const satisfies Record<string, FindingEntry>;
