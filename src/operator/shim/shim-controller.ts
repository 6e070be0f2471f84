/**
 * Creates an Exposure for every provider's object with an annotation, and deletes it when the annotation is removed. The
 * finalizers of the Exposure clean up everything else.
 */
import { findingText, type Finding } from '../../api/finding.ts';
import type { Applier } from '../../kube/apply/apply.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { appliedPaths } from '../../providers/preparation/field-owners.ts';
import { fieldsOf, isUsable, recordOf } from '../../providers/preparation/record.ts';
import {
  isGeneratedFor,
  isGeneratedForPrevious,
  shimFor,
  shimObstacle,
} from '../../providers/shims/shim.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { RecreatedExposures } from './recreated-exposures.ts';
import { edgeFor, shimContext } from '../../management/shim-context.ts';
import { parseShimKey } from './shim-key.ts';

interface ShimControllerOptions {
  readonly management: ManagementCluster;
  readonly applier: Applier;
  readonly events: EventRecorder;
}

/** The controller of provider objects with an annotation. */
export class ShimController {
  readonly #options: ShimControllerOptions;
  /** The findings that were last reported for an object, by its key. */
  readonly #reported = new Map<string, string>();

  readonly #recreated: RecreatedExposures;

  constructor(options: ShimControllerOptions) {
    this.#options = options;
    this.#recreated = new RecreatedExposures(options.events);
  }

  /** Returns after how many milliseconds to reconcile again; undefined: on the next event. @throws KubeError */
  async reconcile(text: string, signal: AbortSignal): Promise<number | undefined> {
    const reference = parseShimKey(text);
    if (reference === undefined) return undefined;
    const { management } = this.#options;
    const object = await management.object(reference.resource, reference.key, signal);
    // The garbage collector deletes the Exposure of an object that is gone.
    if (object === undefined) {
      this.#reported.delete(text);
      this.#recreated.notRequested(text, undefined);
      return undefined;
    }
    const isRequested = shimFor(object, shimContext(management, object)) !== undefined;
    const existing = await this.#exposureAt(reference.key, object, isRequested, signal);
    const shim = shimFor(object, shimContext(management, object, existing));
    if (shim === undefined || shim.isIgnored === true) {
      if (shim === undefined) this.#reported.delete(text);
      else this.#report(text, object, shim.findings);
      this.#recreated.notRequested(text, existing);
      if (existing !== undefined && isGeneratedFor(existing, object)) {
        await this.#delete(existing, signal);
      }
      return undefined;
    }
    // The Exposure of a previous object of this name is being deleted. Its deletion is an event.
    if (existing !== undefined && isGeneratedForPrevious(existing, object)) return undefined;
    const obstacle = shimObstacle(existing, object);
    const { finding: noEdge } = edgeFor(management, object);
    const findings = [...shim.findings, ...(noEdge === undefined ? [] : [noEdge])];
    this.#report(text, object, obstacle === undefined ? findings : [obstacle]);
    if (obstacle !== undefined || shim.exposure === undefined) return undefined;
    this.#recreated.requested(text, object, existing);
    // The end of the deletion is an event.
    if (existing?.metadata.deletionTimestamp !== undefined) return undefined;
    // If a user has created one meanwhile, a conflict is better than two specs in one object.
    const force = existing !== undefined;
    const { applier } = this.#options;
    const applied = await applier.applyIfNeeded(shim.exposure, existing, { force, signal });
    return applied.outcome === 'held' ? applied.retryInMs : undefined;
  }

  /**
   * The Exposure of this key. The watch may be behind: if it has none, or one without the record of an object that Snicket
   * has prepared, it is read from the API server.
   */
  async #exposureAt(
    key: ObjectKey,
    object: KubeObject,
    isWanted: boolean,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { client, exposures } = this.#options.management;
    const known = exposures.get(key);
    const isBehind = appliedPaths(object).length > 0 && !isRecorded(known, object);
    if ((known !== undefined && !isBehind) || !isWanted) return known;
    return client.get(RESOURCES.exposure, key, { signal });
  }

  async #delete({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const { name, namespace, uid } = metadata;
    const { client } = this.#options.management;
    try {
      await client.delete(RESOURCES.exposure, { name, namespace }, { uid, signal });
    } catch (error) {
      // Another Exposure has the name by now.
      if (!isKubeError(error, 'Conflict')) throw error;
    }
  }

  #report(key: string, object: KubeObject, findings: readonly Finding[]): void {
    const text = findings.map((finding) => `${finding.code}: ${findingText(finding)}`).join('\n');
    if (this.#reported.get(key) === text) return;
    this.#reported.set(key, text);
    for (const finding of findings) {
      this.#options.events.record(object, {
        type: 'Warning',
        action: 'Expose',
        reason: finding.code,
        note: findingText(finding),
        // Only this process knows what it has reported.
        isLasting: true,
      });
    }
  }
}

function isRecorded(exposure: KubeObject | undefined, object: KubeObject): boolean {
  const record = exposure && recordOf(exposure);
  return record !== undefined && (!isUsable(record) || fieldsOf(record, object).length > 0);
}
