import type { CodeEntry } from './entry.ts';

/** Codes of the path of konnectivity agents: hop konnectivity. */
export const KONNECTIVITY_HOP_CODES = {
  KonnectivityAnswers: {
    hop: 'konnectivity',
    state: 'Pass',
    title: 'konnectivity answers',
    meaning:
      "TLS for the konnectivity host ends at this tenant's server, in date and with the right name.",
  },
  KonnectivityDegraded: {
    hop: 'konnectivity',
    state: 'Pass',
    title: 'an address of the edge fails',
    meaning:
      'At least one address of the edge leads agents to konnectivity-server, and at least one that accepts connections does not.',
    action:
      'compare the routes and the log of the edge at {address} with those of the other addresses',
  },
  KonnectivityEdgeTerminates: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'edge ends TLS itself',
    meaning: 'The edge answers with a certificate that is of no tenant: agents do not trust it.',
    action:
      'switch TLS passthrough on at the edge for {host}; some edges answer so for a host without a route, so see that its route was admitted too',
  },
  KonnectivityUnknownAuthority: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'server of an unknown CA',
    meaning:
      "A server of a control plane answers, but its certificate is not of the tenant's CA as that is known here: agents do not trust it.",
    action:
      'let konnectivity-server of {host} serve with a certificate of the CA that the tenant has; if the route of {host} leads to another control plane, mend that',
  },
  KonnectivityOtherTenant: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'leads to another tenant',
    meaning: 'Agents of this tenant reach another one, which refuses them.',
    action:
      'look for a second route object that claims {host} and leads to {tenant}, and remove it',
  },
  KonnectivityNoRoute: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'no route',
    meaning: 'The edge knows no way for the konnectivity host, or nothing answers behind it.',
    action:
      'see that the route of {host} was admitted by the edge, and that konnectivity-server runs',
  },
  KonnectivityNoEndpoint: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'nothing behind the route',
    meaning: 'The edge knows the konnectivity host, but no endpoint answers it.',
    action:
      'see that konnectivity-server of {host} runs, and that its Service has ready endpoints or, if the Exposure names addresses, that it listens at those of spec.controlPlane.endpoints.konnectivity',
  },
  KonnectivityRefused: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'handshake refused',
    meaning: 'The edge, or konnectivity-server behind it, would not complete the TLS handshake.',
    action: 'look for {host} in the log of the edge, then in that of konnectivity-server',
  },
  KonnectivityNotTls: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'no TLS',
    meaning:
      'What answers does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'see that the route of {host} was admitted and leads to the port of konnectivity-server for agents',
  },
  KonnectivityTimeout: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'handshake is not answered',
    meaning: 'The edge accepts the connection, but nobody completes the TLS handshake.',
    action: 'see that the edge reaches konnectivity-server of {host}, and that it is not stuck',
  },
  KonnectivityExpiresSoon: {
    hop: 'konnectivity',
    state: 'Pass',
    title: 'certificate expires soon',
    meaning: 'All is well now, and agents will be cut off within days.',
    action: 'renew {certificate}',
  },
  KonnectivityExpired: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'certificate has expired',
    meaning: 'Agents refuse the certificate: no logs, no exec, no webhooks.',
    action: 'renew {certificate}',
  },
  KonnectivityNotYetValid: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'certificate is from the future',
    meaning: 'The certificate is valid from a later time on: one of two clocks is wrong.',
    action: 'set the clock of whoever issued {certificate}, or of the machine that probes',
  },
  KonnectivityNameMissing: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'certificate lacks the host',
    meaning: 'Agents refuse the certificate, because the host is not among its names.',
    action:
      "add {host} to the names of konnectivity-server's certificate, as the control plane's provider takes them",
  },
  KonnectivityNotHttp2: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'no HTTP/2',
    meaning: 'Agents speak gRPC, and what answers does not agree on HTTP/2.',
    action: 'see that the route of {host} leads to the port of konnectivity-server for agents',
  },
  KonnectivityLeadsToApi: {
    hop: 'konnectivity',
    state: 'Fail',
    title: 'leads to the API server',
    meaning: 'Agents reach the API server in place of konnectivity-server, and are refused.',
    action: 'let the route of {host} lead to the port of konnectivity-server for agents',
  },
} as const satisfies Record<string, CodeEntry>;
