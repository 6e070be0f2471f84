/**
 * All formats, by the names that `--format` takes.
 */
import { bind } from './bind.ts';
import { cloudflare } from './cloudflare.ts';
import { coredns } from './coredns.ts';
import { dnsmasq } from './dnsmasq.ts';
import { externalDns } from './external-dns.ts';
import type { RecordFormat } from './format.ts';
import { hosts } from './hosts.ts';
import { infoblox } from './infoblox.ts';
import { route53 } from './route53.ts';
import { windows } from './windows.ts';

/** The formats. */
export const FORMATS = {
  bind,
  dnsmasq,
  coredns,
  windows,
  infoblox,
  cloudflare,
  route53,
  'external-dns': externalDns,
  hosts,
} as const satisfies Record<string, RecordFormat>;

/** The name of a format. */
export type FormatName = keyof typeof FORMATS;

/** The values of `--format`. */
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** Returns the names of the formats with this ability, for a message. */
export function formatsWith(ability: 'hasAliases' | 'hasWildcards'): string {
  return FORMAT_NAMES.filter((name) => FORMATS[name][ability]).join(', ');
}
