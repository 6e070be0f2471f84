/**
 * The file with the addresses of the edge, as `snicket proxy --edge-file` reads it: one `HOST:PORT` per line.
 */
import type { WorkerSpec } from '../api/worker.ts';
import { canonicalAddress, familyOf } from '../kube/endpoints/endpoint-address.ts';
import { formatEdgeAddress } from '../net/edge-address.ts';

/** What the file is made from. */
export interface EdgeFileInput {
  readonly worker: Pick<WorkerSpec, 'hostAliases'>;
  /** The tenant's API host, and the port of the edge. */
  readonly host: string;
  readonly port: number;
  /** Of the Edge: IP addresses, or names of load balancers. */
  readonly edgeAddresses: readonly string[];
}

/**
 * The IP addresses of the edge, so that proxies need no DNS. The host alone if the Edge has no IP address, which leaves it to
 * DNS, or if `worker.hostAliases` names the host.
 */
export function edgeFile({ worker, host, port, edgeAddresses }: EdgeFileInput): string {
  const isGiven = worker.hostAliases?.some(({ hostnames }) => hostnames.includes(host)) === true;
  const known = isGiven ? [] : edgeAddresses.filter((one) => familyOf(one) !== undefined);
  // Sorted: a load balancer may report its addresses in any order.
  const addresses = [...new Set(known.map(canonicalAddress))].toSorted();
  const lines = addresses.length === 0 ? [host] : addresses;
  return lines.map((one) => `${formatEdgeAddress({ host: one, port })}\n`).join('');
}
