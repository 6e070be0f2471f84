/** The retired ingress controller of the Kubernetes project (ingress-nginx). */
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver nginx. */
export const nginx = ingressDriver({
  name: 'nginx',
  annotations: {
    'nginx.ingress.kubernetes.io/ssl-passthrough': 'true',
    // Without --enable-ssl-passthrough the controller terminates TLS. It then connects to the tenant with TLS, whose
    // error shows the cause.
    'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS',
  },
  // Its TCP proxy only matches exact hosts.
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [] },
  pitfalls: [
    warning(
      'ControllerNotRecommended',
      'ingress-nginx reads a ClientHello only once. A ClientHello in two segments, as with post-quantum keys (kubectl and kubelets since Go 1.24), gets the default certificate.',
      'Move to another controller, or use driver snicket.',
    ),
    warning(
      'PassthroughFlagRequired',
      'ingress-nginx passes TLS through only if it runs with --enable-ssl-passthrough. Otherwise it ignores the annotation.',
      'Start the controller with --enable-ssl-passthrough.',
    ),
    warning(
      'ControllerNotRecommended',
      'ingress-nginx was retired in March 2026 and gets no fixes.',
      'Move to another controller, or use driver snicket.',
    ),
  ],
});
