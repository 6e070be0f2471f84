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
    meaning: 'Another field manager owns a field that must change, so Snicket wrote nothing.',
    action: 'Set the value where the field manager sets its own, or set prepare: Force.',
  },
  PreparationRejected: {
    meaning: 'The API server or a webhook of the provider rejects the change.',
    action: 'Correct the object or the Exposure as the message says.',
  },
  PreparationForbidden: {
    meaning: "Snicket's operator is not allowed to write the object.",
    action: 'Add the verb patch to its ClusterRole, or set prepare: Report.',
  },
  PreparationChanged: {
    meaning: 'A webhook changed the object when Snicket wrote it.',
    action: 'Set the fields yourself.',
  },
  PreparationReverted: {
    meaning: "Another client reverts Snicket's changes to the object.",
    action: 'Set the fields where the other client sets its own, or stop that client.',
  },
  PreparationBusy: {
    meaning: 'Other clients write the object so often that Snicket could not.',
    action: 'No action is needed. Snicket retries.',
  },
  ControlPlaneConflict: {
    meaning:
      'The control plane is already prepared for another Exposure, and has only one pair of hosts.',
    action: 'Delete one of the two Exposures.',
  },
  PreparationRecordUnreadable: {
    meaning: 'Snicket did not write the record of the previous values of the fields.',
    action: 'Check the fields, and then remove the named annotation.',
  },
  PreparationRecordNewer: {
    meaning: 'A newer version of Snicket wrote the record of the previous values of the fields.',
    action: 'Run that version of Snicket, or a newer one.',
  },
  FieldInvalid: {
    meaning:
      'The object has a value that Snicket cannot extend or replace: a wrong type, a repeated entry, a flag in two entries, a list that is too long, or a name or address that no certificate can contain.',
    action: 'Correct the named field as the message says.',
  },
  PreviousValuesTooLong: {
    meaning:
      'The current values of the fields are too long to record, so Snicket could not restore them.',
    action: 'Set prepare: Report, and set the fields yourself.',
  },
  ExternalAddressMismatch: {
    meaning:
      "Field spec.externalAddress is not the host of the API, so the tenant's CNI bypasses the edge.",
    action: 'Set it to the host of the API, unless the CNI should keep using that address.',
  },
  ServiceTypeNotNeeded: {
    meaning: 'The control plane has an address besides that of the edge.',
    action: 'Set the type to ClusterIP once no node and no kubeconfig uses that address.',
  },
  GatewayModeEnabled: {
    meaning:
      'Field spec.controlPlane.gateway excludes the ingress that Kamaji needs for hosts behind an edge.',
    action: 'Remove it. Snicket creates the routes on the Edge.',
  },
  AddonIngressConflict: {
    meaning: "An Ingress of Kamaji's ingress addon claims the same hosts.",
    action: 'Uninstall the addon, and then delete the Ingress.',
  },
  ProviderIngressEnabled: {
    meaning: 'The provider creates an Ingress for the hosts that Snicket routes.',
    action: 'Disable that in the object, or set prepare: Force.',
  },
  ProviderRouteRemains: {
    meaning: 'The provider did not delete a route object that claims the hosts.',
    action: 'Delete it as the message says, once the routes of the Edge exist.',
  },
  ProviderProxyEnabled: {
    meaning:
      "The provider's own proxy runs in the tenant and writes the same endpoints as Snicket.",
    action: 'Disable it in the object, and delete the objects that the message names.',
  },
  ProxySettingIgnored: {
    meaning: "A setting of the provider's own proxy has no counterpart and was ignored.",
    action: 'Set what you need in spec.worker of your own Exposure.',
  },
  IngressPortMismatch: {
    meaning: "The provider's port for its ingress is not that of the Edge.",
    action: 'Set it to the port of the Edge, or choose another Edge.',
  },
  EdgePortUnsupported: {
    meaning: 'The provider or its chart always uses port 443, but the Edge uses another.',
    action: 'Choose an Edge with port 443, or a newer version of the chart.',
  },
  KonnectivityHostMismatch: {
    meaning: 'Steward issues the konnectivity certificate for another host.',
    action: 'Set the hosts as Steward derives them.',
  },
  K0smotronProxyEnabled: {
    meaning: 'This version of k0smotron deploys its own proxy to the workers.',
    action: 'Upgrade k0smotron to 2.0 or newer.',
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
