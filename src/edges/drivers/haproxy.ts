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
      'HAProxy reloads for every new tenant, and hard-stop-after (30m by default) later it ends the older connections of all tenants',
      'raise hard-stop-after in the ConfigMap of the controller, or use driver snicket, which never reloads',
    ),
    warning(
      'IdleTunnelCut',
      'HAProxy ends connections that are quiet for timeout-tunnel (1h by default), and a konnectivity tunnel may be',
      'set timeout-tunnel: 24h in the ConfigMap of the controller, or give the agents --keepalive-time=60s',
    ),
    warning(
      'WildcardBeatsExact',
      'a wildcard host that passes TLS through takes the connections of every exact host that it covers',
      'let no Ingress of this class pass a wildcard host through',
    ),
    warning(
      'DuplicateTakesHost',
      'an Ingress of another namespace with the same host takes it, and no status says so',
      'let nobody else make an Ingress of this class, or guard hosts by an admission policy',
    ),
  ],
});
