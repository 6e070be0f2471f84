/**
 * What every provider can tell of its control planes.
 */
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type {
  ControlPlaneObjects,
  ControlPlaneReading,
  ProviderName,
} from './reading/control-plane-reading.ts';
import type { FieldPath, Preparation, PreparationWish } from './preparation/preparation.ts';

/** A provider. */
export interface Provider {
  readonly name: ProviderName;

  /** The kind that an Exposure may name. */
  readonly resource: Resource;

  /** Reads the control plane of an object. @throws what reading objects throws */
  read(object: KubeObject, objects: ControlPlaneObjects): Promise<ControlPlaneReading>;

  /**
   * What its objects must carry: those of {@link ControlPlaneReading.provided}, as they would be without Snicket. Each preparation
   * is of one of those very objects. Pure.
   */
  prepare(objects: readonly KubeObject[], wish: PreparationWish): readonly Preparation[];

  /** Lists that must be seen to be empty before they go: see {@link Provider.lingering}. */
  readonly emptiedFirst: readonly FieldPath[];

  /** What still runs with these arguments, although no object says so any more. @throws what reading objects throws */
  lingering(
    object: KubeObject,
    entries: readonly unknown[],
    objects: ControlPlaneObjects,
  ): Promise<string | undefined>;
}
