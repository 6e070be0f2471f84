/** The ingress controller of HAProxy Technologies (kubernetes-ingress). */
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver haproxy. */
export const haproxy = ingressDriver({
  name: 'haproxy',
  annotations: { 'haproxy.org/ssl-passthrough': 'true' },
  collision: { sameHost: 'newcomer', wildcardWins: true, otherKinds: [] },
  pitfalls: [
    warning(
      'ReloadCutsConnections',
      'HAProxy reloads for every new tenant, and hard-stop-after (30m by default) later it closes the older connections of all tenants.',
      'Raise hard-stop-after in the ConfigMap of the controller, or use driver snicket, which never reloads.',
    ),
    warning(
      'IdleTunnelClosed',
      'HAProxy closes connections that are idle for timeout-tunnel (1h by default), which includes idle konnectivity tunnels.',
      'Set timeout-tunnel: 24h in the ConfigMap of the controller, or start the agents with --keepalive-time=60s.',
    ),
    warning(
      'DuplicateHostAllowed',
      'A wildcard host with TLS passthrough takes the connections of every exact host that it covers.',
      'Do not use wildcard hosts with TLS passthrough in any Ingress of this class.',
    ),
    warning(
      'DuplicateHostAllowed',
      'An Ingress in another namespace with the same host takes over the host, and no status reports it.',
      'Do not let others create Ingresses of this class, or restrict hosts with an admission policy.',
    ),
  ],
});
