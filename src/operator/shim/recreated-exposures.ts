/**
 * Reports that a deleted Exposure is created again, because a provider's object still has the annotation for it.
 */
import type { EventRecorder } from '../../kube/events/events.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { EDGE_ANNOTATION, KAMAJI_DOMAIN_ANNOTATION } from '../../providers/shims/annotations.ts';

/** Tracks the Exposures of all objects with an annotation. */
export class RecreatedExposures {
  readonly #events: EventRecorder;
  /** By the key of an object: whether its Exposure exists, or its deletion is reported. */
  readonly #known = new Map<string, 'exists' | 'reported'>();

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  /** To be called for an object that requests an Exposure, with the existing one. */
  requested(key: string, object: KubeObject, existing: KubeObject | undefined): void {
    const isDeleted = existing?.metadata.deletionTimestamp !== undefined;
    if (existing !== undefined && !isDeleted) {
      this.#known.set(key, 'exists');
      return;
    }
    const known = this.#known.get(key);
    if (known === 'reported' || (known === undefined && !isDeleted)) return;
    this.#known.set(key, 'reported');
    const { annotations = {} } = object.metadata;
    const annotation = [EDGE_ANNOTATION, KAMAJI_DOMAIN_ANNOTATION].find(
      (name) => name in annotations,
    );
    this.#events.record(object, {
      type: 'Warning',
      action: 'Expose',
      reason: 'ExposureReturns',
      note: `Exposure ${keyText(object.metadata)} was deleted and is created again, because ${objectText(object)} has the annotation ${annotation}. Remove the annotation to delete the Exposure.`,
    });
  }

  /** To be called for an object that requests no Exposure, with the one that is being deleted, if any. */
  notRequested(key: string, existing: KubeObject | undefined): void {
    if (existing === undefined) this.#known.delete(key);
    else this.#known.set(key, 'reported');
  }
}
