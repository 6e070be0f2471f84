/** A zone file for Cloudflare: https://developers.cloudflare.com/dns/manage-dns-records/how-to/import-and-export. */
import type { RecordFormat } from './format.ts';
import { zoneLines } from './bind.ts';

const MAX_BYTES = 256 * 1024;
/** Limits of a TTL, in seconds. */
const TTL = { least: 60, most: 86_400 } as const;

/** Cloudflare's proxy terminates TLS, so that clients could not reach any tenant. */
const HEAD =
  '; Import with "Proxy imported DNS records" switched off, or by the API with proxied=false:\n; Cloudflare\'s proxy would end TLS itself.\n';

/** The import format of Cloudflare. */
export const cloudflare: RecordFormat = {
  title: "a file for Cloudflare's import",
  hasAliases: true,
  hasWildcards: true,
  fault(entries, options) {
    const { ttlSeconds } = options;
    if (ttlSeconds < TTL.least || ttlSeconds > TTL.most) {
      return {
        message: `Cloudflare accepts a TTL from ${TTL.least} to ${TTL.most}, but --ttl is ${ttlSeconds}.`,
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
  text: (entries, options) => `${HEAD}${zoneLines(entries, options)}`,
};
