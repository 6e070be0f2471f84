import type { Clock } from '../clock/clock.ts';
import type { ClusterAccess } from '../kube/access/cluster-access.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { Http2RoundTripper } from '../kube/transport/http2/http2-round-tripper.ts';

/**
 * Returns a gateway's client of the management cluster. It pings a silent API server to detect a dead watch: a gateway
 * with outdated routes would dial endpoints that no longer exist.
 *
 * @param clock - Default: the system clock.
 */
export function createGatewayClient(access: ClusterAccess, clock?: Clock): KubeClient {
  return createClient(access, { clock, roundTripper: new Http2RoundTripper(access, clock) });
}
