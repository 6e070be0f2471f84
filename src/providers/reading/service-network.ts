/**
 * The Service network of a tenant, from its provider's object.
 */
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import { ipBytes } from '../../wire/ip-address.ts';

const NETWORK = /^(?<base>[^/]+)\/(?<length>\d{1,3})$/;

/** Returns the address of Service `default/kubernetes`, the first one of the network. Undefined for an invalid CIDR. */
export function kubernetesAddress(network: string): string | undefined {
  const { base = '', length = '' } = NETWORK.exec(network)?.groups ?? {};
  const bytes = ipBytes(base);
  const bits = Number(length);
  if (bytes === undefined || bits > bytes.length * 8) return undefined;
  const first = bytes.map((byte, index) => byte & maskAt(bits - index * 8));
  first[first.length - 1] = (first.at(-1) ?? 0) | 1;
  if (first.length === 4) return first.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((first[2 * index] ?? 0) << 8) | (first[2 * index + 1] ?? 0)).toString(16),
  );
  return canonicalAddress(groups.join(':'));
}

/** Returns the mask of a byte whose first `bits` bits belong to the network. */
function maskAt(bits: number): number {
  return (0xff << (8 - Math.min(8, Math.max(0, bits)))) & 0xff;
}
