import type { CodeEntry } from './entry.ts';

/** Codes of the objects of a tenant: hops endpoints, proxies and kubeconfig. */
export const WORKER_HOP_CODES = {
  EndpointsAsPlanned: {
    hop: 'endpoints',
    state: 'Pass',
    title: 'endpoints as planned',
    meaning: "The tenant's kubernetes Service points to the proxies only.",
  },
  EndpointsMissing: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'no endpoints',
    meaning:
      'Pods cannot reach the API by the kubernetes Service because its EndpointSlice does not exist.',
    action:
      "Check that Snicket's operator runs and is allowed to write EndpointSlices in the tenant. It recreates {slice}.",
  },
  EndpointsOverwritten: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'endpoints overwritten',
    meaning:
      'Another client writes the endpoints of the kubernetes Service, so pods reach the wrong servers.',
    action:
      'Stop {manager} from writing {slice}. If it is kube-apiserver, start it with --endpoint-reconciler-type=none.',
  },
  EndpointsDiffer: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'endpoints differ',
    meaning: 'The endpoints of the kubernetes Service are not the planned ones.',
    action:
      "Check that Snicket's operator runs and is allowed to write EndpointSlices in the tenant. It repairs {slice}.",
  },
  EndpointsForeignSlice: {
    hop: 'endpoints',
    state: 'Fail',
    title: 'additional endpoints',
    meaning:
      'Another EndpointSlice of the kubernetes Service sends some connections of pods elsewhere.',
    action: 'Delete {slice} in the tenant, and stop {manager} from creating it again.',
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
    meaning: 'No worker has joined, so none needs a proxy.',
  },
  NoNodeSelected: {
    hop: 'proxies',
    state: 'Fail',
    title: 'no worker is selected',
    meaning:
      'The tenant has workers, but the node selector matches none of them, so pods cannot reach the API by the kubernetes Service.',
    action:
      'Correct spec.worker.nodeSelector of the Exposure, or label the nodes: kubectl get nodes -l {selector}',
  },
  ProxiesUpdating: {
    hop: 'proxies',
    state: 'Pass',
    title: 'proxies are updating',
    meaning: 'All proxies are ready, but some still have a previous image, mode or addresses.',
    action:
      'Wait for the rollout of {image}. If it does not progress, check the pods of the DaemonSet.',
  },
  ProxiesStuck: {
    hop: 'proxies',
    state: 'Fail',
    title: 'rollout is stuck',
    meaning:
      'The previous proxies still serve, but the new ones do not become ready. Workers that join get no proxy.',
    action:
      'Check that nodes can pull {image}, and check the pods of the DaemonSet: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy',
  },
  ProxiesMissing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'no DaemonSet',
    meaning: 'No worker has a proxy because the DaemonSet does not exist.',
    action:
      "Check that Snicket's operator runs and is allowed to write DaemonSets in the tenant. It recreates {daemonSet}.",
  },
  ProxiesNotObserved: {
    hop: 'proxies',
    state: 'Fail',
    title: 'DaemonSet not observed',
    meaning:
      "The tenant's kube-controller-manager has not observed the latest change of the DaemonSet.",
    action: 'Check that kube-controller-manager of the tenant runs.',
  },
  ProxiesNotReady: {
    hop: 'proxies',
    state: 'Fail',
    title: 'proxies are not ready',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'Check the events and the log of {pod}, which say why it is not ready.',
  },
  ProxyCrashing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'a proxy keeps crashing',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'Check the previous log of {pod}.',
  },
  ProxyImageMissing: {
    hop: 'proxies',
    state: 'Fail',
    title: 'image cannot be pulled',
    meaning: "A worker cannot pull the proxy's image.",
    action:
      'Push {image} to a registry that workers can reach, or set another image in the Exposure.',
  },

  KubeconfigMatches: {
    hop: 'kubeconfig',
    state: 'Pass',
    title: 'kubeconfig points to the edge',
    meaning:
      'The kubeconfig that the provider publishes has the API host and the port of the edge.',
  },
  KubeconfigInvalid: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig is invalid',
    meaning: 'The kubeconfig that the provider publishes cannot be used.',
    action: "Have the control plane's provider recreate it.",
  },
  KubeconfigHostMismatch: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig has another host',
    meaning: 'Users of the kubeconfig that the provider publishes do not connect through the edge.',
    action: "Set the external host of the control plane to {host} in its provider's object.",
  },
  KubeconfigPortMismatch: {
    hop: 'kubeconfig',
    state: 'Fail',
    title: 'kubeconfig has another port',
    meaning:
      'Users of the kubeconfig that the provider publishes dial a port that the edge may not serve.',
    action: "Set the external port of the control plane to {port} in its provider's object.",
  },
} as const satisfies Record<string, CodeEntry>;
