import type { WorldPlan } from './spec.ts';

/** Counted on Kubernetes 1.36.3: the API server holds 6 inotify instances and the controller manager 5. */
export const INOTIFY_PER_CONTROL_PLANE = 11;
/** The inotify instances of one worker: kubelet holds 6 and containerd 2. */
export const INOTIFY_PER_WORKER = 8;

/** Inotify instances that the programs of a world hold open. */
export function inotifyNeeded(plan: WorldPlan): number {
  const clusters = [plan.management, ...plan.tenants];
  const workers = clusters.reduce((sum, cluster) => sum + cluster.workers.length, 0);
  return clusters.length * INOTIFY_PER_CONTROL_PLANE + workers * INOTIFY_PER_WORKER;
}
