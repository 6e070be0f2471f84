import type { CodeEntry } from './entry.ts';

/** Codes of the hops on a node. */
export const NODE_HOP_CODES = {
  NodeAddressMissing: {
    of: ['node-address'],
    state: 'Fail',
    meaning:
      'Pods of this node that dial the kubernetes Service are sent to an address that the node does not have.',
    action:
      'Check that the init container of the pod of DaemonSet kube-system/snicket-proxy on this node has completed. To add the address manually: snicket address add {address}',
  },

  NodeProxyAbsent: {
    of: ['node-proxy'],
    state: 'Fail',
    meaning:
      'No proxy runs on this node, so its pods cannot reach the API by the kubernetes Service.',
    action:
      'Check the pod of this node: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy. If its health endpoint uses another port, set --health-port.',
  },
  NodeProxyNotReady: {
    of: ['node-proxy'],
    state: 'Fail',
    meaning: 'The proxy of this node runs but is not ready.',
    action: 'Check the log of the pod of DaemonSet kube-system/snicket-proxy on this node.',
  },
  NodeProxyRefuses: {
    of: ['node-proxy'],
    state: 'Fail',
    meaning: 'The proxy is ready, but a pod that dials it gets no TLS.',
    action:
      'Check that the proxy listens on {address}, and that no firewall or network policy of the node blocks it.',
  },
  NodeProxyUntrusted: {
    of: ['node-proxy'],
    state: 'Fail',
    meaning: "Pods reject the server because the tenant's CA did not sign its certificate.",
    action:
      'Check that {file} is the current CA of the tenant, and which process listens on {address}. After a change of the CA, the operator reissues the certificate of the proxies.',
  },
  NodeProxyCertificateInvalid: {
    of: ['node-proxy'],
    state: 'Fail',
    meaning:
      "The tenant's CA signed the certificate, but it is expired or lacks the name that pods dial.",
    action:
      "Check that Snicket's operator runs and reaches the tenant: it renews the certificate of the proxies. In mode Passthrough it is the API server's own certificate.",
  },

  NodeServiceUnreachable: {
    of: ['node-service'],
    state: 'Fail',
    meaning:
      "The proxy of this node works, but the kubernetes Service does not reach it, or reaches a server whose certificate the tenant's CA did not sign.",
    action:
      'Check the EndpointSlices of Service default/kubernetes in the tenant, and that kube-proxy, or its replacement, runs on this node and knows them. A node without a default route needs a route for {address}.',
  },
} as const satisfies Record<string, CodeEntry>;
