/**
 * Findings about Edges: whether controllers accept the routes, what is missing around them, and pitfalls of drivers.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const EDGE_FINDINGS = {
  // Admission of the routes.
  Admitted: {
    meaning: 'The controller of the edge accepted the routes.',
    action: 'No action is needed.',
  },
  AwaitingController: {
    meaning: 'The controller of the edge has not processed a route yet.',
    action: 'Wait a moment.',
  },
  ControllerUnresponsive: {
    meaning: 'No controller has processed a route for more than a minute.',
    action: 'Check that the controller of the edge runs and that it is the right one.',
  },
  NoStatus: {
    meaning:
      'The controller does not report whether it accepted a route. Only a handshake shows it.',
    action: 'See the hop sni.',
  },
  RouteRejected: {
    meaning: 'The controller of the edge rejects a route.',
    action: 'Follow its message.',
  },
  BackendUnresolved: {
    meaning: 'The controller of the edge does not find the Service or is not allowed to use it.',
    action: 'Check that the Service exists and that the controller can reach its namespace.',
  },

  // Missing or wrong objects around the routes.
  EdgeApiMissing: {
    meaning: 'The management cluster does not serve a kind that the driver writes.',
    action: 'Install the controller with its CRDs, or choose another driver.',
  },
  AnnotationsMissing: {
    meaning: 'Driver ingress has no annotations.',
    action:
      'Set spec.ingress.annotations to the annotations that enable TLS passthrough in your controller.',
  },
  IngressClassMissing: {
    meaning: 'The ingress class does not exist, or there is no default.',
    action: 'Set spec.ingress.className of the Edge to the class of your controller.',
  },
  IngressClassUnsupported: {
    meaning: 'The ingress class belongs to a controller that the driver does not support.',
    action: 'Choose another class or another driver in the Edge.',
  },
  GatewayMissing: {
    meaning: 'The Gateway does not exist.',
    action: 'Create it, or reference another Gateway in the Edge.',
  },
  GatewayClassMissing: {
    meaning: 'The class of the Gateway does not exist.',
    action: 'Install the controller with its GatewayClass, or set another class in the Gateway.',
  },
  GatewayRejected: {
    meaning: 'The controller of the Gateway rejects it.',
    action: 'Correct the Gateway.',
  },
  ListenerMissing: {
    meaning: 'The Gateway does not have the listener.',
    action: 'Set one of its listeners in the Edge.',
  },
  ListenerRejected: {
    meaning: 'The controller of the Gateway rejects the listener.',
    action: 'Correct the listener.',
  },
  ListenerNotPassthrough: {
    meaning: 'The listener does not pass TLS through.',
    action: 'Set its protocol to TLS and tls.mode to Passthrough.',
  },
  ListenerPortMismatch: {
    meaning: 'The listener is on another port than the edge.',
    action:
      'Make sure that a load balancer maps one port to the other, or set spec.port of the Edge to the port of the listener.',
  },
  ListenerHostnameMismatch: {
    meaning: 'The hostname of the listener does not cover the host.',
    action: 'Remove it, or add a listener for each domain to the Edge.',
  },
  ListenerNamespaceNotAllowed: {
    meaning: 'The listener does not allow routes from this namespace.',
    action: 'Allow the namespace in allowedRoutes of the listener.',
  },
  ListenerKindNotAllowed: {
    meaning: 'The listener does not allow TLSRoutes.',
    action: 'Add TLSRoute to allowedRoutes.kinds.',
  },
  HostClaimed: {
    meaning: 'An object that Snicket does not manage also claims the host.',
    action: 'Delete that object, or remove its host.',
  },
  PolicyNotEnforced: {
    meaning: "The driver of the Edge does not enforce the Exposure's limits or allowed sources.",
    action: 'Choose an Edge with driver snicket, or configure this in the ingress controller.',
  },
  PreviousRoutesRemain: {
    meaning:
      'Routes of the previous driver, Edge or hosts remain until the move to the new ones is complete.',
    action: 'If this takes long, check the conditions of the Exposure.',
  },

  // Pitfalls of drivers.
  ReloadCutsConnections: {
    meaning:
      'Each new tenant makes the controller reload, which later closes the connections of all others.',
    action: 'Raise the time that the controller leaves them, or use driver snicket.',
  },
  IdleTunnelClosed: {
    meaning: 'The controller may close idle konnectivity tunnels.',
    action:
      'Raise the idle timeout of the controller, or start the agents with --keepalive-time=60s.',
  },
  WildcardTakesPrecedence: {
    meaning: 'A wildcard host takes precedence over an exact host.',
    action: 'Do not use wildcard hosts with TLS passthrough in any Ingress of this class.',
  },
  DuplicateHostAllowed: {
    meaning: 'A second object with the same host may take it over, disable both, or go unreported.',
    action: 'Do not let others create such objects, or restrict hosts with an admission policy.',
  },
  SplitHelloMisrouted: {
    meaning: 'The controller misroutes a ClientHello in two segments.',
    action: 'Move to another controller, or use driver snicket.',
  },
  PassthroughFlagRequired: {
    meaning: 'The controller passes TLS through only with certain flags.',
    action: 'Start the controller with the flags that the message names.',
  },
  ControllerRetired: {
    meaning: 'The controller is no longer maintained.',
    action: 'Move to another controller, or use driver snicket.',
  },
} as const satisfies Record<string, FindingEntry>;
