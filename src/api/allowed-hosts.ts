/**
 * The hosts that Exposures may claim on an Edge.
 */
import type { Edge } from './edge.ts';
import type { Finding } from './finding.ts';

/** The fields of an Edge that decide which hosts it allows. */
export type EdgeOfHosts = Pick<Edge, 'metadata'> & {
  readonly spec: Pick<Edge['spec'], 'allowedHosts' | 'domain'>;
};

/** Returns the host patterns that the Edge allows; undefined if Exposures may claim any host. */
function allowedHostsOf({ spec }: EdgeOfHosts): readonly string[] | undefined {
  return spec.allowedHosts ?? (spec.domain === undefined ? undefined : [`*.${spec.domain}`]);
}

/**
 * Reports whether a pattern covers a host, with the semantics of Gateway API hostnames: `*.example.com` covers names of
 * any depth below example.com, but not example.com itself.
 */
function coversHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** The number of patterns that a message lists before it abbreviates. */
const MOST_NAMED = 5;

/** Returns why an Edge does not allow a host. CEL validation cannot check this: the Edge is another object. */
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
    message: `Edge ${edge.metadata.name} does not allow host ${host}, only ${named}${more > 0 ? ` and ${more} more` : ''}.`,
    action: 'Choose another host in spec.hosts, or add it to spec.allowedHosts of the Edge.',
  };
}
