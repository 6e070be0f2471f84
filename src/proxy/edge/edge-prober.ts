/**
 * Probes the addresses of the edge. A successful probe ends the back-off of an address. A failed probe does not start
 * a back-off: an API server with slow handshakes must not cause resets of pods whose dials succeed.
 */
import type { Socket } from 'bun';
import { addressPair } from '../../wire/address-pair.ts';
import { MAX_TENANT_HEADER_BYTES, signTenantHeader } from '../../wire/tenant-header.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { EdgeLoadBalancer } from './edge-load-balancer.ts';
import { probeEdge, type ProbeResult } from './edge-probe.ts';

/** Options of {@link EdgeProber}. */
export interface EdgeProberOptions {
  readonly loadBalancer: EdgeLoadBalancer;
  readonly serverName: string;
  /** Returns the current authorities as PEM. */
  readonly authorities: () => string;
  /** Returns the current key. Undefined if connections do not begin with a signed header. */
  readonly tenantKey: (() => TenantKey) | undefined;
  readonly timeoutMs: number;
  /** Returns why there is no address to dial, as a message. */
  readonly noAddress: () => string;
}

/** Probes one address after the other. */
export class EdgeProber {
  readonly #options: EdgeProberOptions;
  #next = 0;

  constructor(options: EdgeProberOptions) {
    this.#options = options;
  }

  /** Probes the edge. It is up if one of its addresses is. Each call starts with another address. */
  async probe(): Promise<ProbeResult> {
    const { loadBalancer, serverName, authorities, tenantKey, timeoutMs, noAddress } =
      this.#options;
    const all = loadBalancer.all();
    const first = this.#next++;
    const preface = tenantKey && ((socket: Socket<unknown>) => signedHeader(tenantKey(), socket));
    let last: ProbeResult = {
      isUp: false,
      code: 'edge_down',
      message: `edge_down: ${noAddress()}`,
    };
    for (let step = 0; step < all.length; step++) {
      const endpoint = all[(first + step) % all.length];
      if (endpoint === undefined) break;
      const options = { endpoint, serverName, authorities: authorities(), preface, timeoutMs };
      last = await probeEdge(options);
      if (last.isUp) {
        loadBalancer.succeeded(endpoint);
        return last;
      }
    }
    return last;
  }
}

/** The addresses of a socket. Bun's types omit `undefined`: a socket may be reset before Bun reports it as open. */
interface SocketAddresses {
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
}

/** Returns a signed header like that of a pod's connection. Undefined if the connection is already closed. */
function signedHeader(key: TenantKey, socket: SocketAddresses): Uint8Array | undefined {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (localAddress === undefined || localPort === undefined) return undefined;
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  const addresses = addressPair(localAddress, localPort, remoteAddress, remotePort);
  const header = Buffer.alloc(MAX_TENANT_HEADER_BYTES);
  return header.subarray(0, signTenantHeader(header, 0, key, addresses, Date.now() / 1000));
}
