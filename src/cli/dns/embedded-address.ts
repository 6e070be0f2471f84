/**
 * Names below nip.io and sslip.io. They contain the address that they resolve to, so that they need no record.
 */
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import { ipVersion } from '../../wire/ip-address.ts';

const SERVICES = ['nip.io', 'sslip.io'] as const;

const NUMBER = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const HEX = /(?:^|[.-])([0-9a-f]{8})(?=$|[.-])/;

/** What a nip.io or sslip.io name contains. */
interface EmbeddedAddress {
  /** `sslip.io`. */
  readonly service: string;
  /** At most one per address family. Empty if the name contains no address, and so does not resolve. */
  readonly addresses: readonly string[];
}

/** Returns what such a name contains; undefined for any other name. */
export function embeddedAddress(host: string): EmbeddedAddress | undefined {
  const service = SERVICES.find((one) => host.endsWith(`.${one}`));
  if (service === undefined) return undefined;
  const text = host.slice(0, -service.length - 1);
  const addresses = [addressV4In(text), addressV6In(text)].flatMap((address) => address ?? []);
  return { service, addresses };
}

/** Prefers an address with dashes over one with dots, as these services do. */
function addressV4In(text: string): string | undefined {
  for (const separator of ['-', '.']) {
    const four = Array.from({ length: 4 }, () => NUMBER).join(`\\${separator}`);
    const found = new RegExp(`(?:^|[.-])(${four})(?=$|[.-])`).exec(text)?.[1];
    if (found !== undefined) return found.replaceAll(separator, '.');
  }
  return hexAddressIn(text);
}

/** `2001-db8--10`: dashes for colons, and a whole label. */
function addressV6In(text: string): string | undefined {
  const found = text
    .split('.')
    .map((label) => label.replaceAll('-', ':'))
    .find((label) => ipVersion(label) === 6);
  return found && canonicalAddress(found);
}

/** `cb00710a` is 203.0.113.10. */
function hexAddressIn(text: string): string | undefined {
  const found = HEX.exec(text)?.[1];
  return found && Buffer.from(found, 'hex').join('.');
}
