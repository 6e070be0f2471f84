/**
 * Zone files (RFC 1035). All names are absolute, so that they are correct below any $ORIGIN.
 */
import type { DnsEntry } from '../entries.ts';
import { isTunnel } from './cloudflare-tunnel.ts';
import { recordsIn, sections, type FormatOptions, type RecordFormat } from './format.ts';

/** The zone file format of BIND and others. */
export const bind: RecordFormat = {
  title: 'a zone file of BIND, NSD, Knot or PowerDNS',
  text: zoneLines,
};

/** Limits of Cloudflare's import: https://developers.cloudflare.com/dns/manage-dns-records/how-to/import-and-export. */
const MAX_BYTES = 256 * 1024;
const TTL_SECONDS = { least: 60, most: 86_400 } as const;

/** Cloudflare's proxy terminates TLS, so that clients could not reach any tenant. */
const HEAD =
  '; Import with "Proxy imported DNS records" switched off, or by the API with proxied=false:\n; Cloudflare\'s proxy would end TLS itself.\n';

/** Records of a tunnel work only through the proxy. */
const TUNNEL_HEAD =
  '; Import with "Proxy imported DNS records" switched on, or by the API with proxied=true:\n; Tunnels require Cloudflare\'s proxy.\n';

/** The import format of Cloudflare. */
export const cloudflare: RecordFormat = {
  title: "a file for Cloudflare's import",
  fault(entries, options) {
    const { ttlSeconds } = options;
    const { least, most } = TTL_SECONDS;
    if (ttlSeconds < least || ttlSeconds > most) {
      return {
        message: `Cloudflare accepts a TTL from ${least} to ${most}, but --ttl is ${ttlSeconds}.`,
        action: 'Set another TTL.',
      };
    }
    const { length } = this.text(entries, options);
    if (length <= MAX_BYTES) return undefined;
    return {
      message: `Cloudflare imports at most ${MAX_BYTES} bytes at once, but there are ${length}.`,
      action: 'Name fewer Exposures, or use --wildcard.',
    };
  },
  text: (entries, options) =>
    `${entries.every(({ to }) => isTunnel(to)) ? TUNNEL_HEAD : HEAD}${zoneLines(entries, options)}`,
};

function zoneLines(entries: readonly DnsEntry[], { ttlSeconds }: FormatOptions): string {
  const width = Math.max(...entries.map(({ name }) => name.length)) + 1;
  return sections(';', entries, (entry) =>
    recordsIn(entry).map(
      ({ type, data }) =>
        `${`${entry.name}.`.padEnd(width)} ${ttlSeconds} IN ${type.padEnd(5)} ${data}`,
    ),
  );
}
