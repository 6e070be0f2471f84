/**
 * Findings about Edges: whether controllers accept the routes, what is missing around them, and pitfalls of drivers.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const EDGE_FINDINGS = {
  // Admission of the routes.
  Admitted: {
    meaning: 'the controller of the edge has taken the routes',
    action: 'nothing has to be done',
  },
  RouteAbsent: {
    meaning: 'an object with a route is not there',
    action: "see that Snicket's operator runs; it makes it",
  },
  AwaitingController: {
    meaning: 'the controller of the edge has not looked at a route yet',
    action: 'wait a moment',
  },
  ControllerSilent: {
    meaning: 'nobody has looked at a route for more than a minute',
    action: 'see that the controller of the edge runs, and that it is the one that is meant',
  },
  NoStatus: {
    meaning: 'the controller does not say whether it took a route; only a handshake can tell',
    action: 'see the hop sni',
  },
  RouteRefused: {
    meaning: 'the controller of the edge refuses a route',
    action: 'do as its message says',
  },
  BackendUnresolved: {
    meaning: 'the controller of the edge does not find or may not use the Service',
    action: 'see that the Service is there, and that the controller may lead to its namespace',
  },

  // Missing or wrong objects around the routes.
  EdgeApiMissing: {
    meaning: 'the management cluster does not serve the kind that the driver writes',
    action: 'install the controller with its CRDs, or choose another driver',
  },
  AnnotationsMissing: {
    meaning: 'driver ingress was given no annotations',
    action: 'write in spec.ingress.annotations what makes your controller pass TLS through',
  },
  IngressClassMissing: {
    meaning: 'the ingress class does not exist, or none is the default',
    action: 'write the class of your controller in spec.ingress.className of the Edge',
  },
  IngressClassUnsuited: {
    meaning: 'the ingress class belongs to another controller than the driver speaks to',
    action: 'write another class, or another driver, in the Edge',
  },
  GatewayMissing: {
    meaning: 'there is no such Gateway',
    action: 'make it, or name another one in the Edge',
  },
  GatewayClassMissing: {
    meaning: 'the Gateway is of a class that does not exist',
    action: 'install the controller with its GatewayClass, or write another one in the Gateway',
  },
  GatewayRefused: {
    meaning: 'the controller of the Gateway refuses it',
    action: 'mend the Gateway',
  },
  ListenerMissing: {
    meaning: 'the Gateway has no such listener',
    action: 'write one of its listeners in the Edge',
  },
  ListenerRefused: {
    meaning: 'the controller of the Gateway refuses the listener',
    action: 'mend the listener',
  },
  ListenerNotPassthrough: {
    meaning: 'the listener does not pass TLS through',
    action: 'give it protocol TLS and tls.mode Passthrough',
  },
  ListenerPortDiffers: {
    meaning: 'the listener is on another port than the edge',
    action: 'see that something leads from one to the other, or write its port in the Edge',
  },
  ListenerHostname: {
    meaning: 'the hostname of the listener does not cover the host',
    action: 'remove it, or name a listener for each domain in the Edge',
  },
  ListenerNamespace: {
    meaning: 'the listener takes no routes from this namespace',
    action: 'let allowedRoutes of the listener take it',
  },
  ListenerKind: {
    meaning: 'the listener takes no TLSRoutes',
    action: 'add TLSRoute to allowedRoutes.kinds',
  },
  HostClaimed: {
    meaning: "an object that is not Snicket's claims the host too",
    action: 'remove that object, or its host',
  },
  PolicyNotEnforced: {
    meaning: "the driver of the Edge does not enforce the Exposure's limits or allowed sources",
    action: 'choose an Edge with driver snicket, or set this up in the ingress controller itself',
  },
  FormerRoutesKept: {
    meaning:
      'routes of the previous driver, Edge or hosts stay until the move to the new ones is complete',
    action: 'see in the conditions of the Exposure what is missing, if that takes long',
  },

  // Pitfalls of drivers.
  ReloadCutsConnections: {
    meaning: 'each new tenant starts a clock that ends the connections of all others',
    action: 'raise the time that the controller leaves them, or use driver snicket',
  },
  IdleTunnelCut: {
    meaning: 'a quiet konnectivity tunnel may be cut',
    action: 'raise the idle timeout of the controller, or give the agents --keepalive-time=60s',
  },
  WildcardBeatsExact: {
    meaning: 'a wildcard host takes what an exact host asks for',
    action: 'let no Ingress of this class pass a wildcard host through',
  },
  DuplicateTakesHost: {
    meaning: 'a second object with the same host may take it',
    action: 'let nobody else make such objects, or guard hosts by an admission policy',
  },
  DuplicateDarkens: {
    meaning: 'a second object with the same host puts an end to both',
    action: 'let nobody else make such objects, or guard hosts by an admission policy',
  },
  DuplicateUnseen: {
    meaning: 'a second object with the same host is not reported',
    action: 'let nobody else make such objects, or guard hosts by an admission policy',
  },
  SplitHelloMisrouted: {
    meaning: 'a ClientHello in two segments is misrouted',
    action: 'move to another controller, or use driver snicket',
  },
  PassthroughSwitch: {
    meaning: 'the controller passes TLS through only if it is started so',
    action: 'start it so, as the message says',
  },
  ControllerRetired: {
    meaning: 'the controller is not maintained any more',
    action: 'move to another controller, or use driver snicket',
  },
} as const satisfies Record<string, FindingEntry>;
