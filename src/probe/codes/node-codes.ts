import type { CodeEntry } from './entry.ts';

/** Codes of the hops on a node. */
export const NODE_HOP_CODES = {
  NodeAddressPresent: {
    hop: 'node-address',
    state: 'Pass',
    title: 'virtual address is in place',
    meaning: 'The node has the virtual address on its loopback interface, as the proxy needs it.',
  },
  NodeAddressWrong: {
    hop: 'node-address',
    state: 'Fail',
    title: 'virtual address is not in place',
    meaning:
      'Pods of this node that dial the kubernetes Service are led to an address that it does not have.',
    action:
      'see that the init container of the pod of DaemonSet kube-system/snicket-proxy on this node has run; by hand: snicket address add {address}',
  },

  NodeProxyAnswers: {
    hop: 'node-proxy',
    state: 'Pass',
    title: 'proxy answers',
    meaning:
      "The proxy of this node is ready, and answers as pods expect it: with a certificate of the tenant's CA.",
  },
  NodeProxyAbsent: {
    hop: 'node-proxy',
    state: 'Fail',
    title: 'no proxy',
    meaning:
      'No proxy runs on this node, so its pods cannot reach the API by the kubernetes Service.',
    action:
      'look at the pod of this node: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy; if its health is on another port, say so with --health-port',
  },
  NodeProxyNotReady: {
    hop: 'node-proxy',
    state: 'Fail',
    title: 'proxy is not ready',
    meaning: 'The proxy of this node runs, and says that it cannot serve.',
    action: 'look into the log of the pod of DaemonSet kube-system/snicket-proxy on this node',
  },
  NodeProxyRefuses: {
    hop: 'node-proxy',
    state: 'Fail',
    title: 'proxy does not take connections',
    meaning: 'The proxy says that it is ready, but a pod that dials it gets no TLS.',
    action:
      'see that the proxy listens on {address}, and that no firewall or network policy of the node is in between',
  },
  NodeProxyUntrusted: {
    hop: 'node-proxy',
    state: 'Fail',
    title: 'proxy has a certificate of another CA',
    meaning: "Pods refuse what answers there: its certificate is not of the tenant's CA.",
    action:
      'see that {file} is the CA of the tenant as it is now, and who listens on {address}; after a change of the CA the operator makes the certificate of the proxies anew',
  },
  NodeProxyCertificateBad: {
    hop: 'node-proxy',
    state: 'Fail',
    title: 'pods refuse the certificate',
    meaning:
      "The certificate that pods get is of the tenant's CA, but out of date or without the name that they dial.",
    action:
      "see that Snicket's operator runs and reaches the tenant: it renews the certificate of the proxies; in mode Passthrough it is the API server's own",
  },

  NodeServiceAnswers: {
    hop: 'node-service',
    state: 'Pass',
    title: 'Service leads to the proxy',
    meaning: 'The kubernetes Service works on this node as it does for pods.',
  },
  NodeServiceUnreachable: {
    hop: 'node-service',
    state: 'Fail',
    title: 'Service does not answer',
    meaning: 'The proxy of this node is well, but the kubernetes Service does not lead to it.',
    action:
      'see that kube-proxy, or what stands in for it, runs on this node and knows EndpointSlice default/kubernetes; a node without a default route needs a route for {address}',
  },
  NodeServiceElsewhere: {
    hop: 'node-service',
    state: 'Fail',
    title: 'Service leads elsewhere',
    meaning:
      "The kubernetes Service leads pods of this node to something that is not of the tenant's CA.",
    action:
      'look at the EndpointSlices of Service default/kubernetes in the tenant, and at the rules of kube-proxy for {address}',
  },
} as const satisfies Record<string, CodeEntry>;
