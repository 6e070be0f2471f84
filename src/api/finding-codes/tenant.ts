/**
 * Findings about the API servers of tenants and of the management cluster.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const TENANT_FINDINGS = {
  TenantUnreachable: {
    meaning: "the tenant's API server does not answer",
    action: 'see that the control plane runs, and that whoever asks can dial it',
  },
  TenantUntrusted: {
    meaning: "the tenant's API server has a certificate of another CA than its kubeconfig trusts",
    action: "see that the CA in the kubeconfig is the API server's",
  },
  TenantUnauthorized: {
    meaning: "the tenant's API server does not know the user of its kubeconfig",
    action: 'put a kubeconfig into its Secret whose certificate or token is still good',
  },
  TenantForbidden: {
    meaning: 'the user of the kubeconfig lacks a right in the tenant',
    action: 'give the user the rights of an administrator',
  },
  TenantRefuses: {
    meaning: 'the tenant refuses an object of Snicket',
    action: 'see which admission policy of the tenant does that',
  },
  TenantMalformed: {
    meaning: 'what answers as the API of the tenant does not answer as a kube-apiserver does',
    action: 'see that it is one',
  },
  TenantNotInitialised: {
    meaning: 'the API server of the tenant has just started',
    action: 'wait a few seconds',
  },
  TenantTaken: {
    meaning: 'another Exposure of the same management cluster manages the tenant',
    action: 'delete one of the two Exposures',
  },
  TenantOwnedElsewhere: {
    meaning:
      'another management cluster owns the tenant, by the Lease kube-system/snicket-owner in the tenant',
    action:
      'wait until the Lease expires, or delete one of the two Exposures; the operator of the owner renews the Lease for as long as it runs',
  },
  KubernetesServiceMissing: {
    meaning: 'Service default/kubernetes of the tenant has no address',
    action: 'wait for its API server, which makes it, or delete the Service if it is headless',
  },
  GatewayKeysUnusable: {
    meaning: "the Secret with the gateway's keys cannot be used",
    action: 'correct the Secret',
  },
  ManagementForbidden: {
    meaning: "Snicket's operator lacks a right in the management cluster",
    action: "add it to the operator's ClusterRole: kubectl apply -k deploy",
  },
  ManagementFault: {
    meaning: "the management cluster's API server fails again and again",
    action: 'see that it is well',
  },
  InternalError: {
    meaning: 'a bug of Snicket made a reconcile fail',
    action: "report it, with the operator's log",
  },
} as const satisfies Record<string, FindingEntry>;
