import type { CodeEntry } from './entry.ts';

/** Codes of the objects of a tenant: hops endpoints, proxies and kubeconfig. */
export const WORKER_HOP_CODES = {
  EndpointsAsPlanned: {
    hop: 'endpoints',
    state: 'Pass',
    title: 'endpoints as planned',
    meaning: "The tenant's kubernetes Service leads pods to the proxies and nowhere else.",
  },
  EndpointsMissing: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'no endpoints',
    meaning: 'Pods cannot reach the API by the kubernetes Service: the slice is not there.',
    action:
      "see that Snicket's operator runs and may write EndpointSlices in the tenant; it makes {slice} anew",
  },
  EndpointsOverwritten: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'endpoints overwritten',
    meaning:
      'Somebody else writes the endpoints of the kubernetes Service, so pods are led astray.',
    action:
      'keep {manager} from writing {slice}; if it is kube-apiserver, it needs --endpoint-reconciler-type=none',
  },
  EndpointsDiffer: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'endpoints differ',
    meaning: 'The endpoints of the kubernetes Service are not those that were planned.',
    action:
      "see that Snicket's operator runs and may write EndpointSlices in the tenant; it repairs {slice}",
  },
  EndpointsForeignSlice: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'more endpoints than planned',
    meaning:
      'Another slice of the kubernetes Service takes a share of the connections of pods elsewhere.',
    action: 'delete {slice} in the tenant, and keep {manager} from making it again',
  },

  ProxiesReady: {
    hop: 'proxies',
    state: 'Pass',
    title: 'proxies are ready',
    meaning: 'Every worker has a proxy that reaches the edge.',
  },
  ProxiesNoNodes: {
    hop: 'proxies',
    state: 'Pass',
    title: 'no workers yet',
    meaning: 'No worker wants a proxy: none has joined.',
  },
  NoNodeSelected: {
    hop: 'proxies',
    state: 'Fail',
    title: 'no worker is selected',
    meaning:
      'The tenant has workers, and pods of none can reach the API by the kubernetes Service.',
    action:
      'correct spec.worker.nodeSelector of the Exposure, or label the nodes: kubectl get nodes -l {selector}',
  },
  ProxiesUpdating: {
    hop: 'proxies',
    state: 'Pass',
    title: 'proxies are updated',
    meaning:
      'All proxies are ready, but not yet with the image, the mode and the addresses of now alone.',
    action:
      'wait for the roll-out, with {image}; if it does not move, look at the pods of the DaemonSet',
  },
  ProxiesStuck: {
    hop: 'proxies',
    state: 'Fail',
    title: 'the roll-out of proxies stands still',
    meaning:
      'The proxies of before serve on, but those of the version that is wanted do not come up; workers that join get none.',
    action:
      'see that nodes can pull {image}, and look at the pods of the DaemonSet: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy',
  },
  ProxiesMissing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'no DaemonSet',
    meaning: 'No worker gets a proxy: the DaemonSet is not there.',
    action:
      "see that Snicket's operator runs and may write DaemonSets in the tenant; it makes {daemonSet} anew",
  },
  ProxiesUnobserved: {
    hop: 'proxies',
    state: 'Fail',
    title: 'nobody looks at the DaemonSet',
    meaning: "The tenant's kube-controller-manager has not seen the DaemonSet as it is now.",
    action: 'see that kube-controller-manager of the tenant runs',
  },
  ProxiesNotReady: {
    hop: 'proxies',
    state: 'Fail',
    title: 'proxies are not ready',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'look at the events and the log of {pod}: a proxy that is not ready says why',
  },
  ProxyCrashing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'a proxy ends again and again',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'look at the last log of {pod}',
  },
  ProxyImageMissing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'image of the proxy cannot be had',
    meaning: "A worker cannot pull the proxy's image.",
    action: 'put {image} where workers can pull it, or name another in the Exposure',
  },

  KubeconfigMatches: {
    hop: 'kubeconfig',
    state: 'Pass',
    title: 'kubeconfig leads here',
    meaning:
      'The kubeconfig that the provider gives out names the API host and the port of the edge.',
  },
  KubeconfigUnreadable: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig cannot be read',
    meaning: 'The kubeconfig that the provider gives out is of no use to anybody.',
    action: "let the control plane's provider write it anew",
  },
  KubeconfigOtherHost: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig names another host',
    meaning: 'Whoever uses the kubeconfig that the provider gives out does not come by the edge.',
    action: 'set the external host of the control plane to {host}, as its provider takes it',
  },
  KubeconfigOtherPort: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig names another port',
    meaning:
      'Whoever uses the kubeconfig that the provider gives out dials a port that the edge may not have.',
    action: 'set the external port of the control plane to {port}, as its provider takes it',
  },
} as const satisfies Record<string, CodeEntry>;
