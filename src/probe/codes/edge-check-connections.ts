import type { CodeEntry } from './entry.ts';

/** Codes for connections and the protocols negotiated on them. */
export const CONNECTION_CODES = {
  AlpnOtherProtocol: {
    of: ['alpn-h2'],
    state: 'Warn',
    meaning:
      'The client offered h2, but another protocol was selected. API servers and konnectivity speak h2.',
    action:
      'Check whether the server of {host} speaks HTTP/2. If it does, something terminates TLS before it.',
  },
  AlpnLost: {
    of: ['alpn-h2'],
    state: 'Fail',
    meaning:
      'No protocol is selected: HTTP/2 is lost, so konnectivity, which uses gRPC, does not work.',
    action:
      'Find what terminates TLS before the server of {host}, and configure it to pass TLS through.',
  },
  AlpnNotAnswered: {
    of: ['alpn-h2'],
    state: 'Warn',
    meaning:
      'Passthrough is proven, but no protocol is selected: the server does not negotiate ALPN, or something with the key of the tenant terminates TLS before it. API servers and konnectivity select h2.',
    action:
      'Dial the server of {host} directly (openssl s_client -alpn h2,http/1.1 -connect SERVER:PORT -servername {host}). If it selects a protocol, find what terminates TLS before it and configure it to pass TLS through. If not, the edge is not at fault.',
  },

  HalfCloseCutsResponse: {
    of: ['half-close'],
    state: 'Fail',
    meaning: 'When the client closes its side, the edge closes both, and the response is lost.',
    action:
      'Configure the edge to close each direction separately (nginx: proxy_half_close on; Traefik: terminationDelay).',
  },
  HalfCloseNotForwarded: {
    of: ['half-close'],
    state: 'Fail',
    meaning:
      'The server does not learn that the client has closed its side, and keeps the connection.',
    action: 'Configure the edge to forward the close of a direction.',
  },
  HalfCloseUnclear: {
    of: ['half-close'],
    state: 'Warn',
    meaning:
      'Of a half-close after the ClientHello and one after a request, only one gets its response. Some servers close connections themselves.',
    action: 'Check the server behind the edge directly in the same way, and compare.',
  },

  ServerCloseNotForwarded: {
    of: ['server-close'],
    state: 'Fail',
    meaning: 'When the server closes a connection, the client does not notice and uses it again.',
    action: 'Configure the edge to forward the close of a direction.',
  },

  IdleClosed: {
    of: ['idle'],
    state: 'Fail',
    meaning: 'The edge closes watches and konnectivity tunnels, which may be idle for long.',
    action:
      'Raise the idle timeout of the edge to more than an hour (HAProxy: timeout client, server and tunnel; nginx: proxy_timeout).',
  },
  IdleDropped: {
    of: ['idle'],
    state: 'Fail',
    meaning: 'An idle connection is dropped on the path without notice: clients wait forever.',
    action:
      'Raise the idle timeout of the edge, and of firewalls and load balancers before and behind it.',
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
