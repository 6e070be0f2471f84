import { CONTROL_PLANE_FINDINGS } from '../../api/finding-codes/control-plane.ts';
import { EXPOSURE_FINDINGS } from '../../api/finding-codes/exposure.ts';
import type { CodeEntry } from './entry.ts';

/** Codes of the objects of a tenant: hops endpoints, proxies and kubeconfig. */
export const WORKER_HOP_CODES = {
  EndpointsOverwritten: {
    of: ['endpoints'],
    state: 'Fail',
    meaning:
      'Another client writes the endpoints of the kubernetes Service, so pods reach the wrong servers.',
    action:
      'Stop {manager} from writing {slice}. If it is kube-apiserver, start it with --endpoint-reconciler-type=none.',
  },
  EndpointsForeignSlice: {
    of: ['endpoints'],
    state: 'Fail',
    meaning:
      'Another EndpointSlice of the kubernetes Service sends some connections of pods elsewhere.',
    action: 'Delete {slice} in the tenant, and stop {manager} from creating it again.',
  },

  ProxiesReady: {
    of: ['proxies'],
    state: 'Pass',
    meaning: 'Every worker has a proxy that reaches the edge.',
  },
  NoNodes: {
    of: ['proxies', 'konnectivity'],
    state: 'Pass',
    meaning:
      'The tenant has no nodes yet, and so no agents of konnectivity. Each node gets a proxy when it joins.',
  },
  NoNodeSelected: {
    of: ['proxies'],
    state: 'Fail',
    meaning:
      'The tenant has workers, but the node selector matches none of them, so pods cannot reach the API by the kubernetes Service.',
    action:
      'Correct spec.worker.nodeSelector of the Exposure, or label the nodes: kubectl get nodes -l {selector}',
  },
  ProxiesUpdating: {
    of: ['proxies'],
    state: 'Warn',
    meaning: 'All proxies are ready, but some still have a previous image, mode or addresses.',
    action:
      'Wait for the rollout of {image}. If it does not progress, check the pods of the DaemonSet.',
  },
  ProxiesStuck: {
    of: ['proxies'],
    state: 'Fail',
    meaning:
      'The previous proxies still serve, but the new ones do not become ready. Workers that join get no proxy.',
    action:
      'Check that nodes can pull {image}, and check the pods of the DaemonSet: kubectl -n kube-system describe pods -l app.kubernetes.io/name=snicket-proxy',
  },
  ProxiesNotObserved: {
    of: ['proxies'],
    state: 'Fail',
    meaning:
      "The tenant's kube-controller-manager has not observed the latest change of the DaemonSet.",
    action: 'Check that kube-controller-manager of the tenant runs.',
  },
  ProxiesNotReady: {
    of: ['proxies'],
    state: 'Fail',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'Check the events and the log of {pod}, which say why it is not ready.',
  },
  ProxyCrashing: {
    of: ['proxies'],
    state: 'Fail',
    meaning: 'Pods of some workers cannot reach the API by the kubernetes Service.',
    action: 'Check the previous log of {pod}.',
  },
  ProxyImageMissing: {
    of: ['proxies'],
    state: 'Fail',
    meaning: "A worker cannot pull the proxy's image.",
    action:
      'Push {image} to a registry that workers can reach, or set another image in the Exposure.',
  },

  KubeconfigInvalid: {
    ...CONTROL_PLANE_FINDINGS.KubeconfigInvalid,
    of: ['kubeconfig'],
    state: 'Fail',
  },
  NotReconciled: {
    ...EXPOSURE_FINDINGS.NotReconciled,
    of: ['endpoints', 'proxies'],
    state: 'Fail',
  },
  KubeconfigMismatch: {
    of: ['kubeconfig'],
    state: 'Fail',
    meaning:
      'Users of the kubeconfig that the provider publishes do not connect through the edge, because it has another host or port.',
    action:
      "Set the external host and port of the control plane to {endpoint} in its provider's object.",
  },
} as const satisfies Record<string, CodeEntry>;
