/**
 * Findings about the desired state: the Exposure, its Edge and its hosts.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const EXPOSURE_FINDINGS = {
  InvalidObject: {
    meaning: 'an Edge or an Exposure is not as its schema wants it',
    action: 'correct the field that is named',
  },
  EdgeNotFound: {
    meaning: 'there is no Edge of the name that an Exposure, or an annotation, has',
    action: 'create the Edge, or correct the name',
  },
  NoDefaultEdge: {
    meaning: 'an Exposure names no Edge, and none is the default one',
    action: 'set spec.edgeRef, or annotate an Edge with snicket.dev/is-default: "true"',
  },
  SeveralDefaultEdges: {
    meaning:
      'more than one Edge is the default; an Exposure stays on the one that it uses, and a new one uses the oldest',
    action: 'take the annotation off all but one',
  },
  DefaultEdgeUnclear: {
    meaning: 'the annotation snicket.dev/is-default of an Edge is neither "true" nor "false"',
    action: 'write "true", or take the annotation off',
  },
  EdgeTerminating: {
    meaning:
      'the Edge is being deleted: it serves the Exposures that use it and accepts no new ones',
    action: 'delete these Exposures, or set their spec.edgeRef to another Edge',
  },
  NamespaceNotAllowed: {
    meaning: 'the Edge does not allow Exposures in this namespace',
    action:
      'label the namespace to match spec.allowedNamespaces of the Edge, change that field, or choose another Edge',
  },
  HostNotAllowed: {
    meaning: 'the Edge does not allow a host of the Exposure',
    action: 'choose another host in spec.hosts, or add it to spec.allowedHosts of the Edge',
  },
  HostConflict: {
    meaning: 'a host belongs to another Exposure, which had it first',
    action: 'choose another host, or delete the other Exposure',
  },
  HostMissing: {
    meaning: 'nothing says what the host of the API is',
    action: 'write spec.hosts.api, or spec.domain of the Edge',
  },
  HostTooLong: {
    meaning: 'a host is longer than DNS takes it',
    action: 'write a shorter one in spec.hosts',
  },
  HostsEqual: {
    meaning: 'the API and konnectivity would have one host, and the edge tells them apart by name',
    action: 'write another one as spec.hosts.konnectivity',
  },
  HostWithPort: {
    meaning: 'a host has a port, and certificates and routes have none',
    action: 'write the host without it; the port is that of the Edge',
  },
  HostIsAddress: {
    meaning: 'a host is an address, and a ClientHello names no addresses',
    action: 'write a DNS name in spec.hosts',
  },
  KonnectivityHostMissing: {
    meaning: 'the control plane has konnectivity, and there is no host for it',
    action: 'write spec.hosts.konnectivity, or spec.domain of the Edge',
  },
  ModeNotSupported: {
    meaning: "worker.mode is Passthrough, and the Edge is not Snicket's own gateway",
    action: 'write mode Terminate, leave it out, or choose an Edge with driver snicket',
  },
  EndpointIsEdge: {
    meaning: 'an address in spec.controlPlane.endpoints is the edge itself',
    action: "write where the tenant's own servers listen",
  },
  EndpointUnusable: {
    meaning: 'no Service can lead to an address in spec.controlPlane.endpoints',
    action: 'write an address that pods of the management cluster can dial',
  },
  VirtualAddressUnusable: {
    meaning:
      "worker.virtualAddresses has no address of the family of the tenant's kubernetes Service",
    action: 'write one that nothing else uses there',
  },
  InjectionUnsupported: {
    meaning: 'worker.directInjection needs Kubernetes 1.36, and the tenant is older',
    action: 'upgrade the tenant, or remove worker.directInjection',
  },
  NameTaken: {
    meaning: 'an object that Snicket did not make has a name that Snicket needs',
    action: 'remove or rename it, or give the Exposure another name',
  },
  ExposureTaken: {
    meaning: 'a control plane asks for an Exposure, and somebody else has made one of that name',
    action: 'remove the annotation, or delete that Exposure',
  },
  AnnotationIgnored: {
    meaning:
      'a control plane asks for an Exposure by an annotation, and the Edge ignores annotations',
    action: 'create the Exposure yourself, or set spec.annotations of the Edge to Allowed',
  },
  AnnotationInvalid: {
    meaning: 'a control plane asks for an Exposure that cannot be',
    action: 'correct the annotation or the object, or write the Exposure yourself',
  },
  OperatorBehind: {
    meaning: 'the operator has not looked at the Exposure as it is now, so its status is outdated',
    action: "wait a moment; if it stays, see that Snicket's operator runs",
  },
  ExposureNotMade: {
    meaning: 'a control plane asks for an Exposure, and has none',
    action: "wait a moment; if there is none then, see that Snicket's operator runs",
  },
} as const satisfies Record<string, FindingEntry>;
