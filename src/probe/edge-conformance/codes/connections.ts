import type { EdgeCodeEntry } from './entry.ts';

/** Codes for connections and the protocols negotiated on them. */
export const CONNECTION_CODES = {
  AlpnH2Kept: {
    check: 'alpn-h2',
    state: 'Pass',
    title: 'HTTP/2 is agreed on',
    meaning: 'What clients offer by ALPN arrives, and the server chooses h2.',
  },
  AlpnH2NotChosen: {
    check: 'alpn-h2',
    state: 'Warn',
    title: 'another protocol is chosen',
    meaning: 'h2 was offered and another protocol chosen. API servers and konnectivity speak h2.',
    action:
      'see whether the server of {host} speaks HTTP/2; if it does, something ends TLS before it',
  },
  AlpnLost: {
    check: 'alpn-h2',
    state: 'Fail',
    title: 'ALPN is lost',
    meaning:
      'No protocol is chosen: HTTP/2 is lost, and konnectivity, which is gRPC, does not work.',
    action: 'look for what ends TLS before the server of {host}, and let it pass TLS through',
  },
  AlpnNotAnswered: {
    check: 'alpn-h2',
    state: 'Warn',
    title: 'no protocol is chosen',
    meaning:
      'Passthrough is proven and no protocol chosen: the server does not negotiate ALPN, or something with the key of the tenant ends TLS before it. API servers and konnectivity choose h2.',
    action:
      'dial the server of {host} itself, without the edge (openssl s_client -alpn h2,http/1.1 -connect SERVER:PORT -servername {host}): if a protocol is chosen there, find what ends TLS before it and let it pass TLS through; if not, the edge is not at fault',
  },

  ClientCertificateAsked: {
    check: 'client-certificates',
    state: 'Pass',
    title: 'server asks for a certificate',
    meaning: "The server's request for a client certificate reaches the client.",
  },

  HalfCloseKept: {
    check: 'half-close',
    state: 'Pass',
    title: 'half-close is kept',
    meaning: 'A client that has said all it has to say still gets its answer.',
  },
  HalfCloseCut: {
    check: 'half-close',
    state: 'Fail',
    title: 'half-close cuts the answer',
    meaning: 'When the client ends its side, the edge ends both: the answer on its way is lost.',
    action:
      'let the edge close each direction by itself, and leave the other open (nginx: proxy_half_close on; Traefik: terminationDelay)',
  },
  HalfCloseNotPassedOn: {
    check: 'half-close',
    state: 'Fail',
    title: 'end of the client is not passed on',
    meaning: 'The server does not learn that the client has ended, and keeps the connection.',
    action: 'let the edge pass the end of a direction on when it comes',
  },
  HalfCloseUnclear: {
    check: 'half-close',
    state: 'Warn',
    title: 'half-close cuts the answer at times',
    meaning:
      'Of a half-close behind the hello and one behind a request, one gets its answer and the other does not. Some servers hang up by themselves.',
    action: 'check the server behind the edge directly in the same way, and compare',
  },

  ServerClosePassedOn: {
    check: 'server-close',
    state: 'Pass',
    title: 'end of the server arrives',
    meaning: 'When the server ends a connection, the client gets all of its answer and learns it.',
  },
  ServerCloseNotPassedOn: {
    check: 'server-close',
    state: 'Fail',
    title: 'end of the server does not arrive',
    meaning: 'When the server ends a connection, the client is not told, and uses it again.',
    action: 'let the edge pass the end of a direction on when it comes',
  },

  IdleKept: {
    check: 'idle',
    state: 'Pass',
    title: 'quiet connection is kept',
    meaning: 'A connection without traffic for the time that was asked for still works.',
  },
  IdleCut: {
    check: 'idle',
    state: 'Fail',
    title: 'quiet connection is cut',
    meaning: 'Watches and konnectivity tunnels, which may be quiet for long, are cut by the edge.',
    action:
      'raise the idle timeout of the edge to more than an hour (HAProxy: timeout client, server and tunnel; nginx: proxy_timeout)',
  },
  IdleDead: {
    check: 'idle',
    state: 'Fail',
    title: 'quiet connection is dead',
    meaning:
      'A connection without traffic is forgotten on the way, and nobody is told: clients wait for nothing.',
    action:
      'raise the idle timeout of the edge, and of firewalls and load balancers before and behind it',
  },
  IdleEndedByServer: {
    check: 'idle',
    state: 'Warn',
    title: 'server ended the quiet connection',
    meaning: 'The server behind the edge said goodbye in TLS, so it was not the edge that cut.',
    action: 'take a shorter --idle, or a host whose server is more patient, such as konnectivity',
  },

  ManyConnectionsServed: {
    check: 'many-connections',
    state: 'Pass',
    title: 'many connections at once',
    meaning: 'Many connections at once, from one address, all reach their host.',
  },
  ManyConnectionsRefused: {
    check: 'many-connections',
    state: 'Fail',
    title: 'many connections are too many',
    meaning:
      'Of many connections at once some are refused, or led astray. Workers behind one NAT share an address.',
    action:
      'raise the limits of the edge on connections, and on new ones per second, for an address',
  },

  BulkPassed: {
    check: 'bulk',
    state: 'Pass',
    title: 'many bytes on one connection',
    meaning: 'Many requests on one connection are all answered.',
  },
  BulkCut: {
    check: 'bulk',
    state: 'Fail',
    title: 'connection breaks under way',
    meaning: 'A connection with much traffic ends, or stands still, before all is answered.',
    action: 'look for {host} in the log of the edge, then in that of the server behind it',
  },

  ProxyHeaderRefused: {
    check: 'proxy-header',
    state: 'Pass',
    title: 'PROXY header is refused',
    meaning: 'Nobody can tell the edge a false client address by a PROXY protocol header.',
  },
  ProxyHeaderTaken: {
    check: 'proxy-header',
    state: 'Warn',
    title: 'PROXY header is taken',
    meaning: 'Whoever reaches the edge from here can forge client addresses.',
    action:
      'let the edge take PROXY headers from its load balancers only; if this machine is one of them, all is well',
  },
  ProxyHeaderRequired: {
    check: 'proxy-header',
    state: 'Fail',
    title: 'PROXY header is required',
    meaning: 'The edge serves only connections that begin with a PROXY protocol header.',
    action:
      'dial the load balancer in front of this port, or switch PROXY protocol off at the edge',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
