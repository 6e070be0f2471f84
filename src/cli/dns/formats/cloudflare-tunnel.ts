/**
 * The configuration of cloudflared, the client of Cloudflare Tunnel.
 */
import { stringify } from 'yaml';
import { ipVersion } from '../../../wire/ip-address.ts';
import { destinationText, type Destination } from '../destination.ts';
import type { DnsEntry } from '../entries.ts';
import type { RecordFormat } from './format.ts';

/** The parent of the names of tunnels, to which CNAME records of hosts point. */
const TUNNEL_DOMAIN = 'cfargotunnel.com';

const HEAD = `# Clients connect with: cloudflared access tcp --hostname HOST --url ADDRESS:PORT
# For the CNAME records: --format cloudflare --address TUNNEL-ID.${TUNNEL_DOMAIN}
`;

/** The section `ingress` of config.yml. */
export const cloudflared: RecordFormat = {
  title: 'ingress entries of config.yml, for Cloudflare Tunnel',
  fault(entries) {
    const tunnel = entries.find(({ to }) => isTunnel(to));
    if (tunnel === undefined) return undefined;
    return {
      message: `${tunnel.name} would point to ${destinationText(tunnel.to)}, which is the tunnel itself.`,
      action: 'Remove --address, or set it to the address of the edge behind the tunnel.',
    };
  },
  text(entries) {
    // The first rule that matches applies, and the last one has to match every request.
    const isWildcard = ({ name }: DnsEntry) => name.startsWith('*.');
    const rules = [
      ...entries.filter((entry) => !isWildcard(entry)),
      ...entries.filter(isWildcard),
    ].map((entry) => ({ hostname: entry.name, service: serviceOf(entry) }));
    return `${HEAD}${stringify({ ingress: [...rules, { service: 'http_status:404' }] })}`;
  },
};

/** Reports whether records point to a tunnel. */
export function isTunnel(to: Destination): boolean {
  return to.kind === 'name' && to.host.endsWith(`.${TUNNEL_DOMAIN}`);
}

/** Returns the Edge as a TCP service, because the tunnel would end TLS of an HTTPS service. A rule has one address. */
function serviceOf({ to, port }: DnsEntry): string {
  const [host = ''] = to.kind === 'name' ? [to.host] : to.addresses;
  return `tcp://${ipVersion(host) === 6 ? `[${host}]` : host}:${port}`;
}
