/** For tests only: PROXY headers that come before a hello. */
import { addressPair } from '../../wire/address-pair.ts';
import { proxyHeaderBytes, writeProxyHeader } from '../../wire/proxy-header.ts';
import { MAX_TENANT_HEADER_BYTES, signTenantHeader } from '../../wire/tenant-header.ts';
import { deriveTenantSecret, tenantKey } from '../../wire/tenant-key.ts';

/** The master key of a gateway in tests. */
export const MASTER_KEY = Buffer.alloc(32, 1);

/** Returns the header of a load balancer for the given client address, with port 4711. */
export function balancerHeader(client = '192.0.2.7', server = '192.0.2.1'): Buffer {
  const pair = addressPair(client, 4711, server, 443);
  const bytes = Buffer.alloc(proxyHeaderBytes(pair.family, 0));
  writeProxyHeader(bytes, 0, pair);
  return bytes;
}

/** Options of {@link signedHeader}. */
export interface SignedHeaderOptions {
  /** Default a.k8s.test. */
  readonly host?: string;
  /** Default {@link MASTER_KEY}. */
  readonly masterKey?: Buffer;
  /** Seconds since 1970. Default: now. */
  readonly at?: number;
}

/** Returns the signed header of a worker's proxy. The client in it is the pod 10.1.2.3:4711. */
export function signedHeader(options: SignedHeaderOptions = {}): Buffer {
  const { host = 'a.k8s.test', masterKey = MASTER_KEY, at = Date.now() / 1000 } = options;
  const into = Buffer.alloc(MAX_TENANT_HEADER_BYTES);
  const key = tenantKey(host, deriveTenantSecret(masterKey, host));
  const pair = addressPair('10.1.2.3', 4711, '10.96.0.1', 443);
  return into.subarray(0, signTenantHeader(into, 0, key, pair, at));
}
