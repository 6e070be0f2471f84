/**
 * All Edges, parsed once per version, and which Edge an Exposure uses.
 */
import { DEFAULT_EDGE_ANNOTATION, type Edge } from '../api/edge.ts';
import type { Exposure } from '../api/exposure.ts';
import type { Finding } from '../api/finding.ts';
import { oldestRoute } from '../api/host-ownership.ts';
import { parseEdge } from '../api/objects.ts';
import type { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { Change } from '../kube/informer/cache.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { defaultEdge, defaultEdgeFinding } from '../plan/default-edge.ts';
import { isPrevious } from '../plan/tenant-routes.ts';
import { edgeNotFound, noDefaultEdge, withUnusableFiles } from './edge-findings.ts';
import { ParsedObjects, type Found } from './found.ts';

/** The inputs that determine the Edge of an Exposure. */
interface EdgeOfExposure {
  /** The TenantRoutes of the Exposure. Among several default Edges, the Edge of these is used. Default: none. */
  readonly metadata?: ObjectKey | undefined;
  readonly spec: Pick<Exposure['spec'], 'edgeRef'>;
  /** The object whose annotation requests the Edge. Default: `spec.edgeRef` is the request. */
  readonly annotated?: KubeObject | undefined;
}

/** The sources of the objects. */
interface EdgeIndexSources {
  readonly edges: () => readonly KubeObject[];
  readonly tenantRoutes: Pick<TenantRouteIndex<TenantRoute>, 'ofExposure'>;
  /** Invalid files that may contain an Edge, if files replace the cluster. Default: none. */
  readonly unusableFiles?: (() => readonly string[]) | undefined;
}

/** The key of the default Edge among names of Edges. */
export const DEFAULT_EDGE = '';

/** The Edges. */
export class EdgeIndex {
  readonly #sources: EdgeIndexSources;
  readonly #parsed = new ParsedObjects(parseEdge);

  constructor(sources: EdgeIndexSources) {
    this.#sources = sources;
  }

  /** Returns the Edge in an object, or why it cannot be parsed. */
  edgeIn(object: KubeObject): Found<Edge> {
    return this.#parsed.of(object);
  }

  /** Returns the Edge of an Exposure: the Edge in its spec or annotation, or else the default Edge. */
  edgeOf({ metadata, spec, annotated }: EdgeOfExposure): Found<Edge> {
    const found = this.#edgeObject({ metadata, spec });
    if (found !== undefined) return this.edgeIn(found);
    const wanted = spec.edgeRef?.name;
    const objects = this.#sources.edges();
    const names = objects.map(({ metadata }) => metadata.name).toSorted();
    const files = this.#sources.unusableFiles?.() ?? [];
    if (wanted !== undefined) {
      const missing = edgeNotFound(wanted, { annotated, names });
      return { finding: withUnusableFiles(missing, files) };
    }
    const unclear = objects.flatMap((edge) => defaultEdgeFinding(edge, objects)?.message ?? []);
    return { finding: withUnusableFiles(noDefaultEdge(unclear, { annotated, names }), files) };
  }

  #edgeObject({ metadata, spec }: Omit<EdgeOfExposure, 'annotated'>): KubeObject | undefined {
    const objects = this.#sources.edges();
    const wanted = spec.edgeRef?.name;
    return wanted === undefined
      ? defaultEdge(objects, metadata && this.#routedEdgeOf(metadata))
      : objects.find((object) => object.metadata.name === wanted);
  }

  /**
   * Returns the Edge of an Exposure's TenantRoutes. The status is not used, since a restore from backup drops it.
   * Previous TenantRoutes count only if there are no others: during a move, they are on the previous Edge.
   */
  #routedEdgeOf(metadata: ObjectKey): string | undefined {
    const routes = this.#sources.tenantRoutes.ofExposure(keyText(metadata));
    const current = routes.filter((route) => !isPrevious(route));
    return oldestRoute(current.length > 0 ? current : routes)?.spec.edgeRef.name;
  }

  /** Returns what is wrong with the default annotation of an Edge. */
  defaultFinding(edge: KubeObject): Finding | undefined {
    return defaultEdgeFinding(edge, this.#sources.edges());
  }

  /** Reports whether an Edge selects the namespaces of its Exposures by their labels. */
  selectsNamespaces(): boolean {
    return this.#sources
      .edges()
      .map((object) => this.edgeIn(object))
      .some(({ value }) => value?.spec.allowedNamespaces.from === 'Selector');
  }

  /**
   * Returns which of the names in `spec.edgeRef` a change of an Edge affects: its own name, and that of the default
   * Edge if the default annotation is involved. If an Edge was added or removed, also names of missing Edges, whose
   * finding lists the existing ones.
   */
  affectedRefs(change: Change<KubeObject>, known: Iterable<string>): readonly string[] {
    const { object } = change;
    const isModified = change.type === 'MODIFIED';
    const versions = isModified ? [object, change.previous] : [object];
    const isDefault = versions.some(({ metadata: { annotations = {} } }) =>
      Object.hasOwn(annotations, DEFAULT_EDGE_ANNOTATION),
    );
    const missing = isModified ? [] : [...known].filter((name) => !this.#hasEdge(name));
    const ownNames = isDefault ? [object.metadata.name, DEFAULT_EDGE] : [object.metadata.name];
    return [...new Set([...ownNames, ...missing])];
  }

  #hasEdge(edgeRef: string): boolean {
    const spec = edgeRef === DEFAULT_EDGE ? {} : { edgeRef: { name: edgeRef } };
    return this.#edgeObject({ spec }) !== undefined;
  }
}

/** Reports whether two versions of an Edge differ only in the status, which the operator writes often. */
export function isSameEdge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return (
    a.generation !== undefined &&
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    Bun.deepEquals(a.annotations, b.annotations)
  );
}
