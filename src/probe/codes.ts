/**
 * Everything that a probe can say of a hop, by code. A code is for ever: reason of a condition, log field, metric label.
 *
 * It belongs to one hop and one state. A Pass that has an action is a warning: the path works, and somebody should act.
 */

/** The hops, in the order of the path. */
export const HOPS = [
  'dns',
  'edge',
  'sni',
  'certificate',
  'api',
  'konnectivity',
  'endpoints',
  'proxies',
  'kubeconfig',
] as const;

/** The hops of one node, which only somebody on it can try: from its pods to the proxy. No status has them. */
export const NODE_HOPS = ['node-address', 'node-proxy', 'node-service'] as const;

/** One of {@link HOPS} or {@link NODE_HOPS}. */
export type HopName = (typeof HOPS | typeof NODE_HOPS)[number];

/** What a code stands for. */
export interface CodeEntry {
  readonly hop: HopName;
  readonly state: 'Pass' | 'Fail';
  /** A few words for a table. */
  readonly title: string;
  /** What it means for whoever uses the path. */
  readonly meaning: string;
  /** The way out, with `{names}` for what only the probe knows. No full stop. */
  readonly action?: string;
}

/** The codes of hops that were tried. */
export const HOP_CODES = {
  DnsResolves: {
    ...{ hop: 'dns', state: 'Pass' },
    title: 'hosts resolve',
    meaning: 'Every host has addresses, and all of them are addresses of the edge.',
  },
  DnsNoAnswer: {
    ...{ hop: 'dns', state: 'Fail' },
    title: 'host has no address',
    meaning: 'Clients cannot find the edge: DNS knows no address of the host.',
    action: 'add a DNS record for {host} that leads to {edge}',
  },
  DnsResolverFailed: {
    ...{ hop: 'dns', state: 'Fail' },
    title: 'resolver failed',
    meaning:
      'Whether the host has an address is not known: the resolver failed, or did not answer in time.',
    action: 'see that the resolver of the machine that probes answers for {host}',
  },
  DnsElsewhere: {
    ...{ hop: 'dns', state: 'Fail' },
    title: 'host leads elsewhere',
    meaning: 'Some or all clients dial a machine that is not the edge.',
    action:
      'let the DNS record of {host} lead to {edge} alone, or correct the addresses of the Edge',
  },

  EdgeAnswers: {
    ...{ hop: 'edge', state: 'Pass' },
    title: 'edge accepts',
    meaning: 'The edge accepts TCP connections.',
  },
  EdgeNoAddress: {
    ...{ hop: 'edge', state: 'Fail' },
    title: 'edge has no address',
    meaning: 'The edge is known by a name only, and that name has no address.',
    action: 'see that {edge} can be resolved, or write the IP addresses of the edge into the Edge',
  },
  EdgeRefused: {
    ...{ hop: 'edge', state: 'Fail' },
    title: 'edge refuses',
    meaning: 'Nothing listens on the port of the edge.',
    action: 'see that the edge runs and listens on port {port}, or correct the port of the Edge',
  },
  EdgeTimeout: {
    ...{ hop: 'edge', state: 'Fail' },
    title: 'edge is silent',
    meaning: 'The edge does not answer a dial: it is down, or something on the way drops packets.',
    action:
      'see that the edge runs and that firewalls and security groups let TCP port {port} pass',
  },
  EdgeUnreachable: {
    ...{ hop: 'edge', state: 'Fail' },
    title: 'no way to the edge',
    meaning: 'The network has no way to the address of the edge.',
    action: 'correct the addresses of the Edge, or the routes of the machine that probes',
  },

  RoutedToTenant: {
    ...{ hop: 'sni', state: 'Pass' },
    title: 'reaches the tenant',
    meaning: "TLS for the API host ends at this tenant: the certificate is of the tenant's CA.",
  },
  SniEdgeTerminates: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'edge ends TLS itself',
    meaning: 'The edge answers with a certificate that is of no tenant: it ends TLS itself.',
    action:
      'switch TLS passthrough on at the edge for {host}; some edges answer so for a host without a route, so see that its route was admitted too',
  },
  SniUnknownAuthority: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'API server of an unknown CA',
    meaning:
      "An API server answers, but its certificate is not of the tenant's CA as that is known here: the CA was changed, or the route leads to a control plane that nobody has exposed.",
    action:
      'if the CA was changed, put the new one where the control plane of {host} keeps it, and into its kubeconfig; else see where the route of {host} leads',
  },
  SniOtherTenant: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'leads to another tenant',
    meaning: 'Clients of this tenant reach another one, which refuses them.',
    action:
      'look for a second route object that claims {host} and leads to {tenant}, and remove it',
  },
  SniNoRoute: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'no route',
    meaning: 'The edge knows no way for the API host, or nothing answers behind it.',
    action:
      'see that the route of {host} was admitted by the edge, and that the control plane runs',
  },
  SniNoEndpoint: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'nothing behind the route',
    meaning: 'The edge knows the API host, but no endpoint of the control plane answers it.',
    action: 'see that the control plane of {host} runs and its Service has ready endpoints',
  },
  SniRefused: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'handshake refused',
    meaning: 'The edge, or whatever is behind it, would not complete the TLS handshake.',
    action: 'look for {host} in the log of the edge, then in that of the control plane',
  },
  SniNotTls: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'no TLS',
    meaning:
      'What answers does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'see that port {port} is the TLS port of the edge and that the route of {host} was admitted',
  },
  SniTimeout: {
    ...{ hop: 'sni', state: 'Fail' },
    title: 'handshake is not answered',
    meaning: 'The edge accepts the connection, but nobody completes the TLS handshake.',
    action:
      'see that the edge reaches the control plane of {host}, and that the control plane is not stuck',
  },
  SniCaUnreadable: {
    ...{ hop: 'sni', state: 'Fail' },
    title: "tenant's CA cannot be read",
    meaning: 'Whose certificate it is cannot be told without the CA of the tenant.',
    action: "put the tenant's CA as PEM where the control plane of {host} keeps it",
  },

  CertificateValid: {
    ...{ hop: 'certificate', state: 'Pass' },
    title: 'certificate is good',
    meaning: 'The certificate has the name of the host and is in date.',
  },
  CertificateExpiresSoon: {
    ...{ hop: 'certificate', state: 'Pass' },
    title: 'certificate expires soon',
    meaning: 'All is well now, and will not be within days.',
    action: 'renew {certificate}',
  },
  CertificateExpired: {
    ...{ hop: 'certificate', state: 'Fail' },
    title: 'certificate has expired',
    meaning: 'Every client that looks at the certificate refuses it.',
    action: 'renew {certificate}',
  },
  CertificateNotYetValid: {
    ...{ hop: 'certificate', state: 'Fail' },
    title: 'certificate is from the future',
    meaning: 'The certificate is valid from a later time on: one of two clocks is wrong.',
    action: 'set the clock of whoever issued {certificate}, or of the machine that probes',
  },
  CertificateNameMissing: {
    ...{ hop: 'certificate', state: 'Fail' },
    title: 'certificate lacks the host',
    meaning: 'Every client refuses the certificate, because the host is not among its names.',
    action:
      "add {host} to the names of the API server's certificate, as the control plane's provider takes them",
  },

  ApiAnswers: {
    ...{ hop: 'api', state: 'Pass' },
    title: 'API server answers',
    meaning: 'A kube-apiserver answered through the edge, on a connection that was verified.',
  },
  ApiNotAnswering: {
    ...{ hop: 'api', state: 'Fail' },
    title: 'no answer',
    meaning: 'TLS reaches the tenant, but a request gets no answer.',
    action: 'look into the log of the API server behind {host}',
  },
  ApiUnhealthy: {
    ...{ hop: 'api', state: 'Fail' },
    title: 'API server is not well',
    meaning: 'The path is good, and the API server at its end answers with a failure of its own.',
    action: 'look into the log of the API server behind {host}',
  },
  ApiNotKubernetes: {
    ...{ hop: 'api', state: 'Fail' },
    title: 'not an API server',
    meaning: "What answers has a certificate of the tenant's CA, but is no kube-apiserver.",
    action: 'see that the route of {host} leads to the port of the API server',
  },

  KonnectivityAnswers: {
    ...{ hop: 'konnectivity', state: 'Pass' },
    title: 'konnectivity answers',
    meaning:
      "TLS for the konnectivity host ends at this tenant's server, in date and with the right name.",
  },
  KonnectivityEdgeTerminates: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'edge ends TLS itself',
    meaning: 'The edge answers with a certificate that is of no tenant: agents do not trust it.',
    action:
      'switch TLS passthrough on at the edge for {host}; some edges answer so for a host without a route, so see that its route was admitted too',
  },
  KonnectivityUnknownAuthority: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'server of an unknown CA',
    meaning:
      "A server of a control plane answers, but its certificate is not of the tenant's CA as that is known here: agents do not trust it.",
    action:
      'let konnectivity-server of {host} serve with a certificate of the CA that the tenant has; if the route of {host} leads to another control plane, mend that',
  },
  KonnectivityOtherTenant: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'leads to another tenant',
    meaning: 'Agents of this tenant reach another one, which refuses them.',
    action:
      'look for a second route object that claims {host} and leads to {tenant}, and remove it',
  },
  KonnectivityNoRoute: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'no route',
    meaning: 'The edge knows no way for the konnectivity host, or nothing answers behind it.',
    action:
      'see that the route of {host} was admitted by the edge, and that konnectivity-server runs',
  },
  KonnectivityNoEndpoint: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'nothing behind the route',
    meaning: 'The edge knows the konnectivity host, but no endpoint answers it.',
    action: 'see that konnectivity-server of {host} runs and its Service has ready endpoints',
  },
  KonnectivityRefused: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'handshake refused',
    meaning: 'The edge, or konnectivity-server behind it, would not complete the TLS handshake.',
    action: 'look for {host} in the log of the edge, then in that of konnectivity-server',
  },
  KonnectivityNotTls: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'no TLS',
    meaning:
      'What answers does not speak TLS. Some edges answer in plain HTTP for a host without a route.',
    action:
      'see that the route of {host} was admitted and leads to the port of konnectivity-server for agents',
  },
  KonnectivityTimeout: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'handshake is not answered',
    meaning: 'The edge accepts the connection, but nobody completes the TLS handshake.',
    action: 'see that the edge reaches konnectivity-server of {host}, and that it is not stuck',
  },
  KonnectivityExpiresSoon: {
    ...{ hop: 'konnectivity', state: 'Pass' },
    title: 'certificate expires soon',
    meaning: 'All is well now, and agents will be cut off within days.',
    action: 'renew {certificate}',
  },
  KonnectivityExpired: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'certificate has expired',
    meaning: 'Agents refuse the certificate: no logs, no exec, no webhooks.',
    action: 'renew {certificate}',
  },
  KonnectivityNotYetValid: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'certificate is from the future',
    meaning: 'The certificate is valid from a later time on: one of two clocks is wrong.',
    action: 'set the clock of whoever issued {certificate}, or of the machine that probes',
  },
  KonnectivityNameMissing: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'certificate lacks the host',
    meaning: 'Agents refuse the certificate, because the host is not among its names.',
    action:
      "add {host} to the names of konnectivity-server's certificate, as the control plane's provider takes them",
  },
  KonnectivityNotHttp2: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'no HTTP/2',
    meaning: 'Agents speak gRPC, and what answers does not agree on HTTP/2.',
    action: 'see that the route of {host} leads to the port of konnectivity-server for agents',
  },
  KonnectivityLeadsToApi: {
    ...{ hop: 'konnectivity', state: 'Fail' },
    title: 'leads to the API server',
    meaning: 'Agents reach the API server in place of konnectivity-server, and are refused.',
    action: 'let the route of {host} lead to the port of konnectivity-server for agents',
  },

  EndpointsAsPlanned: {
    ...{ hop: 'endpoints', state: 'Pass' },
    title: 'endpoints as planned',
    meaning: "The tenant's kubernetes Service leads pods to the proxies and nowhere else.",
  },
  EndpointsMissing: {
    ...{ hop: 'endpoints', state: 'Fail' },
    title: 'no endpoints',
    meaning: 'Pods cannot reach the API by the kubernetes Service: the slice is not there.',
    action:
      "see that Snicket's operator runs and may write EndpointSlices in the tenant; it makes {slice} anew",
  },
  EndpointsOverwritten: {
    ...{ hop: 'endpoints', state: 'Fail' },
    title: 'endpoints overwritten',
    meaning:
      'Somebody else writes the endpoints of the kubernetes Service, so pods are led astray.',
    action:
      'keep {manager} from writing {slice}; if it is kube-apiserver, it needs --endpoint-reconciler-type=none',
  },
  EndpointsDiffer: {
    ...{ hop: 'endpoints', state: 'Fail' },
    title: 'endpoints differ',
    meaning: 'The endpoints of the kubernetes Service are not those that were planned.',
    action:
      "see that Snicket's operator runs and may write EndpointSlices in the tenant; it repairs {slice}",
  },
  EndpointsForeignSlice: {
    ...{ hop: 'endpoints', state: 'Fail' },
    title: 'more endpoints than planned',
    meaning:
      'Another slice of the kubernetes Service takes a share of the connections of pods elsewhere.',
    action: 'delete {slice} in the tenant, and keep {manager} from making it again',
  },

  ProxiesReady: {
    ...{ hop: 'proxies', state: 'Pass' },
    title: 'proxies are ready',
    meaning: 'Every worker has a proxy that reaches the edge.',
  },
  ProxiesNoNodes: {
    ...{ hop: 'proxies', state: 'Pass' },
    title: 'no workers yet',
    meaning: 'No worker wants a proxy: none has joined.',
  },
  NoNodeSelected: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'no worker is selected',
    meaning:
      'The tenant has workers, and pods of none can reach the API by the kubernetes Service.',
    action:
      'correct spec.worker.nodeSelector of the Exposure, or label the nodes: kubectl get nodes -l {selector}',
  },
  ProxiesUpdating: {
    ...{ hop: 'proxies', state: 'Pass' },
    title: 'proxies are updated',
    meaning: 'All proxies are ready, some of them still in the version of before.',
    action:
      'wait for the roll-out of {image}; if it does not move, look at the pods of the DaemonSet',
  },
  ProxiesStuck: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'the roll-out of proxies stands still',
    meaning:
      'The proxies of before serve on, but those of the version that is wanted do not come up; workers that join get none.',
    action:
      'see that nodes can pull {image}, and look at the pods of the DaemonSet: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy',
  },
  ProxiesMissing: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'no DaemonSet',
    meaning: 'No worker gets a proxy: the DaemonSet is not there.',
    action:
      "see that Snicket's operator runs and may write DaemonSets in the tenant; it makes {daemonSet} anew",
  },
  ProxiesUnobserved: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'nobody looks at the DaemonSet',
    meaning: "The tenant's kube-controller-manager has not seen the DaemonSet as it is now.",
    action: 'see that kube-controller-manager of the tenant runs',
  },
  ProxiesNotReady: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'proxies are not ready',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'look at the events and the log of {pod}: a proxy that is not ready says why',
  },
  ProxyCrashing: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'a proxy ends again and again',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'look at the last log of {pod}',
  },
  ProxyImageMissing: {
    ...{ hop: 'proxies', state: 'Fail' },
    title: 'image of the proxy cannot be had',
    meaning: "A worker cannot pull the proxy's image.",
    action: 'put {image} where workers can pull it, or name another in the Exposure',
  },

  KubeconfigMatches: {
    ...{ hop: 'kubeconfig', state: 'Pass' },
    title: 'kubeconfig leads here',
    meaning:
      'The kubeconfig that the provider gives out names the API host and the port of the edge.',
  },
  KubeconfigUnreadable: {
    ...{ hop: 'kubeconfig', state: 'Fail' },
    title: 'kubeconfig cannot be read',
    meaning: 'The kubeconfig that the provider gives out is of no use to anybody.',
    action: "let the control plane's provider write it anew",
  },
  KubeconfigOtherHost: {
    ...{ hop: 'kubeconfig', state: 'Fail' },
    title: 'kubeconfig names another host',
    meaning: 'Whoever uses the kubeconfig that the provider gives out does not come by the edge.',
    action: 'set the external host of the control plane to {host}, as its provider takes it',
  },
  KubeconfigOtherPort: {
    ...{ hop: 'kubeconfig', state: 'Fail' },
    title: 'kubeconfig names another port',
    meaning:
      'Whoever uses the kubeconfig that the provider gives out dials a port that the edge may not have.',
    action: 'set the external port of the control plane to {port}, as its provider takes it',
  },

  NodeAddressPresent: {
    ...{ hop: 'node-address', state: 'Pass' },
    title: 'virtual address is in place',
    meaning: 'The node has the virtual address on its loopback interface, as the proxy needs it.',
  },
  NodeAddressWrong: {
    ...{ hop: 'node-address', state: 'Fail' },
    title: 'virtual address is not in place',
    meaning:
      'Pods of this node that dial the kubernetes Service are led to an address that it does not have.',
    action:
      'see that the init container of the pod of DaemonSet kube-system/snicket-proxy on this node has run; by hand: snicket address add {address}',
  },

  NodeProxyAnswers: {
    ...{ hop: 'node-proxy', state: 'Pass' },
    title: 'proxy answers',
    meaning:
      "The proxy of this node is ready, and answers as pods expect it: with a certificate of the tenant's CA.",
  },
  NodeProxyAbsent: {
    ...{ hop: 'node-proxy', state: 'Fail' },
    title: 'no proxy',
    meaning:
      'No proxy runs on this node, so its pods cannot reach the API by the kubernetes Service.',
    action:
      'look at the pod of this node: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy; if its health is on another port, say so with --health-port',
  },
  NodeProxyNotReady: {
    ...{ hop: 'node-proxy', state: 'Fail' },
    title: 'proxy is not ready',
    meaning: 'The proxy of this node runs, and says that it cannot serve.',
    action: 'look into the log of the pod of DaemonSet kube-system/snicket-proxy on this node',
  },
  NodeProxyRefuses: {
    ...{ hop: 'node-proxy', state: 'Fail' },
    title: 'proxy does not take connections',
    meaning: 'The proxy says that it is ready, but a pod that dials it gets no TLS.',
    action:
      'see that the proxy listens on {address}, and that no firewall or network policy of the node is in between',
  },
  NodeProxyUntrusted: {
    ...{ hop: 'node-proxy', state: 'Fail' },
    title: 'proxy has a certificate of another CA',
    meaning: "Pods refuse what answers there: its certificate is not of the tenant's CA.",
    action:
      'see that {file} is the CA of the tenant as it is now, and who listens on {address}; after a change of the CA the operator makes the certificate of the proxies anew',
  },
  NodeProxyCertificateBad: {
    ...{ hop: 'node-proxy', state: 'Fail' },
    title: 'pods refuse the certificate',
    meaning:
      "The certificate that pods get is of the tenant's CA, but out of date or without the name that they dial.",
    action:
      "see that Snicket's operator runs and reaches the tenant: it renews the certificate of the proxies; in mode passthrough it is the API server's own",
  },

  NodeServiceAnswers: {
    ...{ hop: 'node-service', state: 'Pass' },
    title: 'Service leads to the proxy',
    meaning: 'The kubernetes Service works on this node as it does for pods.',
  },
  NodeServiceUnreachable: {
    ...{ hop: 'node-service', state: 'Fail' },
    title: 'Service does not answer',
    meaning: 'The proxy of this node is well, but the kubernetes Service does not lead to it.',
    action:
      'see that kube-proxy, or what stands in for it, runs on this node and knows EndpointSlice default/kubernetes; a node without a default route needs a route for {address}',
  },
  NodeServiceElsewhere: {
    ...{ hop: 'node-service', state: 'Fail' },
    title: 'Service leads elsewhere',
    meaning:
      "The kubernetes Service leads pods of this node to something that is not of the tenant's CA.",
    action:
      'look at the EndpointSlices of Service default/kubernetes in the tenant, and at the rules of kube-proxy for {address}',
  },
} as const satisfies Record<string, CodeEntry>;

/** A code of a hop that was tried. */
export type HopCode = keyof typeof HOP_CODES;

/** Why a hop was not tried. */
export const SKIP_CODES = {
  EarlierHopFailed: {
    title: 'an earlier hop failed',
    meaning: 'What this hop stands on did not pass, so it was not tried.',
  },
  NotApplicable: {
    title: 'does not apply',
    meaning: 'The tenant does not have what this hop is about.',
  },
  NotLookedAt: {
    title: 'not looked at',
    meaning: 'Whoever could tell of this hop could not be asked.',
  },
} as const satisfies Record<string, { readonly title: string; readonly meaning: string }>;

/** A code of a hop that was not tried. */
export type SkipCode = keyof typeof SKIP_CODES;
