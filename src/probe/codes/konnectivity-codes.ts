import type { CodeEntry } from './entry.ts';

/** Codes of the path of konnectivity agents: hop konnectivity. */
export const KONNECTIVITY_HOP_CODES = {
  KonnectivityDegraded: {
    of: ['konnectivity'],
    state: 'Warn',
    meaning:
      'At least one address of the edge reaches konnectivity-server, and at least one that accepts connections does not.',
    action:
      'Compare the routes and the log of the edge at {address} with those of the other addresses.',
  },
  KonnectivityEdgeTerminates: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The edge presents a certificate of no tenant, which agents do not trust.',
    action:
      'Enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.',
  },
  KonnectivityUnknownAuthority: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning:
      'A server of a control plane answers, but the known CA of the tenant did not sign its certificate, so agents do not trust it.',
    action:
      "Have konnectivity-server of {host} serve a certificate of the tenant's CA. If the route of {host} points to another control plane, correct it.",
  },
  KonnectivityOtherTenant: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'Agents of this tenant reach another one, which rejects them.',
    action:
      'Look for a second route object that claims {host} and points to {tenant}, and remove it.',
  },
  KonnectivityNoRoute: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The edge has no route for the konnectivity host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that konnectivity-server runs.',
  },
  KonnectivityNoEndpoint: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The edge knows the konnectivity host, but no endpoint answers.',
    action:
      'Check that konnectivity-server of {host} runs, and that its Service has ready endpoints or, if the Exposure lists addresses, that it listens at spec.controlPlane.endpoints.konnectivity.',
  },
  KonnectivityRefused: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The edge, or konnectivity-server behind it, aborted the TLS handshake.',
    action: 'Look for {host} in the log of the edge, and then in that of konnectivity-server.',
  },
  KonnectivityNotTls: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning:
      'The server does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'Check that the route of {host} was accepted and points to the agent port of konnectivity-server.',
  },
  KonnectivityTimeout: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action: 'Check that the edge reaches konnectivity-server of {host}, and that it is responsive.',
  },
  KonnectivityExpiresSoon: {
    of: ['konnectivity'],
    state: 'Warn',
    meaning: 'The certificate is valid but expires within days. Agents are then cut off.',
    action: 'Renew {certificate}.',
  },
  KonnectivityExpired: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'Agents reject the certificate: logs, exec and webhooks do not work.',
    action: 'Renew {certificate}.',
  },
  KonnectivityNotYetValid: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'The certificate becomes valid later: one of two clocks is wrong.',
    action: 'Correct the clock of the issuer of {certificate}, or that of the probing machine.',
  },
  KonnectivityNameMissing: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'Agents reject the certificate because it does not include the host.',
    action:
      "Add {host} to the names of konnectivity-server's certificate through the control plane's provider.",
  },
  KonnectivityNotHttp2: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'Agents speak gRPC, but the server does not negotiate HTTP/2.',
    action: 'Check that the route of {host} points to the agent port of konnectivity-server.',
  },
  KonnectivityReachesApi: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning: 'Agents reach the API server instead of konnectivity-server and are rejected.',
    action: 'Point the route of {host} to the agent port of konnectivity-server.',
  },
} as const satisfies Record<string, CodeEntry>;
