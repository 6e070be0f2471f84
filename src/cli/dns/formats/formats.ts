/**
 * All formats, by the names that `--format` takes.
 */
import { coredns, dnsmasq, hosts } from './configuration-files.ts';
import { cloudflared } from './cloudflare-tunnel.ts';
import type { RecordFormat } from './format.ts';
import { externalDns, infoblox, route53, windows } from './service-imports.ts';
import { bind, cloudflare } from './zone-file.ts';

const ALL = {
  bind,
  dnsmasq,
  coredns,
  windows,
  infoblox,
  cloudflare,
  cloudflared,
  route53,
  'external-dns': externalDns,
  hosts,
};

/** The name of a format. */
export type FormatName = keyof typeof ALL;

/** The formats. */
export const FORMATS: Readonly<Record<FormatName, RecordFormat>> = ALL;

/** The values of `--format`. */
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** Returns the names of the formats with this ability, for a message. */
export function formatsWith(ability: 'hasAliases' | 'hasWildcards'): string {
  return FORMAT_NAMES.filter((name) => FORMATS[name][ability] !== false).join(', ');
}
