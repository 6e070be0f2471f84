/**
 * Findings of the preflight checks, `snicket doctor --pre`.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const PREFLIGHT_FINDINGS = {
  KubernetesTooOld: {
    meaning: "The Kubernetes version is too old for Snicket's CRDs.",
    action: 'Upgrade the cluster.',
  },
  ApiVersionMissing: {
    meaning: 'The API server does not serve an API version that Snicket uses.',
    action: 'Enable the API version, or upgrade the cluster.',
  },
  PermissionMissing: {
    meaning:
      "Snicket's operator, or the user of a command, lacks a permission in the management cluster.",
    action:
      'Grant the permission: to the operator with kubectl apply -k deploy, to a user with a ClusterRole. To install Snicket, use a user bound to the ClusterRole cluster-admin.',
  },
  CRDVersionMissing: {
    meaning: "Snicket's CRDs are installed, but do not serve the version that this release uses.",
    action: 'Apply the CRDs in deploy/crds of this release.',
  },
  NoSupportedEdge: {
    meaning:
      "No supported ingress controller or Gateway API was found, so only Snicket's gateway can be the edge.",
    action: 'Create an Edge with spec.driver: snicket, or install a supported ingress controller.',
  },
  LoadBalancerMissing: {
    meaning:
      'No Service of type LoadBalancer has an address; the cluster may have no load balancer controller.',
    action: 'Install a load balancer controller, or set spec.addresses of the Edge.',
  },
  ProviderMissing: {
    meaning: 'No supported control plane provider was found.',
    action:
      'Install a provider, or create Exposures with spec.controlPlane.type Service or Endpoints.',
  },
} as const satisfies Record<string, FindingEntry>;

/** A code of the preflight checks. */
export type PreflightCode = keyof typeof PREFLIGHT_FINDINGS;
