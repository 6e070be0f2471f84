/** The community's ingress controller for HAProxy: haproxy-ingress. */
import { RESOURCES } from '../../kube/resource.ts';
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver. */
export const haproxyIngress = ingressDriver({
  name: 'haproxy-ingress',
  annotations: { 'haproxy-ingress.github.io/ssl-passthrough': 'true' },
  // The default of 1h is as long as a konnectivity tunnel may be quiet.
  defaultAnnotations: { 'haproxy-ingress.github.io/timeout-tunnel': '24h' },
  // If a host is in a TLSRoute too, that one is served.
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [RESOURCES.tlsRoute] },
  pitfalls: [
    warning(
      'ReloadCutsConnections',
      'HAProxy reloads for every new tenant, and timeout-stop (10m by default) later it ends the older connections of all tenants',
      'raise timeout-stop in the ConfigMap of the controller, or use driver snicket, which never reloads',
    ),
  ],
});
