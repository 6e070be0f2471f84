/**
 * Every code that has to do with edges, in one place. A code is for ever: it is the reason of a condition, a log field
 * and a metric's label.
 */
import type { Finding } from '../api/finding.ts';

/** The codes, and what each means. */
export const EDGE_CODES = {
  // Whether the routes are admitted.
  Admitted: 'the controller of the edge has taken the routes',
  RouteAbsent: 'an object with a route is not there',
  AwaitingController: 'the controller of the edge has not looked at a route yet',
  ControllerSilent: 'nobody has looked at a route for more than a minute',
  NoStatus: 'the controller does not say whether it took a route; only a handshake can tell',
  RouteRefused: 'the controller of the edge refuses a route',
  BackendUnresolved: 'the controller of the edge does not find or may not use the Service',

  // What is missing or wrong around the routes.
  EdgeApiMissing: 'the management cluster does not serve the kind that the driver writes',
  AnnotationsMissing: 'driver ingress was given no annotations',
  IngressClassMissing: 'the ingress class does not exist, or none is the default',
  IngressClassUnsuited: 'the ingress class belongs to another controller than the driver speaks to',
  GatewayMissing: 'there is no such Gateway',
  GatewayClassMissing: 'the Gateway is of a class that does not exist',
  GatewayRefused: 'the controller of the Gateway refuses it',
  ListenerMissing: 'the Gateway has no such listener',
  ListenerRefused: 'the controller of the Gateway refuses the listener',
  ListenerNotPassthrough: 'the listener does not pass TLS through',
  ListenerPortDiffers: 'the listener is on another port than the edge',
  ListenerHostname: 'the hostname of the listener does not cover the host',
  ListenerNamespace: 'the listener takes no routes from this namespace',
  ListenerKind: 'the listener takes no TLSRoutes',
  HostClaimed: "an object that is not Snicket's claims the host too",
  FormerRoutesKept: 'routes of the former driver stay until all goes by the new one',

  // What to know of a driver.
  ReloadCutsConnections: 'each new tenant starts a clock that ends the connections of all others',
  IdleTunnelCut: 'a quiet konnectivity tunnel may be cut',
  WildcardBeatsExact: 'a wildcard host takes what an exact host asks for',
  DuplicateTakesHost: 'a second object with the same host may take it',
  DuplicateDarkens: 'a second object with the same host puts an end to both',
  DuplicateUnseen: 'a second object with the same host is not reported',
  SplitHelloMisrouted: 'a ClientHello in two segments is misrouted',
  PassthroughSwitch: 'the controller passes TLS through only if it is started so',
  ControllerRetired: 'the controller is not maintained any more',
} as const satisfies Record<string, string>;
/** One of {@link EDGE_CODES}. */
export type EdgeCode = keyof typeof EDGE_CODES;

/** A finding of this part. */
export interface EdgeFinding extends Finding {
  readonly code: EdgeCode;
}

/** What keeps tenants from being reached. */
export function error(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'error', message, action };
}

/** What a person should know, though it may work. */
export function warning(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'warning', message, action };
}
