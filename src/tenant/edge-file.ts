/**
 * The file with the addresses of the edge for `snicket proxy --edge-file`: one `HOST:PORT` per line.
 */
import type { WorkerSpec } from '../api/worker.ts';
import { canonicalAddress, familyOf } from '../kube/endpoints/endpoint-address.ts';
import { formatEdgeAddress } from '../net/edge-address.ts';

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
export function edgeFile({ worker, host, port, edgeAddresses }: EdgeFileInput): string {
  const isGiven = worker.hostAliases?.some(({ hostnames }) => hostnames.includes(host)) === true;
  const known = isGiven ? [] : edgeAddresses.filter((one) => familyOf(one) !== undefined);
  // Sorted, because a load balancer may report its addresses in any order.
  const addresses = [...new Set(known.map(canonicalAddress))].toSorted();
  const lines = addresses.length === 0 ? [host] : addresses;
  return lines.map((one) => `${formatEdgeAddress({ host: one, port })}\n`).join('');
}
