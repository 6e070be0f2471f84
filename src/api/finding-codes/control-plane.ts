/**
 * Findings about the control plane: its provider, its Service, its Secrets.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const CONTROL_PLANE_FINDINGS = {
  ProviderUnknown: {
    meaning: 'Snicket supports no provider with the kind in spec.controlPlane.objectRef.',
    action:
      'Set spec.controlPlane.type to Service, with service, caSecretRef and kubeconfigSecretRef.',
  },
  ControlPlaneMissing: {
    meaning: 'The object of the control plane does not exist or is being deleted.',
    action: 'Create it, correct spec.controlPlane.objectRef, or delete the Exposure.',
  },
  ControlPlaneInactive: {
    meaning:
      'The provider does not reconcile the control plane: an annotation or spec.dryRun prevents it, or the object belongs to no Cluster.',
    action: 'Remove what prevents it, or reference the object in a Cluster, as the message says.',
  },
  VersionUnsupported: {
    meaning: 'A version is too old for Snicket or for an edge, not set, or not readable.',
    action: 'Upgrade to the named version or a newer one.',
  },
  ControlPlaneRemote: {
    meaning: 'The control plane runs in another cluster than its object.',
    action: 'Install Snicket in that cluster, and expose the control plane there.',
  },
  ServiceMissing: {
    meaning: 'The Service of the control plane does not exist.',
    action: 'Create it, correct its name, or wait for the provider.',
  },
  ServiceInvalid: {
    meaning:
      'The Service of the control plane lacks a port, or is headless, so that the operator cannot dial it.',
    action: 'Correct the Service, or spec.controlPlane.',
  },
  SecretMissing: {
    meaning: 'A Secret of the control plane, such as that of its kubeconfig, does not exist.',
    action: 'Create it, correct its name, or wait for the provider.',
  },
  SecretInvalid: {
    meaning:
      "A Secret of the control plane lacks an entry, or the gateway's keys in a Secret cannot be used.",
    action: 'Correct the Secret, or the name of its entry in spec.controlPlane.',
  },
  KubeconfigInvalid: {
    meaning: "The tenant's kubeconfig is invalid.",
    action: 'Correct it in its Secret, or have the provider recreate it.',
  },
  KubeconfigOutdated: {
    meaning: 'The kubeconfig that the provider publishes does not point to the edge yet.',
    action: 'If this persists, delete its Secret, and the provider recreates it.',
  },
  CertificateOutdated: {
    meaning:
      "The API server's certificate lacks the hosts because it was issued before they were set.",
    action: 'Delete its Secret, and the provider recreates it. Snicket can do this itself.',
  },
  CaMismatch: {
    meaning:
      'The CA in the Secret and the CA in the kubeconfig differ: they belong to different tenants, or one of them is outdated.',
    action: 'Reference the Secrets of one tenant, or store the same CA in both.',
  },
  WaitingForCondition: {
    meaning: 'The condition waits until another condition is True.',
    action: 'See the condition that the message names.',
  },
} as const satisfies Record<string, FindingEntry>;
