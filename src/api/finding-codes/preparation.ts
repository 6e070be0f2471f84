/**
 * Findings about the fields that providers' objects require behind an edge.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const PREPARATION_FINDINGS = {
  PreparationWanted: {
    meaning: 'with prepare: Report, the object lacks what it needs to be behind the edge',
    action: 'put the fields that are named there yourself, or write prepare: Patch',
  },
  FieldConflict: {
    meaning: 'somebody else owns a field that has to change, so nothing was written',
    action: 'let its owner write the value, or write prepare: Force',
  },
  PreparationRefused: {
    meaning: 'the API server, or a webhook of the provider, refuses what was to be written',
    action: 'correct what it says, in the object or in the Exposure',
  },
  PreparationForbidden: {
    meaning: "Snicket's operator may not write the object",
    action: 'give its ClusterRole the verb patch there, or write prepare: Report',
  },
  PreparationNotKept: {
    meaning: 'the object was written, and does not have what was written: a webhook changes it',
    action: 'put the fields there yourself',
  },
  PreparationContested: {
    meaning: 'somebody undoes what Snicket writes into the object',
    action: "put the fields where the other has its own, or end the other's writing",
  },
  PreparationBusy: {
    meaning: 'others write the object so often that Snicket did not get to it',
    action: 'nothing has to be done; it tries again',
  },
  PreparedForAnother: {
    meaning: 'the control plane is prepared for another Exposure, and has one pair of hosts',
    action: 'delete one of the two Exposures',
  },
  PreparationRecordUnreadable: {
    meaning: 'the record of the previous values of the fields is not one that Snicket writes',
    action: 'check that the fields are as you want them, and remove the annotation that is named',
  },
  PreparationRecordNewer: {
    meaning: 'a newer version of Snicket wrote the record of the previous values of the fields',
    action: 'run that version of Snicket, or a newer one',
  },
  ListTooLong: {
    meaning: 'a list that needs an entry of Snicket has more than 1,000 already',
    action: 'take out what is not needed there',
  },
  FieldTypeWrong: {
    meaning: 'where fields are to be written there is something of another type',
    action: 'write a mapping, a list or a scalar there, as the message says, or remove it',
  },
  EntryRepeated: {
    meaning:
      'a flag, or another entry of a list of which one alone can be in force, is there more than once',
    action: 'leave one of them there',
  },
  FlagValueSeparate: {
    meaning: 'a flag that has to change and its value are two entries of a list',
    action: 'write them as one entry, with an equals sign between them',
  },
  FormerValuesTooLong: {
    meaning: 'what the fields hold is too long to be kept, so it could not be restored',
    action: 'write prepare: Report, and put the fields there yourself',
  },
  AddressExpected: {
    meaning: 'a field that has to be an IP address is none, so no certificate can be made',
    action: 'write an IP address there, or remove the field',
  },
  CertificateNameWithPort: {
    meaning: 'a name for the certificate has a port',
    action: 'write the name without it',
  },
  ExternalAddressOther: {
    meaning:
      "spec.externalAddress is not the host of the API, so the tenant's CNI goes past the edge",
    action: 'write the host of the API there, unless that address is to stay',
  },
  ServiceTypeNotNeeded: {
    meaning: 'the control plane has an address of its own beside that of the edge',
    action: 'write ClusterIP once nobody uses that address',
  },
  GatewayModeSet: {
    meaning:
      'spec.controlPlane.gateway excludes the ingress that Kamaji needs for hosts behind an edge',
    action: 'remove it; the edge makes the routes',
  },
  AddonIngressPresent: {
    meaning: "an Ingress of Kamaji's ingress addon claims the same hosts",
    action: 'uninstall the addon, and delete what it leaves',
  },
  ProviderMakesIngress: {
    meaning: 'the provider makes an Ingress for the hosts that Snicket routes',
    action: 'switch that off in the object, or write prepare: Force',
  },
  ProviderIngressLeft: {
    meaning: 'the provider has left an Ingress that claims the hosts',
    action: 'delete it, as the message says',
  },
  ProviderMakesProxy: {
    meaning: "the provider's own proxy runs in the tenant, and writes the same endpoints",
    action: 'switch it off in the object',
  },
  ProxyWordLeftOut: {
    meaning: "a setting of the provider's own proxy has no counterpart, and was left out",
    action: 'write what you need into spec.worker of an Exposure of your own',
  },
  IngressPortDiffers: {
    meaning: "the provider's port for its ingress is not that of the Edge",
    action: 'write the port of the Edge there, or choose another Edge',
  },
  StewardPortFixed: {
    meaning: 'Steward writes port 443 everywhere, and the Edge has another',
    action: 'choose an Edge with port 443',
  },
  StewardHostFixed: {
    meaning: 'Steward makes the certificate of konnectivity for another host',
    action: 'write the hosts as Steward makes them',
  },
  StewardProxyOn: {
    meaning: "Steward's proxy writes the endpoints of the tenant, and so would Snicket's",
    action: 'remove spec.addons.tcpProxy, and what the message names',
  },
  StewardRouteStays: {
    meaning: 'Steward has left a route that claims the host of the API',
    action: 'delete it, as the message says',
  },
  K0smotronProxyStays: {
    meaning: 'this version of k0smotron brings its own proxy to the workers',
    action: 'update k0smotron to 2.0 or newer',
  },
  K0smotronIngressStays: {
    meaning: 'k0smotron has left its Ingress behind',
    action: 'delete it once the routes of the Edge are there',
  },
  TemplateHasNoValues: {
    meaning: "k0rdent's chart has no values for an ingress, so the control plane itself is written",
    action: 'give the chart such values: snicket render --values shows them',
  },
  ChartPortFixed: {
    meaning: 'the chart writes port 443 everywhere, and the Edge has another',
    action: 'choose an Edge with port 443, or a newer version of the chart',
  },
  PatchesLostByHelm: {
    meaning: 'an upgrade of the chart takes away what Snicket writes, for a moment',
    action: 'nothing has to be done',
  },
} as const satisfies Record<string, FindingEntry>;
