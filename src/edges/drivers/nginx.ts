/** The retired ingress controller of the Kubernetes project: ingress-nginx. */
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver. */
export const nginx = ingressDriver({
  name: 'nginx',
  annotations: {
    'nginx.ingress.kubernetes.io/ssl-passthrough': 'true',
    // Without the controller's flag TLS ends there: then at least it speaks TLS to the tenant, which says what is wrong.
    'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS',
  },
  // Its TCP proxy looks for the exact host only.
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [] },
  pitfalls: [
    warning(
      'SplitHelloMisrouted',
      'ingress-nginx reads a ClientHello once: one that comes in two segments, as those with post-quantum keys do (kubectl and kubelets since Go 1.24), gets the default certificate',
      'move to another controller, or use driver snicket',
    ),
    warning(
      'PassthroughSwitch',
      'ingress-nginx passes TLS through only if it is started with --enable-ssl-passthrough, and ignores the annotation otherwise',
      'start the controller with --enable-ssl-passthrough',
    ),
    warning(
      'ControllerRetired',
      'ingress-nginx was retired in March 2026 and gets no fixes',
      'move to another controller, or use driver snicket',
    ),
  ],
});
