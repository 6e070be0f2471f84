import type { CodeEntry } from './entry.ts';

/** Codes of the path through the edge to the API server: hops sni, certificate and api. */
export const TENANT_HOP_CODES = {
  RoutedToTenant: {
    hop: 'sni',
    state: 'Pass',
    title: 'reaches the tenant',
    meaning: 'TLS for the API host reaches this tenant: its CA signed the certificate.',
  },
  SniDegraded: {
    hop: 'sni',
    state: 'Pass',
    title: 'an address of the edge fails',
    meaning:
      'At least one address of the edge reaches the tenant, and at least one that accepts connections does not.',
    action:
      'Compare the routes and the log of the edge at {address} with those of the other addresses.',
  },
  SniEdgeTerminates: {
    hop: 'sni',
    state: 'Fail',
    title: 'edge terminates TLS',
    meaning: 'The edge terminates TLS: it presents a certificate of no tenant.',
    action:
      'Enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.',
  },
  SniUnknownAuthority: {
    hop: 'sni',
    state: 'Fail',
    title: 'API server of an unknown CA',
    meaning:
      'An API server answers, but the known CA of the tenant did not sign its certificate: the CA was changed, or the route points to a control plane that has no Exposure.',
    action:
      'If the CA was changed, update it in the Secret and in the kubeconfig of the control plane of {host}. Otherwise, check where the route of {host} points.',
  },
  SniOtherTenant: {
    hop: 'sni',
    state: 'Fail',
    title: 'reaches another tenant',
    meaning: 'Clients of this tenant reach another one, which rejects them.',
    action:
      'Look for a second route object that claims {host} and points to {tenant}, and remove it.',
  },
  SniNoRoute: {
    hop: 'sni',
    state: 'Fail',
    title: 'no route',
    meaning: 'The edge has no route for the API host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that the control plane runs.',
  },
  SniNoEndpoint: {
    hop: 'sni',
    state: 'Fail',
    title: 'no endpoint',
    meaning: 'The edge knows the API host, but no endpoint of the control plane answers.',
    action:
      'Check that the control plane of {host} runs, and that its Service has ready endpoints or, if the Exposure lists addresses, that it listens at spec.controlPlane.endpoints.api.',
  },
  SniRefused: {
    hop: 'sni',
    state: 'Fail',
    title: 'handshake rejected',
    meaning: 'The edge, or a server behind it, aborted the TLS handshake.',
    action: 'Look for {host} in the log of the edge, and then in that of the control plane.',
  },
  SniNotTls: {
    hop: 'sni',
    state: 'Fail',
    title: 'no TLS',
    meaning:
      'The server does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'Check that port {port} is the TLS port of the edge and that the route of {host} was accepted.',
  },
  SniTimeout: {
    hop: 'sni',
    state: 'Fail',
    title: 'handshake times out',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action:
      'Check that the edge reaches the control plane of {host}, and that the control plane is responsive.',
  },
  SniCaInvalid: {
    hop: 'sni',
    state: 'Fail',
    title: 'CA of the tenant is invalid',
    meaning: 'Without the CA of the tenant, the owner of a certificate is unknown.',
    action: 'Store the CA of the control plane of {host} as PEM in its Secret.',
  },

  CertificateValid: {
    hop: 'certificate',
    state: 'Pass',
    title: 'certificate is valid',
    meaning: 'The certificate includes the host and is currently valid.',
  },
  CertificateExpiresSoon: {
    hop: 'certificate',
    state: 'Pass',
    title: 'certificate expires soon',
    meaning: 'The certificate is valid but expires within days.',
    action: 'Renew {certificate}.',
  },
  CertificateExpired: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate has expired',
    meaning: 'Every client that verifies the certificate rejects it.',
    action: 'Renew {certificate}.',
  },
  CertificateNotYetValid: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate is not valid yet',
    meaning: 'The certificate becomes valid later: one of two clocks is wrong.',
    action: 'Correct the clock of the issuer of {certificate}, or that of the probing machine.',
  },
  CertificateNameMissing: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate lacks the host',
    meaning: 'Every client rejects the certificate because it does not include the host.',
    action:
      "Add {host} to the names of the API server's certificate (certSANs in kubeadm and most providers), and have the certificate issued again.",
  },

  ApiAnswers: {
    hop: 'api',
    state: 'Pass',
    title: 'API server answers',
    meaning: 'A kube-apiserver answered through the edge, on a verified connection.',
  },
  ApiNotAnswering: {
    hop: 'api',
    state: 'Fail',
    title: 'no answer',
    meaning: 'TLS reaches the tenant, but a request gets no response.',
    action: 'Check the log of the API server behind {host}.',
  },
  ApiUnhealthy: {
    hop: 'api',
    state: 'Fail',
    title: 'API server is unhealthy',
    meaning: 'The path works, but the API server answers with an error.',
    action: 'Check the log of the API server behind {host}.',
  },
  ApiNotKubernetes: {
    hop: 'api',
    state: 'Fail',
    title: 'not an API server',
    meaning: "The server has a certificate of the tenant's CA, but is not a kube-apiserver.",
    action: 'Check that the route of {host} points to the port of the API server.',
  },
} as const satisfies Record<string, CodeEntry>;
