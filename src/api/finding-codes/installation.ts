/**
 * Findings of `snicket doctor --pre`.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const INSTALLATION_FINDINGS = {
  CheckPassed: {
    meaning: 'The cluster meets this requirement of an installation.',
    action: 'No action is required.',
  },
  KubernetesTooOld: {
    meaning: 'The API server is older than the CustomResourceDefinitions of Snicket require.',
    action: 'Upgrade the cluster.',
  },
  ApiVersionMissing: {
    meaning: 'The API server does not serve an API version that Snicket uses.',
    action: 'Enable the API version, or upgrade the cluster.',
  },
  PermissionMissing: {
    meaning: 'The user may not create objects that an installation consists of.',
    action: 'Install as a user with the role cluster-admin.',
  },
  DefinitionsOutdated: {
    meaning:
      'CustomResourceDefinitions of Snicket are there, without the version that this release uses.',
    action: 'Apply deploy/crds of this release.',
  },
  ControllerMissing: {
    meaning:
      "No ingress controller or Gateway API was found; only Snicket's gateway can be the edge.",
    action: 'Install a supported controller, or use an Edge with driver snicket.',
  },
  LoadBalancerMissing: {
    meaning: 'No Service of type LoadBalancer has an address, so there may be no implementation.',
    action: 'Install a load balancer, or set spec.addresses of the Edge.',
  },
  ProviderMissing: {
    meaning: 'No supported provider of control planes was found.',
    action: 'Install a provider, or expose control planes by Service or address.',
  },
} as const satisfies Record<string, FindingEntry>;

/** A code of `snicket doctor --pre`. */
export type InstallationCode = keyof typeof INSTALLATION_FINDINGS;
