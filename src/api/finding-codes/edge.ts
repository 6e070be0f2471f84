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
      'The controller does not report whether it accepted a route, so only a handshake shows it.',
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
  EdgeReferenceInvalid: {
    meaning:
      'The ingress class, Gateway, its class or its listener that the Edge names does not exist, or its controller is not one that the driver supports.',
    action: 'Create it, or set another one in the Edge.',
  },
  GatewayRejected: {
    meaning: 'The controller of the Gateway rejects it or its listener.',
    action: 'Correct the Gateway.',
  },
  ListenerMismatch: {
    meaning:
      'The listener does not pass TLS through, has another port than the edge, does not cover the host, or does not allow TLSRoutes from this namespace.',
    action:
      'Correct the field of the listener that the message names, or set another listener in the Edge.',
  },
  HostClaimed: {
    meaning:
      'An object that Snicket does not manage, perhaps one of the provider, also claims the host.',
    action: 'Delete that object as the message says, or remove its host.',
  },
  PolicyNotEnforced: {
    meaning: "The driver of the Edge does not enforce the Exposure's limits or allowed sources.",
    action: 'Choose an Edge with driver snicket, or configure this in the ingress controller.',
  },
  PreviousRoutesRemain: {
    meaning:
      'Routes of the previous driver, Edge or hosts remain until the move to the new ones is complete.',
    action:
      'If this takes long, check the conditions of the Exposure. With driver None, delete the routes once your own routes serve the hosts.',
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
  DuplicateHostAllowed: {
    meaning:
      'Another object with the same host or a wildcard may take the host over, disable both, or go unreported.',
    action: 'Do not let others create such objects, or restrict hosts with an admission policy.',
  },
  PassthroughFlagRequired: {
    meaning: 'The controller passes TLS through only with certain flags.',
    action: 'Start the controller with the flags that the message names.',
  },
  ControllerNotRecommended: {
    meaning: 'The controller is no longer maintained, or misroutes a ClientHello in two segments.',
    action: 'Move to another controller, or use driver snicket.',
  },
} as const satisfies Record<string, FindingEntry>;
