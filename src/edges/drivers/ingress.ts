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
      'IdleTunnelClosed',
      'It is unknown whether your controller closes connections that are idle for an hour, such as konnectivity tunnels.',
      'Raise its idle timeout, or start the agents with --keepalive-time=60s.',
    ),
  ],

  findings(_routes, { edge }) {
    if (Object.keys(edge.spec.ingress?.annotations ?? {}).length > 0) return [];
    return [
      warning(
        'FieldInvalid',
        `Edge ${edge.metadata.name} sets no annotations, but most controllers terminate TLS unless an annotation enables passthrough.`,
        'Set spec.ingress.annotations to the annotations that enable TLS passthrough in your controller.',
      ),
    ];
  },
});
