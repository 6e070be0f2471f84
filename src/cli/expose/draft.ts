/**
 * An Exposure as a person would write it, with nothing that goes without saying; and how it differs from one that is
 * there. Pure.
 */
import type { Exposure } from '../../api/exposure.ts';
import { parseExposure } from '../../api/objects.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';

/** What is to be in it. */
export interface DraftWish {
  readonly name: string;
  readonly namespace: string;
  readonly controlPlane: object;
  readonly edge?: string | undefined;
  readonly apiHost?: string | undefined;
  readonly konnectivityHost?: string | undefined;
  readonly mode?: string | undefined;
  readonly prepare?: string | undefined;
}

/** The Exposure. */
export function draftExposure(wish: DraftWish): KubeObject {
  const { name, namespace, edge, controlPlane, mode, prepare } = wish;
  const { apiHost: api, konnectivityHost: konnectivity } = wish;
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

/** A field that is not the same in both. */
export interface Difference {
  /** As `spec.hosts.api`. */
  readonly path: string;
  /** Absent: it is not there. */
  readonly present?: string | undefined;
  /** Absent: it would not be. */
  readonly wanted?: string | undefined;
}

/** How two Exposures differ in what they mean: a default that is written out is no difference. @throws InvalidObjectError */
export function differences(present: KubeObject, wanted: KubeObject): readonly Difference[] {
  const [before, after] = [leaves(specOf(present), 'spec'), leaves(specOf(wanted), 'spec')];
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => ({ path, present: before.get(path), wanted: after.get(path) }));
}

function specOf(object: KubeObject): Exposure['spec'] {
  const { status: _, ...wish } = object as KubeObject & { readonly status?: unknown };
  return parseExposure(wish).spec;
}

function leaves(value: unknown, path: string): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value === undefined ? new Map() : new Map([[path, JSON.stringify(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([key, below]) => [...leaves(below, `${path}.${key}`)]),
  );
}
