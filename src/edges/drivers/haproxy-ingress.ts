/** The community's ingress controller for HAProxy (haproxy-ingress). */
import { RESOURCES } from '../../kube/resource.ts';
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver haproxy-ingress. */
export const haproxyIngress = ingressDriver({
  name: 'haproxy-ingress',
  annotations: { 'haproxy-ingress.github.io/ssl-passthrough': 'true' },
  // The default of 1h equals the time for which a konnectivity tunnel may be idle.
  defaultAnnotations: { 'haproxy-ingress.github.io/timeout-tunnel': '24h' },
  // If a TLSRoute has the same host, the controller serves the TLSRoute.
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [RESOURCES.tlsRoute] },
  pitfalls: [
    warning(
      'ReloadCutsConnections',
      'HAProxy reloads for every new tenant, and timeout-stop (10m by default) later it closes the older connections of all tenants.',
      'Raise timeout-stop in the ConfigMap of the controller, or use driver snicket, which never reloads.',
    ),
  ],
});
