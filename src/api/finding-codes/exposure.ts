/**
 * Findings about the desired state: the Exposure, its Edge and its hosts.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const EXPOSURE_FINDINGS = {
  FieldInvalid: {
    meaning:
      "A field of an Edge, of an Exposure or of the provider's object is missing, does not match its schema, or has a value that Snicket cannot use, extend or restore.",
    action: 'Correct the named field as the message says.',
  },
  EdgeNotFound: {
    meaning:
      'The Edge that an Exposure or an annotation names does not exist, or none is named and no Edge is the default.',
    action:
      'Create the Edge, correct spec.edgeRef, or annotate an Edge with snicket.dev/is-default: "true".',
  },
  DefaultEdgeInvalid: {
    meaning:
      'The annotation snicket.dev/is-default of an Edge is neither "true" nor "false", or several Edges have it. An Exposure keeps the default Edge that it uses, and a new one uses the oldest.',
    action: 'Set the annotation to "true" on one Edge, and remove it from the others.',
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
    meaning: 'No host is set for the API, or for the konnectivity of a control plane that has it.',
    action: 'Set spec.hosts of the Exposure, or spec.domain of the Edge.',
  },
  HostMismatch: {
    meaning:
      'A host is not the one that something else derives or expects: Steward for the konnectivity certificate, spec.externalAddress for the CNI, or a DNS service such as sslip.io, whose names contain an address.',
    action:
      'Set the host that the message names, in spec.hosts, in spec.domain of the Edge, or in the object.',
  },
  OptionNotSupported: {
    meaning:
      "The driver of the Edge, or the tenant's version, does not support an option of the Exposure.",
    action: 'Remove the option, choose another Edge, or upgrade the tenant.',
  },
  NameConflict: {
    meaning:
      'An object that Snicket did not create, or another Exposure, has a name that Snicket needs.',
    action: 'Delete or rename it, or choose another name.',
  },
  AnnotationIgnored: {
    meaning:
      'A control plane requests an Exposure by annotation, but the request is invalid or the Edge ignores annotations.',
    action:
      'Correct the annotation or the object, create the Exposure yourself, or set spec.annotations of the Edge to Allowed.',
  },
  NotReconciled: {
    meaning:
      'The operator has not reconciled the latest change yet: the status of the Exposure is outdated, or an object that the operator writes is missing or not as planned.',
    action:
      "Wait a moment. If this persists, check that Snicket's operator runs and is allowed to write the object.",
  },
} as const satisfies Record<string, FindingEntry>;
