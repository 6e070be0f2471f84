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
    meaning: 'The object of the control plane does not exist.',
    action: 'Create it, correct spec.controlPlane.objectRef, or delete the Exposure.',
  },
  ControlPlaneRemote: {
    meaning: 'The control plane runs in another cluster than its object.',
    action: 'Install Snicket in that cluster, and expose the control plane there.',
  },
  ControlPlaneDeleting: {
    meaning: 'The control plane is being deleted.',
    action: 'Delete the Exposure too, or recreate the control plane.',
  },
  ControlPlanePaused: {
    meaning: 'The provider does not reconcile the control plane because of an annotation.',
    action: 'Remove the annotation.',
  },
  ClusterUnknown: {
    meaning:
      'A K0smotronControlPlane belongs to no Cluster yet, which determines the name of its Service.',
    action: 'Check that a Cluster references it, or set the label cluster.x-k8s.io/cluster-name.',
  },
  ClusterDeploymentDryRun: {
    meaning: 'A ClusterDeployment has spec.dryRun, so it has no control plane.',
    action: 'Remove spec.dryRun.',
  },
  VersionMissing: {
    meaning: 'Without spec.version, k0smotron uses a version that does not work behind an edge.',
    action: 'Set spec.version to a newer version.',
  },
  VersionTooOld: {
    meaning: 'A provider or its Kubernetes version is too old to work behind an edge.',
    action: 'Upgrade to the named version or a newer one.',
  },
  VersionUnreadable: {
    meaning: 'A version is invalid, so it is unknown whether it is new enough.',
    action: 'Check that it is one of the named versions or newer.',
  },
  ServiceMissing: {
    meaning: 'The Service of the control plane does not exist.',
    action: 'Create it, correct its name, or wait for the provider.',
  },
  ServicePortMissing: {
    meaning: 'The Service of the control plane lacks a port.',
    action: 'Add the port, or correct spec.controlPlane.service.',
  },
  ServiceHasNoAddress: {
    meaning: 'The Service of the control plane is headless, so the operator cannot dial it.',
    action: 'Give it a cluster IP, or set spec.controlPlane.endpoints.',
  },
  SecretMissing: {
    meaning: 'A Secret of the control plane does not exist.',
    action: 'Create it, correct its name, or wait for the provider.',
  },
  SecretEntryMissing: {
    meaning: 'A Secret of the control plane lacks an entry.',
    action: 'Add it, or correct its name in spec.controlPlane.',
  },
  SecretsForbidden: {
    meaning:
      'You are not allowed to read the Secrets of a control plane, so what depends on them is not checked.',
    action: 'Ask a person who can read these Secrets, or request permission to get them.',
  },
  KubeconfigMissing: {
    meaning: 'The tenant has no kubeconfig yet.',
    action: 'Wait for its provider, or set spec.controlPlane.kubeconfigSecretRef.',
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
  FactsMissing: {
    meaning: 'The control plane is not fully known yet.',
    action: 'See the condition Prepared.',
  },
} as const satisfies Record<string, FindingEntry>;
