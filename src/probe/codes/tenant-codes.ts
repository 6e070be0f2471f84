import { CERTIFICATE_FINDINGS } from '../../api/finding-codes/certificate.ts';
import { TENANT_FINDINGS } from '../../api/finding-codes/tenant.ts';
import type { CodeEntry } from './entry.ts';

/** Codes of the path through the edge to the servers of a tenant. */
export const TENANT_CODES = {
  Degraded: {
    of: ['edge', 'sni', 'konnectivity'],
    state: 'Warn',
    meaning:
      'At least one address of the edge works, and at least one does not, so some clients wait or fail.',
    action:
      'Check the edge at {address}: whether it runs, and whether it has the same routes as the others. If it is gone, remove that address from the Edge and from the DNS records.',
  },
  EdgeTerminates: {
    of: ['sni', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning:
      'The edge terminates TLS: it presents a certificate of no tenant, which clients do not trust.',
    action:
      'Enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.',
  },
  UnknownAuthority: {
    of: ['sni', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning:
      'A server of a control plane answers, but the known CA of the tenant did not sign its certificate: the CA was changed, or the route points to a control plane that has no Exposure.',
    action:
      'Check where the route of {host} points. If it is the right control plane, store its current CA in its Secret and in its kubeconfig, and have its servers use certificates of that CA.',
  },
  OtherTenant: {
    of: ['sni', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning: 'Clients of this tenant reach the server of another one, which rejects them.',
    action: 'Look for a second route object that claims {host}, and remove it.',
  },
  NoRoute: {
    of: ['sni', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning: 'The edge has no route for the host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that {server} runs.',
  },
  NoEndpoint: {
    of: ['sni', 'konnectivity'],
    state: 'Fail',
    meaning: 'The edge knows the host, but no endpoint of the control plane answers.',
    action:
      'Check that {server} of {host} runs, and that its Service has ready endpoints or, if the Exposure lists addresses, that it listens at those in spec.controlPlane.endpoints.',
  },
  TlsRefused: {
    of: ['sni', 'konnectivity'],
    state: 'Fail',
    meaning: 'The edge, or a server behind it, aborted the TLS handshake.',
    action: 'Look for {host} in the log of the edge, and then in that of {server}.',
  },
  NotTls: {
    of: ['sni', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning:
      'The server does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'Check that this is the TLS port of the edge, and that the route of {host} was accepted and points to a TLS port of {server}.',
  },
  TlsTimeout: {
    of: ['sni', 'konnectivity', 'passthrough', 'split-hello'],
    state: 'Fail',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action:
      'Check that the edge reaches {server} for {host}, and that it is responsive. With --timeout, snicket doctor waits longer.',
  },
  CaInvalid: { ...CERTIFICATE_FINDINGS.CaInvalid, of: ['sni'], state: 'Fail' },

  CertificateExpiresSoon: {
    of: ['certificate', 'konnectivity'],
    state: 'Warn',
    meaning: 'The certificate is valid but expires within days. Clients are then cut off.',
    action: 'Renew {certificate}.',
  },
  CertificateExpired: {
    ...CERTIFICATE_FINDINGS.CertificateExpired,
    of: ['certificate', 'konnectivity'],
    state: 'Fail',
  },
  CertificateNotYetValid: {
    ...CERTIFICATE_FINDINGS.CertificateNotYetValid,
    of: ['certificate', 'konnectivity'],
    state: 'Fail',
  },
  CertificateNameMissing: {
    of: ['certificate', 'konnectivity', 'passthrough'],
    state: 'Fail',
    meaning: 'Every client rejects the certificate because it does not include the host.',
    action:
      "Add {host} to the names of the server's certificate (for an API server, certSANs in kubeadm and most providers), and have the certificate issued again.",
  },

  ApiUnhealthy: {
    of: ['api'],
    state: 'Fail',
    meaning: 'TLS reaches the tenant, but the API server answers with an error or not at all.',
    action: 'Check the log of the API server behind {host}.',
  },
  NotKubernetes: { ...TENANT_FINDINGS.NotKubernetes, of: ['api'], state: 'Fail' },
  NotKonnectivity: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning:
      'Agents, which speak gRPC, reach another server than konnectivity-server, such as the API server, and are rejected.',
    action: 'Check that the route of {host} points to the agent port of konnectivity-server.',
  },
  KonnectivityNoAgent: {
    of: ['konnectivity'],
    state: 'Fail',
    meaning:
      'The konnectivity-server answers, but the API server reaches no kubelet of a ready node through it, so logs, exec and webhooks fail. Usually no agent is connected. The message ends with the error of the API server.',
    action:
      'Check that the konnectivity agents run in the tenant, and that --proxy-server-host and --proxy-server-port in their arguments are {endpoint}.',
  },
  AgentCheckForbidden: {
    of: ['konnectivity'],
    state: 'Skip',
    meaning:
      'The konnectivity-server answers. Whether an agent is connected is unknown, because the kubeconfig of the tenant has no permission for the check.',
    action: 'Allow the user of the kubeconfig to list nodes and to get nodes/proxy.',
  },
  AgentCheckInconclusive: {
    of: ['konnectivity'],
    state: 'Skip',
    meaning:
      'The konnectivity-server answers. Whether an agent is connected is unknown, because no node is ready, or the API server of the tenant does not respond in time or responds with another error.',
    action: 'Check that a node of the tenant is ready, and check the log of the API server.',
  },
} as const satisfies Record<string, CodeEntry>;
