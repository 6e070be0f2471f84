/**
 * Tells people who delete an Exposure that an annotation made: it comes again, until the annotation goes.
 */
import type { EventRecorder } from '../../kube/events/events.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { EDGE_ANNOTATION, KAMAJI_DOMAIN_ANNOTATION } from '../../providers/shims/annotations.ts';

/** The Exposures of all objects that ask for one. */
export class ReturningExposures {
  readonly #events: EventRecorder;
  /** By the key of an object: whether its Exposure is there, or its going needs no more words. */
  readonly #known = new Map<string, 'there' | 'told'>();

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  /** An object that asks for an Exposure has this one. */
  asking(key: string, object: KubeObject, existing: KubeObject | undefined): void {
    const isLeaving = existing?.metadata.deletionTimestamp !== undefined;
    if (existing !== undefined && !isLeaving) {
      this.#known.set(key, 'there');
      return;
    }
    const known = this.#known.get(key);
    if (known === 'told' || (known === undefined && !isLeaving)) return;
    this.#known.set(key, 'told');
    const { annotations = {} } = object.metadata;
    const asks = [EDGE_ANNOTATION, KAMAJI_DOMAIN_ANNOTATION].find((name) => name in annotations);
    this.#events.record(object, {
      ...{ type: 'Warning', action: 'Expose', reason: 'ExposureReturns' },
      note: `Exposure ${keyText(object.metadata)} was deleted, and comes again, since ${objectText(object)} asks for it by the annotation ${asks}: remove that, and it goes`,
    });
  }

  /** An object asks for none, so that its Exposure goes, or is gone. */
  silent(key: string, existing: KubeObject | undefined): void {
    if (existing === undefined) this.#known.delete(key);
    else this.#known.set(key, 'told');
  }
}
