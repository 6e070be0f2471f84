/**
 * What is wrong with the Gateways that an Edge references.
 */
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';
import { keyText } from '../../kube/object.ts';
import type { ExposureRoutes, Route } from '../route.ts';
import { error } from '../codes.ts';
import type { EdgeContext } from '../driver.ts';
import { routesIn } from '../edge-driver.ts';
import { conditionAt, listAt, numberAt, quotedAt, textAt } from '../../kube/unstructured.ts';
import { listenerFindings } from './listener.ts';
import { gatewayClassOf, gatewayOf, type ParentRef } from './parent.ts';
import { sentence } from '../../text/sentence.ts';

/**
 * Returns the findings for the routes of an Exposure. Without routes, returns the findings that concern every route.
 */
export function gatewayFindings(
  routes: ExposureRoutes | undefined,
  context: EdgeContext,
): readonly Finding[] {
  const parents = context.edge.spec.gatewayApi?.parentRefs ?? [];
  return parents.flatMap((parent) => parentFindings(parent, routes, context));
}

function parentFindings(
  parent: ParentRef,
  routes: ExposureRoutes | undefined,
  context: EdgeContext,
): readonly Finding[] {
  const { edge, gateways, gatewayClasses } = context;
  const gateway = gatewayOf(parent, gateways);
  if (gateway === undefined) {
    const message = `Gateway ${keyText(parent)}, which Edge ${edge.metadata.name} references, does not exist.`;
    return [
      error(
        'EdgeReferenceInvalid',
        message,
        'Create it, or reference another Gateway in the Edge.',
      ),
    ];
  }
  if (gatewayClassOf(gateway, gatewayClasses) === undefined)
    return [gatewayClassMissing(parent, gateway)];
  const refusal = gatewayRejection(parent, gateway);
  if (refusal !== undefined) return [refusal];
  const listeners = listAt(gateway, 'spec', 'listeners').filter(
    (listener) =>
      (textAt(listener, 'name') ?? '') === (parent.sectionName ?? textAt(listener, 'name') ?? '') &&
      numberAt(listener, 'port') === (parent.port ?? numberAt(listener, 'port')),
  );
  if (listeners.length === 0) return [listenerMissing(parent, gateway)];
  if (routes === undefined) return [];
  const found = routesIn(routes).flatMap((route) =>
    closest(listeners.map((listener) => findingsAt(listener, gateway, route, routes, context))),
  );
  // Both hosts usually have the same problem.
  return [...new Map(found.map((finding) => [finding.message, finding])).values()];
}

function findingsAt(
  listener: unknown,
  gateway: KubeObject,
  { host }: Route,
  { namespace }: ExposureRoutes,
  { edge, namespaceLabels }: EdgeContext,
): readonly Finding[] {
  const name = textAt(listener, 'name') ?? '';
  return listenerFindings({
    listener,
    host,
    namespace,
    namespaceLabels,
    port: edge.spec.port,
    status: listAt(gateway, 'status', 'listeners').find((entry) => textAt(entry, 'name') === name),
    listenerText: `listener ${name} of Gateway ${keyText(gateway.metadata)}`,
    gatewayNamespace: gateway.metadata.namespace ?? '',
  });
}

/** One suitable listener is enough. Otherwise, returns the findings about the most suitable one. */
function closest(each: readonly (readonly Finding[])[]): readonly Finding[] {
  const errors = (findings: readonly Finding[]) =>
    findings.filter(({ severity }) => severity === 'error').length;
  const [best = []] = each.toSorted((a, b) => errors(a) - errors(b) || a.length - b.length);
  return best;
}

function gatewayClassMissing(parent: ParentRef, gateway: KubeObject): Finding {
  const name = textAt(gateway, 'spec', 'gatewayClassName') ?? '';
  return error(
    'EdgeReferenceInvalid',
    `Gateway ${keyText(parent)} has GatewayClass ${name}, which does not exist.`,
    'Install the controller with its GatewayClass, or set another class in the Gateway.',
  );
}

function gatewayRejection(parent: ParentRef, gateway: KubeObject): Finding | undefined {
  // Only Accepted counts: some controllers leave Programmed at False because the Gateway has no address, and serve it
  // anyway.
  const accepted = conditionAt(gateway, 'Accepted', 'status', 'conditions');
  if (textAt(accepted, 'status') !== 'False') return undefined;
  const reason = textAt(accepted, 'reason') ?? 'no reason';
  return error(
    'GatewayRejected',
    sentence(
      `The controller rejects Gateway ${keyText(parent)} (${reason}): ${quotedAt(accepted, 'message')}`,
    ),
    'Correct the Gateway.',
  );
}

function listenerMissing(parent: ParentRef, gateway: KubeObject): Finding {
  const names = listAt(gateway, 'spec', 'listeners').map((listener) => textAt(listener, 'name'));
  const selection = [
    parent.sectionName === undefined ? '' : ` ${parent.sectionName}`,
    parent.port === undefined ? '' : ` on port ${parent.port}`,
  ].join('');
  return error(
    'EdgeReferenceInvalid',
    `Gateway ${keyText(parent)} has no listener${selection}.`,
    `Set one of its listeners in the Edge: ${names.join(', ')}.`,
  );
}
