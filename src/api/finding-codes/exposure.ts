/**
 * Findings about the desired state: the Exposure, its Edge and its hosts.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const EXPOSURE_FINDINGS = {
  InvalidObject: {
    meaning: 'An Edge or an Exposure does not match its schema.',
    action: 'Correct the named field.',
  },
  EdgeNotFound: {
    meaning: 'The Edge that an Exposure or an annotation names does not exist.',
    action: 'Create the Edge, or correct the name.',
  },
  NoDefaultEdge: {
    meaning: 'The Exposure names no Edge, and no Edge is the default.',
    action: 'Set spec.edgeRef, or annotate an Edge with snicket.dev/is-default: "true".',
  },
  MultipleDefaultEdges: {
    meaning:
      'Several Edges are annotated as default. An Exposure keeps the one that it uses, and a new one uses the oldest.',
    action: 'Remove the annotation from all but one.',
  },
  DefaultEdgeInvalid: {
    meaning: 'The annotation snicket.dev/is-default of an Edge is neither "true" nor "false".',
    action: 'Set the annotation to "true", or remove it.',
  },
  EdgeTerminating: {
    meaning:
      'The Edge is being deleted. It serves the Exposures that use it and accepts no new ones.',
    action: 'Delete these Exposures, or set their spec.edgeRef to another Edge.',
  },
  NamespaceNotAllowed: {
    meaning: 'The Edge does not allow Exposures in this namespace.',
    action:
      'Label the namespace to match spec.allowedNamespaces of the Edge, change that field, or choose another Edge.',
  },
  HostNotAllowed: {
    meaning: 'The Edge does not allow a host of the Exposure.',
    action: 'Choose another host in spec.hosts, or add it to spec.allowedHosts of the Edge.',
  },
  HostConflict: {
    meaning: 'Another Exposure already uses the host.',
    action: 'Choose another host or delete the other Exposure.',
  },
  HostMissing: {
    meaning: 'No host is set for the API.',
    action: 'Set spec.hosts.api, or spec.domain of the Edge.',
  },
  HostInvalid: {
    meaning: 'A host is too long for DNS, includes a port, or is an IP address.',
    action: 'Set a DNS name in spec.hosts. The port is that of the Edge.',
  },
  HostsEqual: {
    meaning: 'The API and konnectivity would have the same host, but the edge routes by host.',
    action: 'Set spec.hosts.konnectivity to another host.',
  },
  KonnectivityHostMissing: {
    meaning: 'The control plane has konnectivity, but no host is set for it.',
    action: 'Set spec.hosts.konnectivity, or spec.domain of the Edge.',
  },
  ModeNotSupported: {
    meaning: 'Mode Passthrough requires an Edge with driver snicket.',
    action: 'Set worker.mode to Terminate, remove it, or choose an Edge with driver snicket.',
  },
  EndpointInvalid: {
    meaning:
      'An address in spec.controlPlane.endpoints is the edge itself, or a Service cannot have it as an endpoint.',
    action:
      "Set the addresses at which the tenant's own servers listen, and that pods of the management cluster can dial.",
  },
  VirtualAddressInvalid: {
    meaning:
      "Field worker.virtualAddresses has no address of the family of the tenant's kubernetes Service.",
    action: 'Add an address of that family that is not used elsewhere in the tenant.',
  },
  InjectionUnsupported: {
    meaning: 'Option worker.directInjection requires Kubernetes 1.36, but the tenant is older.',
    action: 'Upgrade the tenant, or remove worker.directInjection.',
  },
  NameConflict: {
    meaning: 'An object that Snicket did not create has a name that Snicket needs.',
    action: 'Delete or rename it, or choose another name for the Exposure.',
  },
  ExposureNameConflict: {
    meaning:
      'A control plane requests an Exposure by annotation, but another Exposure has its name.',
    action: 'Remove the annotation, or delete that Exposure.',
  },
  AnnotationIgnored: {
    meaning:
      'A control plane requests an Exposure by annotation, but the Edge ignores annotations.',
    action: 'Create the Exposure yourself, or set spec.annotations of the Edge to Allowed.',
  },
  AnnotationInvalid: {
    meaning: 'A control plane requests an invalid Exposure by annotation.',
    action: 'Correct the annotation or the object, or create the Exposure yourself.',
  },
  NotReconciled: {
    meaning:
      'The operator has not reconciled the latest change yet: the status of the Exposure is outdated, or an object that the operator writes is missing or not as planned.',
    action:
      "Wait a moment. If this persists, check that Snicket's operator runs and is allowed to write the object.",
  },
} as const satisfies Record<string, FindingEntry>;
