/**
 * For tests only: the DaemonSet of proxies among the objects of a tenant, and its pod.
 */
import type { KubeObject } from '../../kube/object.ts';
import type { DaemonSet, PodSpec } from '../pod.ts';

/** Returns the DaemonSet among these objects. */
export function daemonSetIn(objects: readonly KubeObject[]): DaemonSet {
  return objects.find(({ kind }) => kind === 'DaemonSet') as DaemonSet;
}

/** Returns the pod spec of that DaemonSet. */
export function podIn(objects: readonly KubeObject[]): PodSpec {
  return daemonSetIn(objects).spec.template.spec;
}
