/**
 * The file with the addresses of the edge for `snicket proxy --edge-file`: one `HOST:PORT` per line.
 */
import type { WorkerSpec } from '../api/worker.ts';
import { canonicalAddress, familyOf } from '../kube/endpoints/endpoint-address.ts';
import { formatEdgeAddress, parseEdgeAddress } from '../net/edge-address.ts';

/** The input of {@link edgeFile}. */
export interface EdgeFileInput {
  readonly worker: Pick<WorkerSpec, 'hostAliases'>;
  /** The API host of the tenant, and the port of the edge. */
  readonly host: string;
  readonly port: number;
  /** The addresses of the Edge: IP addresses, or host names of load balancers. */
  readonly edgeAddresses: readonly string[];
}

/**
 * Returns the file with the IP addresses of the edge, so that proxies need no DNS. Contains only the API host if the
 * Edge has no IP address, which requires DNS, or if `worker.hostAliases` names the host.
 */
export function edgeFile(input: EdgeFileInput): string {
  const { host, port } = input;
  const addresses = edgeFileAddresses(input);
  const lines = addresses.length === 0 ? [host] : addresses;
  return lines.map((host) => `${formatEdgeAddress({ host, port })}\n`).join('');
}

/** Returns the IP addresses in the file. */
export function edgeFileAddresses({
  worker,
  host,
  edgeAddresses,
}: Omit<EdgeFileInput, 'port'>): readonly string[] {
  const hasAlias = worker.hostAliases?.some(({ hostnames }) => hostnames.includes(host)) === true;
  const known = hasAlias ? [] : edgeAddresses.filter((address) => familyOf(address) !== undefined);
  // Sorted, because a load balancer may report its addresses in any order.
  return [...new Set(known.map(canonicalAddress))].toSorted();
}

/** The maximum number of addresses of an Edge. */
const MAX_ADDRESSES = 16;

/** Returns the IP addresses in a file that another client may have changed; empty if one of its lines is invalid. */
export function parseEdgeFileAddresses(file: string, port: number): readonly string[] {
  const lines = file.split('\n').filter((line) => line !== '');
  const addresses = lines.flatMap((line) => addressIn(line, port) ?? []);
  const isValid = addresses.length === lines.length && lines.length <= MAX_ADDRESSES;
  return isValid ? addresses : [];
}

function addressIn(line: string, port: number): string | undefined {
  try {
    const address = parseEdgeAddress(line);
    return address.port === port && familyOf(address.host) !== undefined ? address.host : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
