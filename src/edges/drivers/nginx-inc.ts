/** The ingress controller of NGINX Inc (F5), configured by one TransportServer for each host. */
import { objectText } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { admitted, rejected, statusPending } from '../admission.ts';
import { warning } from '../codes.ts';
import type { RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn } from '../edge-driver.ts';
import { quotedAt, textAt } from '../../kube/unstructured.ts';
import { ingressClassFindings } from '../ingress-class.ts';
import { routeMetadata } from '../names.ts';
import { classOf } from './ingress-driver.ts';
import { sentence } from '../../text/sentence.ts';

const SWITCHES = '-enable-custom-resources and -enable-tls-passthrough';

/** The driver nginx-inc. */
export const nginxInc = edgeDriver({
  name: 'nginx-inc',
  requires: [RESOURCES.transportServer],
  reads: [RESOURCES.ingressClass],
  install: "the CRDs of NGINX Inc's ingress controller",
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [RESOURCES.ingress] },
  pitfalls: [
    warning(
      'PassthroughFlagRequired',
      `NGINX passes TLS through only if its controller runs with ${SWITCHES}.`,
      `Start the controller with ${SWITCHES}.`,
    ),
  ],

  objects: (routes, { spec: { ingress } }, { apiVersion, kind }) =>
    routesIn(routes).map(({ kind: name, host, service, port }): RouteObject => ({
      apiVersion,
      kind,
      metadata: routeMetadata(routes, `-${name}`, ingress?.annotations),
      spec: {
        ...classOf(ingress),
        // The name and protocol of the controller's built-in listener.
        listener: { name: 'tls-passthrough', protocol: 'TLS_PASSTHROUGH' },
        host,
        upstreams: [{ name, service, port }],
        // The default of 10m would close idle konnectivity tunnels.
        sessionParameters: { timeout: '24h' },
        action: { pass: name },
      },
    })),

  // The controller serves objects without a class, whatever its own class is.
  findings: (_routes, context) =>
    context.edge.spec.ingress?.className === undefined ? [] : ingressClassFindings(context),

  admissionFrom(object, { nowMs }) {
    const state = textAt(object, 'status', 'state');
    const reason = textAt(object, 'status', 'reason') ?? '';
    const message = quotedAt(object, 'status', 'message');
    // A Warning is ambiguous: the controller serves the object, or rejects it in favor of an older object with the same
    // host.
    const isServed = state === 'Valid' || (state === 'Warning' && !reason.startsWith('Rejected'));
    if (isServed) return admitted(sentence(`${objectText(object)} is ${state}: ${message}`));
    const action = `Start the controller with ${SWITCHES}, and look for other objects with this host.`;
    return state === undefined
      ? statusPending(object, nowMs, action)
      : rejected(
          'RouteRejected',
          sentence(`${objectText(object)} is ${state}: ${message}`),
          action,
        );
  },

  addresses: (_live, { service }) => loadBalancerAddresses(service),
});
