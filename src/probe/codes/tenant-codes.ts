import type { CodeEntry } from './entry.ts';

/** Codes of the path through the edge to the API server: hops sni, certificate and api. */
export const TENANT_HOP_CODES = {
  SniDegraded: {
    of: ['sni'],
    state: 'Warn',
    meaning:
      'At least one address of the edge reaches the tenant, and at least one that accepts connections does not.',
    action:
      'Compare the routes and the log of the edge at {address} with those of the other addresses.',
  },
  SniEdgeTerminates: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'The edge terminates TLS: it presents a certificate of no tenant.',
    action:
      'Enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.',
  },
  SniUnknownAuthority: {
    of: ['sni'],
    state: 'Fail',
    meaning:
      'An API server answers, but the known CA of the tenant did not sign its certificate: the CA was changed, or the route points to a control plane that has no Exposure.',
    action:
      'If the CA was changed, update it in the Secret and in the kubeconfig of the control plane of {host}. Otherwise, check where the route of {host} points.',
  },
  SniOtherTenant: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'Clients of this tenant reach another one, which rejects them.',
    action:
      'Look for a second route object that claims {host} and points to {tenant}, and remove it.',
  },
  SniNoRoute: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'The edge has no route for the API host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that the control plane runs.',
  },
  SniNoEndpoint: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'The edge knows the API host, but no endpoint of the control plane answers.',
    action:
      'Check that the control plane of {host} runs, and that its Service has ready endpoints or, if the Exposure lists addresses, that it listens at spec.controlPlane.endpoints.api.',
  },
  SniRefused: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'The edge, or a server behind it, aborted the TLS handshake.',
    action: 'Look for {host} in the log of the edge, and then in that of the control plane.',
  },
  SniNotTls: {
    of: ['sni'],
    state: 'Fail',
    meaning:
      'The server does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'Check that port {port} is the TLS port of the edge and that the route of {host} was accepted.',
  },
  SniTimeout: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action:
      'Check that the edge reaches the control plane of {host}, and that the control plane is responsive.',
  },
  SniCaInvalid: {
    of: ['sni'],
    state: 'Fail',
    meaning: 'Without the CA of the tenant, the owner of a certificate is unknown.',
    action: 'Store the CA of the control plane of {host} as PEM in its Secret.',
  },

  CertificateExpiresSoon: {
    of: ['certificate'],
    state: 'Warn',
    meaning: 'The certificate is valid but expires within days.',
    action: 'Renew {certificate}.',
  },
  CertificateExpired: {
    of: ['certificate'],
    state: 'Fail',
    meaning: 'Every client that verifies the certificate rejects it.',
    action: 'Renew {certificate}.',
  },
  CertificateNotYetValid: {
    of: ['certificate'],
    state: 'Fail',
    meaning: 'The certificate becomes valid later: one of two clocks is wrong.',
    action: 'Correct the clock of the issuer of {certificate}, or that of the probing machine.',
  },
  CertificateNameMissing: {
    of: ['certificate'],
    state: 'Fail',
    meaning: 'Every client rejects the certificate because it does not include the host.',
    action:
      "Add {host} to the names of the API server's certificate (certSANs in kubeadm and most providers), and have the certificate issued again.",
  },

  ApiNotAnswering: {
    of: ['api'],
    state: 'Fail',
    meaning: 'TLS reaches the tenant, but a request gets no response.',
    action: 'Check the log of the API server behind {host}.',
  },
  ApiUnhealthy: {
    of: ['api'],
    state: 'Fail',
    meaning: 'The path works, but the API server answers with an error.',
    action: 'Check the log of the API server behind {host}.',
  },
  ApiNotKubernetes: {
    of: ['api'],
    state: 'Fail',
    meaning: "The server has a certificate of the tenant's CA, but is not a kube-apiserver.",
    action: 'Check that the route of {host} points to the port of the API server.',
  },
} as const satisfies Record<string, CodeEntry>;
