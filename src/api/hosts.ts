/**
 * The hosts by which an edge knows a tenant: as its Exposure names them, or made from its name and the Edge's domain.
 */
import type { Finding } from './finding.ts';
import type { FindingCode } from './finding-codes/catalogue.ts';
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
  /** Absent: there is no konnectivity, or none was named, and there is no domain to make one from. */
  readonly konnectivity?: string | undefined;
}

/** What the hosts are read from. */
export type HostsOfExposure = Pick<Exposure, 'metadata'> & {
  readonly spec: Pick<Exposure['spec'], 'hosts' | 'controlPlane'>;
};
/** The same of the Edge. */
export type DomainOfEdge = EdgeOfNamespaces & EdgeOfHosts;

/** Whether the Edge does not allow the Exposure, rather than the Exposure being in error. */
export function isNotAllowed({ code }: Finding): boolean {
  return ['EdgeTerminating', 'NamespaceNotAllowed', 'HostNotAllowed'].includes(code);
}

/** The hosts of a tenant behind an edge, or why there are none. An Exposure that is not allowed claims no host. */
export function hostsOf(
  exposure: HostsOfExposure,
  edge: DomainOfEdge,
  namespaceLabels: NamespaceLabels,
): Hosts | Finding {
  const notAllowed = namespaceFault(exposure, edge, namespaceLabels);
  if (notAllowed !== undefined) return notAllowed;
  const { hosts } = exposure.spec;
  const made = (kind: 'k8s' | 'konnectivity') => madeHost(exposure, kind, edge.spec.domain);
  const api = hosts.api ?? made('k8s');
  // A host that leads nowhere is claimed by nobody: else others could hold it against the tenant.
  const konnectivity = mayHaveKonnectivity(exposure.spec.controlPlane)
    ? (hosts.konnectivity ?? made('konnectivity'))
    : undefined;

  if (api === undefined) {
    return fault(
      'HostMissing',
      `spec.hosts.api is not set, and Edge ${edge.metadata.name} has no domain to make a host from`,
      'write spec.hosts.api, or spec.domain of the Edge',
    );
  }
  for (const [field, host] of Object.entries({ api, konnectivity })) {
    const tooLong = host === undefined ? undefined : lengthFault(host);
    if (tooLong !== undefined) {
      return fault('HostTooLong', tooLong, `write a shorter one as spec.hosts.${field}`);
    }
  }
  if (api === konnectivity) {
    return fault(
      'HostsEqual',
      `${api} would be the host of the API and of konnectivity, and the edge tells them apart by name`,
      'write another one as spec.hosts.konnectivity',
    );
  }
  const refused =
    hostFault(api, edge) ??
    (konnectivity === undefined ? undefined : hostFault(konnectivity, edge));
  if (refused !== undefined) return refused;
  return konnectivity === undefined ? { api } : { api, konnectivity };
}

function madeHost(
  { metadata: { namespace, name } }: HostsOfExposure,
  kind: 'k8s' | 'konnectivity',
  domain: string | undefined,
): string | undefined {
  return domain === undefined ? undefined : `${namespace}-${name}.${kind}.${domain}`;
}

function lengthFault(host: string): string | undefined {
  const label = host.split('.').find(({ length }) => length > MAX_LABEL_LENGTH);
  if (label !== undefined) {
    return `${label} in the host ${host} has ${label.length} characters, and DNS takes ${MAX_LABEL_LENGTH} between two dots`;
  }
  if (host.length <= MAX_NAME_LENGTH) return undefined;
  return `the host ${host} has ${host.length} characters, and DNS takes ${MAX_NAME_LENGTH}`;
}

function fault(code: FindingCode, message: string, action: string): Finding {
  return { code, severity: 'error', message, action };
}
