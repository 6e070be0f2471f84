/**
 * Findings of the preflight checks, `snicket doctor --pre`.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const PREFLIGHT_FINDINGS = {
  PermissionMissing: {
    meaning:
      "Snicket's operator, or the user of a command, lacks a permission in the management cluster.",
    action:
      'Grant the permission: to the operator with kubectl apply -k deploy, to a user with a ClusterRole. To install Snicket, use a user bound to the ClusterRole cluster-admin.',
  },
  CrdsOutdated: {
    meaning:
      "Snicket's CRDs are those of another release: they do not serve its version, or the API server rejects a status.",
    action: 'Apply the CRDs in deploy/crds of the release that runs.',
  },
  ComponentMissing: {
    meaning:
      'The cluster lacks something that an Exposure may need: an ingress controller or the Gateway API, a load balancer, or a control plane provider.',
    action: 'Install it, or do without it as the message says.',
  },
} as const satisfies Record<string, FindingEntry>;
