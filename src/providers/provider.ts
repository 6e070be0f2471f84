/**
 * The interface of providers of hosted control planes.
 */
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type {
  ControlPlaneObjects,
  ControlPlaneReading,
  ProviderName,
} from './reading/control-plane-reading.ts';
import type { FieldPath, Preparation, PreparationSpec } from './preparation/preparation.ts';

/** A provider. */
export interface Provider {
  readonly name: ProviderName;

  /** The kind that an Exposure may reference. */
  readonly resource: Resource;

  /** Reads the control plane of an object. @throws the errors of reading objects */
  read(object: KubeObject, objects: ControlPlaneObjects): Promise<ControlPlaneReading>;

  /**
   * Returns the desired fields of the objects in {@link ControlPlaneReading.provided}, which are passed as they
   * would be without Snicket. Each preparation contains one of the passed objects itself, not a copy. Pure.
   */
  prepare(objects: readonly KubeObject[], spec: PreparationSpec): readonly Preparation[];

  /** Lists that cleanup must set to empty before it removes them: see {@link Provider.pendingRollout}. */
  readonly clearedBeforeRemoval: readonly FieldPath[];

  /**
   * Returns what still runs with these arguments, which were removed from the object; undefined if the rollout is
   * complete. @throws the errors of reading objects
   */
  pendingRollout(
    object: KubeObject,
    entries: readonly unknown[],
    objects: ControlPlaneObjects,
  ): Promise<string | undefined>;
}
