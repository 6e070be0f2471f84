/**
 * Findings about the fields that providers' objects require behind an edge.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const PREPARATION_FINDINGS = {
  PreparationRequired: {
    meaning: 'With prepare: Report, the object lacks fields that it needs behind the edge.',
    action: 'Set the named fields yourself, or set prepare: Patch.',
  },
  FieldConflict: {
    meaning:
      'Another field manager owns a field that must change, or another client reverts or keeps changing it.',
    action:
      'Set the value where the other client sets its own, stop that client, or set prepare: Force.',
  },
  PreparationRejected: {
    meaning: 'The API server or a webhook of the provider rejects or alters the change.',
    action: 'Correct the object or the Exposure as the message says, or set the fields yourself.',
  },
  ControlPlaneConflict: {
    meaning:
      'Another Exposure of the same management cluster already prepares the control plane or manages its tenant.',
    action: 'Delete one of the two Exposures.',
  },
  PreparationRecordInvalid: {
    meaning:
      'Snicket cannot read the record of the previous values of the fields: it did not write the record, or a newer version did.',
    action:
      'Run that version of Snicket or a newer one, or check the fields and then remove the named annotation.',
  },
  ProviderFeatureConflict: {
    meaning: "The provider's own ingress, gateway or proxy is enabled and does what Snicket does.",
    action:
      'Disable it as the message says: in the object, by a newer version of the provider, or with prepare: Force.',
  },
  ServiceTypeNotNeeded: {
    meaning: 'The control plane has an address besides that of the edge.',
    action: 'Set the type to ClusterIP once no node and no kubeconfig uses that address.',
  },
  ProxySettingIgnored: {
    meaning: "A setting of the provider's own proxy has no counterpart and was ignored.",
    action: 'Set what you need in spec.worker of your own Exposure.',
  },
  EdgePortUnsupported: {
    meaning: 'The provider or its chart uses another port than the Edge.',
    action:
      "Choose an Edge with the provider's port, set the provider's port to that of the Edge, or use a newer version of the chart.",
  },
  ChartValuesMissing: {
    meaning:
      'The chart of k0rdent has no values for an ingress, so Snicket writes to the control plane itself.',
    action: 'Add such values to the chart. Run snicket render --values to see them.',
  },
  ChartValuesUnconfirmed: {
    meaning:
      'The chart of k0rdent has not passed the values to the control plane yet, or it is not known which values it reads.',
    action:
      'Wait for the condition HelmReleaseReady. If this persists, check which values the chart reads.',
  },
  PatchesRevertedByHelm: {
    meaning: "An upgrade of the chart reverts Snicket's changes for a moment.",
    action: 'No action is needed.',
  },
} as const satisfies Record<string, FindingEntry>;
