import type { EdgeCodeEntry } from './entry.ts';

/** Codes for connections and the protocols negotiated on them. */
export const CONNECTION_CODES = {
  AlpnH2Negotiated: {
    check: 'alpn-h2',
    state: 'Pass',
    title: 'HTTP/2 is negotiated',
    meaning: "The client's ALPN offer reaches the server, which selects h2.",
  },
  AlpnOtherProtocol: {
    check: 'alpn-h2',
    state: 'Warn',
    title: 'another protocol is selected',
    meaning:
      'The client offered h2, but another protocol was selected. API servers and konnectivity speak h2.',
    action:
      'Check whether the server of {host} speaks HTTP/2. If it does, something terminates TLS before it.',
  },
  AlpnLost: {
    check: 'alpn-h2',
    state: 'Fail',
    title: 'ALPN is lost',
    meaning:
      'No protocol is selected: HTTP/2 is lost, so konnectivity, which uses gRPC, does not work.',
    action:
      'Find what terminates TLS before the server of {host}, and configure it to pass TLS through.',
  },
  AlpnNotAnswered: {
    check: 'alpn-h2',
    state: 'Warn',
    title: 'no protocol is selected',
    meaning:
      'Passthrough is proven, but no protocol is selected: the server does not negotiate ALPN, or something with the key of the tenant terminates TLS before it. API servers and konnectivity select h2.',
    action:
      'Dial the server of {host} directly (openssl s_client -alpn h2,http/1.1 -connect SERVER:PORT -servername {host}). If it selects a protocol, find what terminates TLS before it and configure it to pass TLS through. If not, the edge is not at fault.',
  },

  ClientCertificateRequested: {
    check: 'client-certificates',
    state: 'Pass',
    title: 'server requests a certificate',
    meaning: "The server's request for a client certificate reaches the client.",
  },

  HalfCloseWorks: {
    check: 'half-close',
    state: 'Pass',
    title: 'half-close works',
    meaning: 'A client that has closed its side still receives its response.',
  },
  HalfCloseCutsResponse: {
    check: 'half-close',
    state: 'Fail',
    title: 'half-close cuts the response',
    meaning: 'When the client closes its side, the edge closes both, and the response is lost.',
    action:
      'Configure the edge to close each direction separately (nginx: proxy_half_close on; Traefik: terminationDelay).',
  },
  HalfCloseNotForwarded: {
    check: 'half-close',
    state: 'Fail',
    title: 'half-close does not arrive',
    meaning:
      'The server does not learn that the client has closed its side, and keeps the connection.',
    action: 'Configure the edge to forward the close of a direction.',
  },
  HalfCloseUnclear: {
    check: 'half-close',
    state: 'Warn',
    title: 'half-close sometimes cuts the response',
    meaning:
      'Of a half-close after the ClientHello and one after a request, only one gets its response. Some servers close connections themselves.',
    action: 'Check the server behind the edge directly in the same way, and compare.',
  },

  ServerCloseForwarded: {
    check: 'server-close',
    state: 'Pass',
    title: 'close of the server arrives',
    meaning:
      'When the server closes a connection, the client receives the complete response and the close.',
  },
  ServerCloseNotForwarded: {
    check: 'server-close',
    state: 'Fail',
    title: 'close of the server does not arrive',
    meaning: 'When the server closes a connection, the client does not notice and uses it again.',
    action: 'Configure the edge to forward the close of a direction.',
  },

  IdleWorks: {
    check: 'idle',
    state: 'Pass',
    title: 'idle connection works',
    meaning: 'A connection still works after the idle time.',
  },
  IdleClosed: {
    check: 'idle',
    state: 'Fail',
    title: 'idle connection is closed',
    meaning: 'The edge closes watches and konnectivity tunnels, which may be idle for long.',
    action:
      'Raise the idle timeout of the edge to more than an hour (HAProxy: timeout client, server and tunnel; nginx: proxy_timeout).',
  },
  IdleDropped: {
    check: 'idle',
    state: 'Fail',
    title: 'idle connection is dead',
    meaning: 'An idle connection is dropped on the path without notice: clients wait forever.',
    action:
      'Raise the idle timeout of the edge, and of firewalls and load balancers before and behind it.',
  },
  IdleClosedByServer: {
    check: 'idle',
    state: 'Warn',
    title: 'server closed the idle connection',
    meaning:
      'The server behind the edge sent a TLS close_notify, so the edge did not close the connection.',
    action: 'Use a shorter --idle, or a host whose server waits longer, such as konnectivity.',
  },

  ManyConnectionsServed: {
    check: 'many-connections',
    state: 'Pass',
    title: 'many connections at once',
    meaning: 'Many simultaneous connections from one address all reach their host.',
  },
  ManyConnectionsRefused: {
    check: 'many-connections',
    state: 'Fail',
    title: 'some of many connections fail',
    meaning:
      'Some of many simultaneous connections are rejected or misrouted. Workers behind one NAT share an address.',
    action:
      'Raise the limits of the edge on connections, and on new connections per second, per address.',
  },

  BulkPassed: {
    check: 'bulk',
    state: 'Pass',
    title: 'many bytes on one connection',
    meaning: 'Many requests on one connection are all answered.',
  },
  BulkInterrupted: {
    check: 'bulk',
    state: 'Fail',
    title: 'connection breaks',
    meaning: 'A connection with much traffic ends or stalls before all requests are answered.',
    action: 'Look for {host} in the log of the edge, and then in that of the server behind it.',
  },

  ProxyHeaderRefused: {
    check: 'proxy-header',
    state: 'Pass',
    title: 'PROXY header is rejected',
    meaning: 'Clients cannot forge their address with a PROXY protocol header.',
  },
  ProxyHeaderAccepted: {
    check: 'proxy-header',
    state: 'Warn',
    title: 'PROXY header is accepted',
    meaning: 'Clients that reach the edge from here can forge their address.',
    action:
      'Configure the edge to accept PROXY headers from its load balancers only. If this machine is one of them, no action is needed.',
  },
  ProxyHeaderRequired: {
    check: 'proxy-header',
    state: 'Fail',
    title: 'PROXY header is required',
    meaning: 'The edge only serves connections that begin with a PROXY protocol header.',
    action:
      'Dial the load balancer in front of this port, or disable the PROXY protocol at the edge.',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
