/**
 * Reconciles Edges: observe, plan, report the status, and add or remove the finalizer.
 */
import type { EdgeStatus } from '../../api/edge.ts';
import { EDGE_PROTECTION_FINALIZER } from '../../api/edge-deletion.ts';
import { addFinalizer, removeFinalizer } from '../../kube/finalizer.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { StatusWriter } from '../../kube/status-writer.ts';
import { observeEdge, type ObserveEdgeDeps } from './observe-edge.ts';
import { planEdge } from './plan-edge.ts';

/** The controller of Edges. */
export class EdgeController {
  readonly #deps: ObserveEdgeDeps;
  readonly #statuses: StatusWriter<EdgeStatus>;

  constructor(deps: ObserveEdgeDeps, statuses: StatusWriter<EdgeStatus>) {
    this.#deps = deps;
    this.#statuses = statuses;
  }

  /** @throws OutdatedError if the Edge has changed meanwhile; KubeError */
  async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const object = this.#deps.management.edges.get({ name });
    if (object === undefined) {
      this.#statuses.forget(name);
      return;
    }
    this.#statuses.assertCurrent(object);
    const plan = planEdge(observeEdge(object, this.#statuses.statusOf(object), this.#deps));
    // The status first: a deleted Edge is gone without its last finalizer.
    if (plan.status !== undefined) await this.#statuses.write(object, plan.status, signal);
    await this.#applyFinalizer(object, plan.isProtected, signal);
    if (plan.retry !== undefined) throw plan.retry;
  }

  async #applyFinalizer(object: KubeObject, isProtected: boolean, signal: AbortSignal) {
    const latest = this.#statuses.latest(object);
    const change = isProtected ? addFinalizer : removeFinalizer;
    const { client } = this.#deps.management;
    const changed = await change(client, RESOURCES.edge, latest, EDGE_PROTECTION_FINALIZER, {
      signal,
    });
    if (changed !== undefined && changed !== latest) this.#statuses.wrote(latest, changed);
  }
}
