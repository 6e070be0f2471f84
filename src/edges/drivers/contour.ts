/** Contour, configured by one HTTPProxy for each host. */
import { objectText } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { admitted, statusOutdated, rejected, statusPending } from '../admission.ts';
import { warning } from '../codes.ts';
import type { RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn } from '../edge-driver.ts';
import { conditionAt, listAt, numberAt, quotedAt, textAt } from '../../kube/unstructured.ts';
import { routeMetadata } from '../names.ts';
import { classOf } from './ingress-driver.ts';
import { sentence } from '../../text/sentence.ts';

/** The default of the CRD, which the API server sets before Contour reconciles the object. */
const NOT_RECONCILED = 'NotReconciled';

/** The driver contour. */
export const contour = edgeDriver({
  name: 'contour',
  requires: [RESOURCES.httpProxy],
  reads: [],
  install: "Contour's CRDs",
  collision: {
    sameHost: 'neither',
    wildcardWins: false,
    otherKinds: [RESOURCES.ingress, RESOURCES.tlsRoute],
  },
  pitfalls: [
    warning(
      'DuplicateHostAllowed',
      'Another HTTPProxy with the same host in any namespace makes both invalid, and the tenant becomes unreachable.',
      "Do not let others create HTTPProxies with a virtualhost: use Contour's root namespaces, or restrict hosts with an admission policy.",
    ),
  ],

  objects: (routes, { spec: { ingress } }, { apiVersion, kind }) =>
    routesIn(routes).map(({ kind: name, host, service, port }): RouteObject => ({
      apiVersion,
      kind,
      metadata: routeMetadata(routes, `-${name}`, ingress?.annotations),
      spec: {
        ...classOf(ingress),
        virtualhost: { fqdn: host, tls: { passthrough: true } },
        tcpproxy: { services: [{ name: service, port }] },
      },
    })),

  // Contour only compares the name of the class, so there may be no IngressClass.
  findings: () => [],

  admissionFrom(object, { nowMs }) {
    const status = textAt(object, 'status', 'currentStatus');
    if (status === undefined || status === NOT_RECONCILED)
      return statusPending(object, nowMs, 'Check that Contour runs and serves this ingress class.');
    const valid = conditionAt(object, 'Valid', 'status', 'conditions');
    const observed = numberAt(valid, 'observedGeneration');
    if (observed !== undefined && observed < (object.metadata.generation ?? 0))
      return statusOutdated(object);
    if (status === 'valid') return admitted(`${objectText(object)} is valid.`);
    const [problem] = listAt(valid, 'errors');
    const message = quotedAt(
      problem ?? object,
      ...(problem ? ['message'] : ['status', 'description']),
    );
    return rejected(
      'RouteRejected',
      sentence(`${objectText(object)} is ${status}: ${message}`),
      'Correct the error that Contour reports.',
    );
  },

  addresses: (live, { service }) => [
    ...live.flatMap(loadBalancerAddresses),
    ...loadBalancerAddresses(service),
  ],
});
