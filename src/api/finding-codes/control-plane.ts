/**
 * Findings about the control plane: its provider, its Service, its Secrets.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const CONTROL_PLANE_FINDINGS = {
  ProviderUnknown: {
    meaning: 'no provider that Snicket supports has the kind in spec.controlPlane.objectRef',
    action:
      'set spec.controlPlane.type to Service, with service, caSecretRef and kubeconfigSecretRef',
  },
  ControlPlaneMissing: {
    meaning: 'the object of the control plane is not there',
    action: 'create it, or correct spec.controlPlane.objectRef',
  },
  ControlPlaneElsewhere: {
    meaning: 'the control plane runs in another cluster than its object is in',
    action: 'install Snicket there, and expose it there',
  },
  ControlPlaneDeleting: {
    meaning: 'the control plane is being deleted',
    action: 'delete the Exposure too, or wait until the control plane is there again',
  },
  ControlPlaneGone: {
    meaning: 'the control plane was deleted while it was being prepared',
    action: 'create it again, or delete the Exposure',
  },
  ControlPlanePaused: {
    meaning: 'the provider does not look at the control plane, because an annotation says so',
    action: 'remove the annotation',
  },
  ClusterUnknown: {
    meaning: 'a K0smotronControlPlane belongs to no Cluster yet, by which its Service is called',
    action: 'see that a Cluster names it, or write the label cluster.x-k8s.io/cluster-name',
  },
  ClusterDeploymentDryRun: {
    meaning: 'a ClusterDeployment has spec.dryRun, so there is nothing behind it',
    action: 'remove spec.dryRun',
  },
  VersionMissing: {
    meaning: 'k0smotron would take a version that cannot be behind an edge',
    action: 'write a newer one as spec.version',
  },
  VersionTooOld: {
    meaning: 'a provider, or its Kubernetes, is older than what an edge needs',
    action: 'upgrade to the version that is named, or a newer one',
  },
  VersionUnreadable: {
    meaning: 'a version cannot be read, so nobody knows whether it is new enough',
    action: 'see that it is one of those that are named',
  },
  ServiceMissing: {
    meaning: 'the Service of the control plane is not there',
    action: 'create it, correct its name, or wait for the provider',
  },
  ServicePortMissing: {
    meaning: 'the Service of the control plane lacks a port',
    action: 'add the port, or correct spec.controlPlane.service',
  },
  ServiceHasNoAddress: {
    meaning: 'the Service of the control plane is headless, so the operator cannot dial it',
    action: 'give it a cluster IP, or write spec.controlPlane.endpoints',
  },
  SecretMissing: {
    meaning: 'a Secret of the control plane is not there',
    action: 'create it, correct its name, or wait for the provider',
  },
  SecretEntryMissing: {
    meaning: 'a Secret of the control plane lacks an entry',
    action: 'add it, or correct its name in spec.controlPlane',
  },
  SecretsForbidden: {
    meaning: 'you may not read the Secrets of a control plane, so that part is not looked at',
    action: 'ask somebody who may get Secrets there, or for that right',
  },
  KubeconfigMissing: {
    meaning: 'there is no kubeconfig of the tenant yet',
    action: 'wait for its provider, or write spec.controlPlane.kubeconfigSecretRef',
  },
  KubeconfigUnusable: {
    meaning: "the tenant's kubeconfig cannot be used",
    action: 'correct it in its Secret',
  },
  KubeconfigUnreadable: {
    meaning: 'what a Secret has in place of a kubeconfig is none',
    action: 'correct it, or let the provider make it anew',
  },
  KubeconfigLeadsElsewhere: {
    meaning: 'the kubeconfig that the provider gives out does not lead to the edge yet',
    action: 'if it stays, let the provider make it anew: delete its Secret',
  },
  CertificateStale: {
    meaning:
      "the API server's certificate was made before the control plane had its hosts, and its provider keeps it",
    action: 'let the provider make it anew: delete its Secret, or let Snicket do so',
  },
  CaMismatch: {
    meaning:
      'the CA in its Secret and the one in the kubeconfig are not the same: of two tenants, or one is out of date',
    action: 'name the Secrets of one tenant, or write the same CA into both',
  },
  FactsMissing: {
    meaning: 'not everything is known of the control plane yet',
    action: 'see the condition Prepared',
  },
} as const satisfies Record<string, FindingEntry>;
