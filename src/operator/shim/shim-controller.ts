/**
 * Makes an Exposure for every object that asks for one by an annotation, and deletes it when the object asks no more. All
 * else is the Exposure's own affair: its finalizers see to it that everything is as before when it goes.
 */
import { findingText, type Finding } from '../../api/finding.ts';
import type { Applier } from '../../kube/apply/apply.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { appliedPaths } from '../../providers/preparation/field-owners.ts';
import { fieldsOf, isUsable, recordOf } from '../../providers/preparation/record.ts';
import { isMadeFor, isMadeForFormer, shimFor, shimObstacle } from '../../providers/shims/shim.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { ReturningExposures } from './returning-exposures.ts';
import { edgeFor, shimContext } from '../../management/shim-context.ts';
import { shimPlaceOf } from './shim-key.ts';

/** What the controller works with. */
export interface ShimControllerOptions {
  readonly management: ManagementCluster;
  readonly applier: Applier;
  readonly events: EventRecorder;
}

/** The controller of objects that ask for Exposures. */
export class ShimController {
  readonly #options: ShimControllerOptions;
  /** What was last said of an object, by its key: it is said once. */
  readonly #said = new Map<string, string>();

  readonly #returning: ReturningExposures;

  constructor(options: ShimControllerOptions) {
    this.#options = options;
    this.#returning = new ReturningExposures(options.events);
  }

  /** When to look again; undefined: when something changes. @throws KubeError for what should be tried again soon */
  async reconcile(text: string, signal: AbortSignal): Promise<number | undefined> {
    const place = shimPlaceOf(text);
    if (place === undefined) return undefined;
    const { management } = this.#options;
    const object = await management.object(place.resource, place.key, signal);
    // One that is gone takes its Exposure with it: it is its owner.
    if (object === undefined) {
      this.#said.delete(text);
      this.#returning.silent(text, undefined);
      return undefined;
    }
    const isAsking = shimFor(object, shimContext(management, object)) !== undefined;
    const existing = await this.#exposureAt(place.key, object, isAsking, signal);
    const shim = shimFor(object, shimContext(management, object, existing));
    if (shim === undefined || shim.isIgnored === true) {
      if (shim === undefined) this.#said.delete(text);
      else this.#say(text, object, shim.findings);
      this.#returning.silent(text, existing);
      if (existing !== undefined && isMadeFor(existing, object)) {
        await this.#delete(existing, signal);
      }
      return undefined;
    }
    // Nothing is in the way: it tells when it is gone.
    if (existing !== undefined && isMadeForFormer(existing, object)) return undefined;
    const obstacle = shimObstacle(existing, object);
    const { finding: noEdge } = edgeFor(management, object);
    const findings = [...shim.findings, ...(noEdge === undefined ? [] : [noEdge])];
    this.#say(text, object, obstacle === undefined ? findings : [obstacle]);
    if (obstacle !== undefined || shim.exposure === undefined) return undefined;
    this.#returning.asking(text, object, existing);
    // One that is on its way out tells when it is gone.
    if (existing?.metadata.deletionTimestamp !== undefined) return undefined;
    // If somebody has made one a moment ago, a conflict is better than two wishes in one object.
    const force = existing !== undefined;
    const { applier } = this.#options;
    const applied = await applier.applyIfNeeded(shim.exposure, existing, { force, signal });
    return applied.outcome === 'held' ? applied.retryInMs : undefined;
  }

  /**
   * The watch may be behind: that there is no Exposure, or none with a record of an object that Snicket has written, is
   * asked of the server.
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
      // Another has its name by now, and is not ours to delete.
      if (!isKubeError(error, 'Conflict')) throw error;
    }
  }

  #say(text: string, object: KubeObject, findings: readonly Finding[]): void {
    const words = findings.map((finding) => `${finding.code}: ${findingText(finding)}`).join('\n');
    if (this.#said.get(text) === words) return;
    this.#said.set(text, words);
    for (const finding of findings) {
      this.#options.events.record(object, {
        ...{ type: 'Warning', action: 'Expose', reason: finding.code, note: findingText(finding) },
        // Nothing but this process remembers what it has said.
        isStanding: true,
      });
    }
  }
}

function isRecorded(exposure: KubeObject | undefined, object: KubeObject): boolean {
  const record = exposure && recordOf(exposure);
  return record !== undefined && (!isUsable(record) || fieldsOf(record, object).length > 0);
}
