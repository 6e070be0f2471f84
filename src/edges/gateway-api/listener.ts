/**
 * Whether a listener of a Gateway accepts the route of a host. Snicket only reads Gateways.
 */
import type { Finding } from '../../api/finding.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { error, warning } from '../codes.ts';
import {
  conditionAt,
  listAt,
  numberAt,
  quotedAt,
  textAt,
  valueAt,
} from '../../kube/unstructured.ts';
import { selects } from '../../kube/label-selector.ts';
import { GATEWAY_GROUP } from './parent.ts';
import { sentence } from '../../text/sentence.ts';

/** A listener, and a route to attach to it. */
interface RouteAttachment {
  /** An entry of `spec.listeners` of the Gateway. */
  readonly listener: unknown;
  /** The entry of `status.listeners` for this listener. */
  readonly status: unknown;
  /** The listener in messages: `listener tls of Gateway edge/shared`. */
  readonly listenerText: string;
  readonly gatewayNamespace: string;
  readonly host: string;
  /** The port that clients of the edge dial. */
  readonly port: number;
  /** The namespace of the route. */
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
}

/** Returns why the listener does not accept the route; none if it does. */
export function listenerFindings(attachment: RouteAttachment): readonly Finding[] {
  return [rejection, protocol, port, hostname, namespaces, kinds].flatMap(
    (check) => check(attachment) ?? [],
  );
}

type Check = Finding | undefined;

function rejection({ status, listenerText }: RouteAttachment): Check {
  const accepted = conditionAt(status, 'Accepted', 'conditions');
  const conflicted = conditionAt(status, 'Conflicted', 'conditions');
  const isConflicted = textAt(conflicted, 'status') === 'True';
  if (!isConflicted && textAt(accepted, 'status') !== 'False') return undefined;
  const condition = isConflicted ? conflicted : accepted;
  return error(
    'GatewayRejected',
    sentence(
      `The controller rejects ${listenerText} (${textAt(condition, 'reason') ?? 'no reason'}): ${quotedAt(condition, 'message')}`,
    ),
    'Correct the listener.',
  );
}

function protocol({ listener, listenerText }: RouteAttachment): Check {
  const actual = textAt(listener, 'protocol');
  // The default of tls.mode is Terminate.
  const mode = textAt(listener, 'tls', 'mode') ?? 'Terminate';
  if (actual === 'TLS' && mode === 'Passthrough') return undefined;
  const actualText = actual === 'TLS' ? `mode ${mode}` : `protocol ${actual ?? 'none'}`;
  return error(
    'ListenerMismatch',
    sentence(`${listenerText} has ${actualText}`),
    'Set its protocol to TLS and tls.mode to Passthrough.',
  );
}

function port({ listener, listenerText, port: dialedPort }: RouteAttachment): Check {
  const actual = numberAt(listener, 'port');
  // A load balancer in front of the Gateway may map the port.
  return actual === dialedPort
    ? undefined
    : warning(
        'ListenerMismatch',
        sentence(
          `${listenerText} is on port ${actual ?? 'none'}, but clients of the edge dial ${dialedPort}`,
        ),
        'Make sure that a load balancer maps one port to the other, or set spec.port of the Edge to the port of the listener.',
      );
}

function hostname({ listener, listenerText, host }: RouteAttachment): Check {
  const pattern = textAt(listener, 'hostname')?.toLowerCase();
  const covers =
    pattern === undefined ||
    pattern === host ||
    // As for routes, a wildcard stands for one or more labels.
    (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)));
  return covers
    ? undefined
    : error(
        'ListenerMismatch',
        sentence(`${listenerText} has hostname ${pattern}, which does not cover ${host}`),
        'Remove its hostname, or add a listener for each of the two domains to the Edge.',
      );
}

function namespaces({
  listener,
  listenerText,
  gatewayNamespace,
  namespace,
  namespaceLabels,
}: RouteAttachment): Check {
  const from = textAt(listener, 'allowedRoutes', 'namespaces', 'from') ?? 'Same';
  const selector = valueAt(listener, 'allowedRoutes', 'namespaces', 'selector');
  const accepts =
    from === 'All' ||
    (from === 'Same' && namespace === gatewayNamespace) ||
    (from === 'Selector' && selects(selector, namespaceLabels));
  if (accepts) return undefined;
  const allowed =
    from === 'Same' ? `namespace ${gatewayNamespace} only` : `namespaces by '${from}'`;
  return error(
    'ListenerMismatch',
    sentence(`${listenerText} allows routes from ${allowed}, not from ${namespace}`),
    from === 'Selector'
      ? `Label namespace ${namespace} to match allowedRoutes.namespaces.selector.`
      : 'Set allowedRoutes.namespaces.from to All or Selector.',
  );
}

function kinds({ listener, listenerText }: RouteAttachment): Check {
  const allowed = listAt(listener, 'allowedRoutes', 'kinds');
  const accepts =
    allowed.length === 0 ||
    allowed.some(
      (kind) =>
        textAt(kind, 'kind') === RESOURCES.tlsRoute.kind &&
        (textAt(kind, 'group') ?? GATEWAY_GROUP) === GATEWAY_GROUP,
    );
  const names = allowed.map((kind) =>
    [textAt(kind, 'kind') ?? '?', textAt(kind, 'group') ?? GATEWAY_GROUP].join('.'),
  );
  return accepts
    ? undefined
    : error(
        'ListenerMismatch',
        sentence(`${listenerText} allows ${names.join(', ')}, but no TLSRoute of ${GATEWAY_GROUP}`),
        'Add TLSRoute to allowedRoutes.kinds.',
      );
}
