/**
 * The hosts that Exposures may claim on an Edge.
 */
import type { Edge } from './edge.ts';
import type { Finding } from './finding.ts';

/** The part of the Edge that decides. */
export type EdgeOfHosts = Pick<Edge, 'metadata'> & {
  readonly spec: Pick<Edge['spec'], 'allowedHosts' | 'domain'>;
};

/** The patterns in force; undefined: Exposures may claim any host. */
export function allowedHostsOf({ spec }: EdgeOfHosts): readonly string[] | undefined {
  return spec.allowedHosts ?? (spec.domain === undefined ? undefined : [`*.${spec.domain}`]);
}

/**
 * Whether a pattern covers a host, as for hostnames of the Gateway API: `*.example.com` covers names of any depth below
 * example.com, and not example.com itself.
 */
export function coversHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** As many patterns as a sentence names. */
const MOST_NAMED = 5;

/** Why an Edge does not allow a host. The API server cannot check it: the Edge is another object. */
export function hostFault(host: string, edge: EdgeOfHosts): Finding | undefined {
  const patterns = allowedHostsOf(edge);
  if (patterns === undefined || patterns.some((pattern) => coversHost(pattern, host))) {
    return undefined;
  }
  const more = patterns.length - MOST_NAMED;
  const named = patterns.slice(0, MOST_NAMED).join(', ');
  return {
    code: 'HostNotAllowed',
    severity: 'error',
    message: `Edge ${edge.metadata.name} does not allow the host ${host}, only ${named}${more > 0 ? ` and ${more} more` : ''}`,
    action: 'choose another host in spec.hosts, or add it to spec.allowedHosts of the Edge',
  };
}
