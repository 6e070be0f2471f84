/** Any other controller, configured by an Ingress with the annotations of the Edge. */
import { RESOURCES } from '../../kube/resource.ts';
import { warning } from '../codes.ts';
import { ingressDriver } from './ingress-driver.ts';

/** The driver ingress. */
export const ingress = ingressDriver({
  name: 'ingress',
  collision: {
    sameHost: 'unknown',
    wildcardWins: false,
    otherKinds: [
      RESOURCES.tlsRoute,
      RESOURCES.ingressRouteTcp,
      RESOURCES.httpProxy,
      RESOURCES.transportServer,
    ],
  },
  pitfalls: [
    warning(
      'IdleTunnelCut',
      'what your controller does with connections that are quiet for an hour, as a konnectivity tunnel may be, is not known',
      'raise its idle timeout, or give the agents --keepalive-time=60s',
    ),
  ],

  findings(_routes, { edge }) {
    if (Object.keys(edge.spec.ingress?.annotations ?? {}).length > 0) return [];
    return [
      warning(
        'AnnotationsMissing',
        `Edge ${edge.metadata.name} gives no annotations, and without one most controllers end TLS themselves`,
        'write in spec.ingress.annotations what makes your controller pass TLS through',
      ),
    ];
  },
});
