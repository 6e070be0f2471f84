import type { CodeEntry } from './entry.ts';

/** Codes of the path through the edge to the API server: hops sni, certificate and api. */
export const TENANT_HOP_CODES = {
  RoutedToTenant: {
    hop: 'sni',
    state: 'Pass',
    title: 'reaches the tenant',
    meaning: "TLS for the API host ends at this tenant: the certificate is of the tenant's CA.",
  },
  SniDegraded: {
    hop: 'sni',
    state: 'Pass',
    title: 'an address of the edge fails',
    meaning:
      'At least one address of the edge leads to the tenant, and at least one that accepts connections does not.',
    action:
      'compare the routes and the log of the edge at {address} with those of the other addresses',
  },
  SniEdgeTerminates: {
    hop: 'sni',
    state: 'Fail',
    title: 'edge ends TLS itself',
    meaning: 'The edge answers with a certificate that is of no tenant: it ends TLS itself.',
    action:
      'switch TLS passthrough on at the edge for {host}; some edges answer so for a host without a route, so see that its route was admitted too',
  },
  SniUnknownAuthority: {
    hop: 'sni',
    state: 'Fail',
    title: 'API server of an unknown CA',
    meaning:
      "An API server answers, but its certificate is not of the tenant's CA as that is known here: the CA was changed, or the route leads to a control plane that nobody has exposed.",
    action:
      'if the CA was changed, put the new one where the control plane of {host} keeps it, and into its kubeconfig; else see where the route of {host} leads',
  },
  SniOtherTenant: {
    hop: 'sni',
    state: 'Fail',
    title: 'leads to another tenant',
    meaning: 'Clients of this tenant reach another one, which refuses them.',
    action:
      'look for a second route object that claims {host} and leads to {tenant}, and remove it',
  },
  SniNoRoute: {
    hop: 'sni',
    state: 'Fail',
    title: 'no route',
    meaning: 'The edge knows no way for the API host, or nothing answers behind it.',
    action:
      'see that the route of {host} was admitted by the edge, and that the control plane runs',
  },
  SniNoEndpoint: {
    hop: 'sni',
    state: 'Fail',
    title: 'nothing behind the route',
    meaning: 'The edge knows the API host, but no endpoint of the control plane answers it.',
    action:
      'see that the control plane of {host} runs, and that its Service has ready endpoints or, if the Exposure names addresses, that it listens at those of spec.controlPlane.endpoints.api',
  },
  SniRefused: {
    hop: 'sni',
    state: 'Fail',
    title: 'handshake refused',
    meaning: 'The edge, or whatever is behind it, would not complete the TLS handshake.',
    action: 'look for {host} in the log of the edge, then in that of the control plane',
  },
  SniNotTls: {
    hop: 'sni',
    state: 'Fail',
    title: 'no TLS',
    meaning:
      'What answers does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'see that port {port} is the TLS port of the edge and that the route of {host} was admitted',
  },
  SniTimeout: {
    hop: 'sni',
    state: 'Fail',
    title: 'handshake is not answered',
    meaning: 'The edge accepts the connection, but nobody completes the TLS handshake.',
    action:
      'see that the edge reaches the control plane of {host}, and that the control plane is not stuck',
  },
  SniCaUnreadable: {
    hop: 'sni',
    state: 'Fail',
    title: "tenant's CA cannot be read",
    meaning: 'Whose certificate it is cannot be told without the CA of the tenant.',
    action: "put the tenant's CA as PEM where the control plane of {host} keeps it",
  },

  CertificateValid: {
    hop: 'certificate',
    state: 'Pass',
    title: 'certificate is good',
    meaning: 'The certificate has the name of the host and is in date.',
  },
  CertificateExpiresSoon: {
    hop: 'certificate',
    state: 'Pass',
    title: 'certificate expires soon',
    meaning: 'All is well now, and will not be within days.',
    action: 'renew {certificate}',
  },
  CertificateExpired: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate has expired',
    meaning: 'Every client that looks at the certificate refuses it.',
    action: 'renew {certificate}',
  },
  CertificateNotYetValid: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate is from the future',
    meaning: 'The certificate is valid from a later time on: one of two clocks is wrong.',
    action: 'set the clock of whoever issued {certificate}, or of the machine that probes',
  },
  CertificateNameMissing: {
    hop: 'certificate',
    state: 'Fail',
    title: 'certificate lacks the host',
    meaning: 'Every client refuses the certificate, because the host is not among its names.',
    action:
      "make {host} a name of the API server's certificate (certSANs, as kubeadm and most providers call it), and have it issued anew",
  },

  ApiAnswers: {
    hop: 'api',
    state: 'Pass',
    title: 'API server answers',
    meaning: 'A kube-apiserver answered through the edge, on a connection that was verified.',
  },
  ApiNotAnswering: {
    hop: 'api',
    state: 'Fail',
    title: 'no answer',
    meaning: 'TLS reaches the tenant, but a request gets no answer.',
    action: 'look into the log of the API server behind {host}',
  },
  ApiUnhealthy: {
    hop: 'api',
    state: 'Fail',
    title: 'API server is not well',
    meaning: 'The path is good, and the API server at its end answers with a failure of its own.',
    action: 'look into the log of the API server behind {host}',
  },
  ApiNotKubernetes: {
    hop: 'api',
    state: 'Fail',
    title: 'not an API server',
    meaning: "What answers has a certificate of the tenant's CA, but is no kube-apiserver.",
    action: 'see that the route of {host} leads to the port of the API server',
  },
} as const satisfies Record<string, CodeEntry>;
