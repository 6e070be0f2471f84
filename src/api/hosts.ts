/**
 * The hosts of a tenant: those in the spec of its Exposure, or generated from its name and the domain of the Edge.
 */
import type { Finding } from './finding.ts';
import type { FindingCode } from './finding-codes/catalog.ts';
import type { Exposure } from './exposure.ts';
import { mayHaveKonnectivity } from './control-plane-spec.ts';
import { hostFault, type EdgeOfHosts } from './allowed-hosts.ts';
import {
  namespaceFault,
  type EdgeOfNamespaces,
  type NamespaceLabels,
} from './allowed-namespaces.ts';
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './values/network-values.ts';

/** The hosts of one tenant. */
export interface Hosts {
  readonly api: string;
  /** Absent if the control plane has no konnectivity, or if the spec names no host and the Edge has no domain. */
  readonly konnectivity?: string | undefined;
}

/** The fields of an Exposure that determine its hosts. */
type HostsOfExposure = Pick<Exposure, 'metadata'> & {
  readonly spec: Pick<Exposure['spec'], 'hosts' | 'controlPlane'>;
};
/** The fields of an Edge that determine the hosts of its Exposures. */
type DomainOfEdge = EdgeOfNamespaces & EdgeOfHosts;

/** Reports whether a finding means that the Edge does not allow the Exposure, as opposed to an invalid Exposure. */
export function isNotAllowed({ code }: Finding): boolean {
  return ['EdgeTerminating', 'NamespaceNotAllowed', 'HostNotAllowed'].includes(code);
}

/** Returns the hosts of a tenant, or why it has none. An Exposure that the Edge does not allow claims no host. */
export function hostsOf(
  exposure: HostsOfExposure,
  edge: DomainOfEdge,
  namespaceLabels: NamespaceLabels,
): Hosts | Finding {
  const notAllowed = namespaceFault(exposure, edge, namespaceLabels);
  if (notAllowed !== undefined) return notAllowed;
  const { hosts } = exposure.spec;
  const generated = (kind: 'k8s' | 'konnectivity') =>
    generatedHost(exposure, kind, edge.spec.domain);
  const api = hosts.api ?? generated('k8s');
  // Without konnectivity, the Exposure does not claim its host, so that other Exposures can use it.
  const konnectivity = mayHaveKonnectivity(exposure.spec.controlPlane)
    ? (hosts.konnectivity ?? generated('konnectivity'))
    : undefined;

  if (api === undefined) {
    return fault(
      'HostMissing',
      `Field spec.hosts.api is not set, and Edge ${edge.metadata.name} has no domain to derive a host from.`,
      'Set spec.hosts.api, or spec.domain of the Edge.',
    );
  }
  for (const [field, host] of Object.entries({ api, konnectivity })) {
    const tooLong = host === undefined ? undefined : lengthFault(host);
    if (tooLong !== undefined) {
      return fault('FieldInvalid', tooLong, `Set spec.hosts.${field} to a shorter host.`);
    }
  }
  if (api === konnectivity) {
    return fault(
      'FieldInvalid',
      `Host ${api} would be used for both the API and konnectivity, but the edge routes by host.`,
      'Set spec.hosts.konnectivity to another host.',
    );
  }
  const refused =
    hostFault(api, edge) ??
    (konnectivity === undefined ? undefined : hostFault(konnectivity, edge));
  if (refused !== undefined) return refused;
  return konnectivity === undefined ? { api } : { api, konnectivity };
}

function generatedHost(
  { metadata: { namespace, name } }: HostsOfExposure,
  kind: 'k8s' | 'konnectivity',
  domain: string | undefined,
): string | undefined {
  return domain === undefined ? undefined : `${namespace}-${name}.${kind}.${domain}`;
}

function lengthFault(host: string): string | undefined {
  const label = host.split('.').find(({ length }) => length > MAX_LABEL_LENGTH);
  if (label !== undefined) {
    return `Label ${label} in host ${host} has ${label.length} characters, but DNS allows at most ${MAX_LABEL_LENGTH}.`;
  }
  if (host.length <= MAX_NAME_LENGTH) return undefined;
  return `Host ${host} has ${host.length} characters, but DNS allows at most ${MAX_NAME_LENGTH}.`;
}

function fault(code: FindingCode, message: string, action: string): Finding {
  return { code, severity: 'error', message, action };
}
