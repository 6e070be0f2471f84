/** Any Gateway API controller, configured by one TLSRoute for each host, since a TLSRoute has a single rule. */
import { objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, withVersion } from '../../kube/resource.ts';
import { admitted, statusOutdated, rejected, statusPending, type Admission } from '../admission.ts';
import { warning } from '../codes.ts';
import type { EdgeContext, RouteObject } from '../driver.ts';
import { edgeDriver, routesIn } from '../edge-driver.ts';
import {
  conditionAt,
  listAt,
  numberAt,
  quotedAt,
  textAt,
  valueAt,
} from '../../kube/unstructured.ts';
import { gatewayFindings } from '../gateway-api/gateway-findings.ts';
import {
  gatewayClassOf,
  gatewayOf,
  isSameParent,
  parentReference,
  type ParentRef,
} from '../gateway-api/parent.ts';
import { routeMetadata } from '../names.ts';
import { sentence } from '../../text/sentence.ts';

/** The driver gateway-api. */
export const gatewayApi = edgeDriver({
  name: 'gateway-api',
  // A TLSRoute with one host and one rule is valid in all three versions.
  requires: ['v1', 'v1alpha3', 'v1alpha2'].map((version) =>
    withVersion(RESOURCES.tlsRoute, version),
  ),
  reads: [RESOURCES.gateway, RESOURCES.gatewayClass],
  install: 'the CRDs of the Gateway API (1.5 or later, or an older experimental channel)',
  collision: {
    sameHost: 'oldest',
    wildcardWins: false,
    // The controller may also serve these kinds.
    otherKinds: [RESOURCES.ingress, RESOURCES.ingressRouteTcp, RESOURCES.httpProxy],
  },
  pitfalls: [
    warning(
      'DuplicateHostAllowed',
      'Of two TLSRoutes with the same host, the older one is served, but the other is also reported as accepted.',
      'Do not let others create TLSRoutes for this Gateway, or restrict hosts with an admission policy.',
    ),
    warning(
      'IdleTunnelClosed',
      'Most controllers close connections that are idle for an hour (Envoy by default), which includes idle konnectivity tunnels.',
      "Raise the controller's idle timeout for TCP connections, or start the agents with --keepalive-time=60s.",
    ),
  ],

  objects: (routes, { spec }, { apiVersion, kind }) =>
    routesIn(routes).map(({ kind: name, host, service, port }): RouteObject => ({
      apiVersion,
      kind,
      metadata: routeMetadata(routes, `-${name}`),
      spec: {
        parentRefs: (spec.gatewayApi?.parentRefs ?? []).map(parentReference),
        hostnames: [host],
        rules: [{ backendRefs: [{ group: '', kind: 'Service', name: service, port, weight: 1 }] }],
      },
    })),

  findings: gatewayFindings,

  admissionFrom(object, context) {
    const parents = context.edge.spec.gatewayApi?.parentRefs ?? [];
    const each = parents.map((parent) => admissionAt(parent, object, context));
    return (
      each.find(({ state }) => state === 'Refused') ??
      each.find(({ state }) => state === 'Pending') ??
      admitted(`${objectText(object)} is accepted.`)
    );
  },

  addresses: (_live, { edge, gateways }) =>
    (edge.spec.gatewayApi?.parentRefs ?? []).flatMap((parent) =>
      listAt(gatewayOf(parent, gateways), 'status', 'addresses').flatMap(
        (address) => textAt(address, 'value') ?? [],
      ),
    ),
});

/** Returns the admission by the controller of one Gateway. */
function admissionAt(
  parent: ParentRef,
  object: KubeObject,
  { gateways, gatewayClasses, nowMs }: EdgeContext,
): Admission {
  const controller = textAt(
    gatewayClassOf(gatewayOf(parent, gateways), gatewayClasses),
    ...['spec', 'controllerName'],
  );
  const { namespace = '', generation = 0 } = object.metadata;
  const status = listAt(object, 'status', 'parents').find(
    (entry) =>
      isSameParent(valueAt(entry, 'parentRef'), parent, namespace) &&
      textAt(entry, 'controllerName') === controller,
  );
  const accepted = conditionAt(status, 'Accepted', 'conditions');
  if (accepted === undefined || textAt(accepted, 'status') === 'Unknown')
    return statusPending(object, nowMs, `Check that ${controller} runs and serves TLSRoutes.`);
  if ((numberAt(accepted, 'observedGeneration') ?? generation) < generation)
    return statusOutdated(object);
  const text = objectText(object);
  if (textAt(accepted, 'status') !== 'True') {
    const reason = textAt(accepted, 'reason') ?? 'no reason';
    const message = sentence(
      `The controller rejects ${text} (${reason}): ${quotedAt(accepted, 'message')}`,
    );
    return rejected(
      'RouteRejected',
      message,
      'Check that the listener allows this host and namespace.',
    );
  }
  const resolved = conditionAt(status, 'ResolvedRefs', 'conditions');
  if (textAt(resolved, 'status') === 'False') {
    const reason = textAt(resolved, 'reason') ?? 'no reason';
    const message = sentence(
      `The controller cannot use the Service of ${text} (${reason}): ${quotedAt(resolved, 'message')}`,
    );
    return rejected(
      'BackendUnresolved',
      message,
      'Check that the Service exists and has this port.',
    );
  }
  return admitted(`${text} is accepted.`);
}
