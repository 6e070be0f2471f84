/**
 * Drafts an Exposure without default values, as a user would write it, and compares it with an existing one. Pure.
 */
import type { Exposure } from '../../api/exposure.ts';
import { parseExposure } from '../../api/objects.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';

/** The desired content of the Exposure. */
export interface ExposureDraft {
  readonly name: string;
  readonly namespace: string;
  readonly controlPlane: object;
  readonly edge?: string | undefined;
  readonly apiHost?: string | undefined;
  readonly konnectivityHost?: string | undefined;
  readonly mode?: string | undefined;
  readonly prepare?: string | undefined;
}

/** Returns the Exposure. */
export function draftExposure(draft: ExposureDraft): KubeObject {
  const { name, namespace, edge, controlPlane, mode, prepare } = draft;
  const { apiHost: api, konnectivityHost: konnectivity } = draft;
  const { apiVersion, kind } = RESOURCES.exposure;
  const object = {
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec: {
      ...(edge !== undefined && { edgeRef: { name: edge } }),
      controlPlane,
      ...((api !== undefined || konnectivity !== undefined) && {
        hosts: {
          ...(api !== undefined && { api }),
          ...(konnectivity !== undefined && { konnectivity }),
        },
      }),
      ...(prepare !== undefined && { prepare }),
      ...(mode !== undefined && { worker: { mode } }),
    },
  };
  return object;
}

/** A field that differs. */
interface Difference {
  /** Such as `spec.hosts.api`. */
  readonly path: string;
  /** The existing value. Absent: not set. */
  readonly present?: string | undefined;
  /** The desired value. Absent: not set. */
  readonly wanted?: string | undefined;
}

/** Returns how two Exposures differ. A default that is written out does not count. @throws InvalidObjectError */
export function differences(present: KubeObject, wanted: KubeObject): readonly Difference[] {
  const [before, after] = [leaves(specOf(present), 'spec'), leaves(specOf(wanted), 'spec')];
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => ({ path, present: before.get(path), wanted: after.get(path) }));
}

function specOf(object: KubeObject): Exposure['spec'] {
  const { status: _, ...draft } = object as KubeObject & { readonly status?: unknown };
  return parseExposure(draft).spec;
}

function leaves(value: unknown, path: string): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value === undefined ? new Map() : new Map([[path, JSON.stringify(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([key, below]) => [...leaves(below, `${path}.${key}`)]),
  );
}
