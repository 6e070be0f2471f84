import type { CodeEntry } from './entry.ts';

/** Codes of the checks of an edge. */
export const EDGE_CHECK_CODES = {
  PassthroughNotProven: {
    of: ['passthrough', 'own-certificates'],
    state: 'Warn',
    meaning:
      'Each host presents a certificate that includes its name, perhaps the same one. An edge that terminates TLS could do the same.',
    action: 'Pass the CA of each tenant with --ca to prove passthrough.',
  },
  KeyChanges: {
    of: ['same-key'],
    state: 'Warn',
    meaning:
      'Connections for a host present different keys: it has several servers with their own keys, or two routes.',
    action: 'If {host} has one server, look for a second route that claims it.',
  },

  HelloNotRouted: {
    of: ['split-hello', 'large-hello', 'upper-case', 'tls-1.2'],
    state: 'Fail',
    meaning:
      'A ClientHello in a form that clients send does not reach its host. For example, post-quantum key shares make it larger than a TCP segment, so kubectl and kubelet fail now and then.',
    action: 'Configure the edge to {change}, or use another edge.',
  },
  SmallRecordsRefused: {
    of: ['small-records'],
    state: 'Warn',
    meaning:
      'The edge only reads the first TLS record. TLS allows more, but no Kubernetes client is known to send them.',
    action:
      'If one of your clients sends such a ClientHello, use an edge that reads all records. Otherwise, no action is needed.',
  },
  DefaultRouteReachesTenant: {
    of: ['small-records', 'no-name', 'unknown-name'],
    state: 'Fail',
    meaning:
      'A ClientHello that the edge cannot read, or that names no host with a route, reaches a tenant, as do Internet scanners and the clients of a deleted tenant.',
    action: 'Remove the default route of the edge, or the wildcard that matches the name.',
  },
  NameNotRejected: {
    of: ['no-name', 'unknown-name'],
    state: 'Warn',
    meaning:
      'A client without a known server name reaches no tenant, but gets a certificate of the edge, bytes that are not TLS, or no answer.',
    action:
      'If nothing else is served on this port, configure the edge to close such connections, or to answer with the TLS alert unrecognized_name.',
  },

  AlpnLost: {
    of: ['alpn-h2'],
    state: 'Fail',
    meaning:
      'No protocol is selected: HTTP/2 is lost, so konnectivity, which uses gRPC, does not work.',
    action:
      'Find what terminates TLS before the server of {host}, and configure it to pass TLS through.',
  },
  AlpnNotNegotiated: {
    of: ['alpn-h2'],
    state: 'Warn',
    meaning:
      'The client offered h2, but another protocol or none was selected: the server does not speak HTTP/2, or something with the key of the tenant terminates TLS before it. API servers and konnectivity select h2.',
    action:
      'Dial the server of {host} directly (openssl s_client -alpn h2,http/1.1 -connect SERVER:PORT -servername {host}). If it selects h2, find what terminates TLS before it and configure it to pass TLS through. If not, the edge is not at fault.',
  },

  HalfCloseCutsResponse: {
    of: ['half-close'],
    state: 'Fail',
    meaning: 'When the client closes its side, the edge closes both, and the response is lost.',
    action:
      'Configure the edge to close each direction separately (nginx: proxy_half_close on; Traefik: terminationDelay).',
  },
  HalfCloseUnclear: {
    of: ['half-close'],
    state: 'Warn',
    meaning:
      'Of a half-close after the ClientHello and one after a request, only one gets its response. Some servers close connections themselves.',
    action: 'Check the server behind the edge directly in the same way, and compare.',
  },
  CloseNotForwarded: {
    of: ['half-close', 'server-close'],
    state: 'Fail',
    meaning:
      'When client or server closes its side of a connection, the other does not notice, and keeps or reuses the connection.',
    action: 'Configure the edge to forward the close of a direction.',
  },
  IdleClosed: {
    of: ['idle'],
    state: 'Fail',
    meaning:
      'The edge closes, or the path drops without notice, watches and konnectivity tunnels, which may be idle for long.',
    action:
      'Raise the idle timeout of the edge to more than an hour (HAProxy: timeout client, server and tunnel; nginx: proxy_timeout), and that of firewalls and load balancers before and behind it.',
  },
  IdleClosedByServer: {
    of: ['idle'],
    state: 'Warn',
    meaning:
      'The server behind the edge sent a TLS close_notify, so the edge did not close the connection.',
    action: 'Use a shorter --idle, or a host whose server waits longer, such as konnectivity.',
  },
  ManyConnectionsRefused: {
    of: ['many-connections'],
    state: 'Fail',
    meaning:
      'Some of many simultaneous connections are rejected or misrouted. Workers behind one NAT share an address.',
    action:
      'Raise the limits of the edge on connections, and on new connections per second, per address.',
  },
  BulkInterrupted: {
    of: ['bulk'],
    state: 'Fail',
    meaning: 'A connection with much traffic ends or stalls before all requests are answered.',
    action: 'Look for {host} in the log of the edge, and then in that of the server behind it.',
  },
  ProxyHeaderAccepted: {
    of: ['proxy-header'],
    state: 'Warn',
    meaning: 'Clients that reach the edge from here can forge their address.',
    action:
      'Configure the edge to accept PROXY headers from its load balancers only. If this machine is one of them, no action is needed.',
  },
  ProxyHeaderRequired: {
    of: ['proxy-header'],
    state: 'Fail',
    meaning: 'The edge only serves connections that begin with a PROXY protocol header.',
    action:
      'Dial the load balancer in front of this port, or disable the PROXY protocol at the edge.',
  },
} as const satisfies Record<string, CodeEntry>;
