/**
 * Whether the edge serves an object, as far as its fields show.
 */
import { DEFAULT_ENTRY_POINTS, type Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, type Resource } from '../../kube/resource.ts';
import { driverFor } from '../driver-for.ts';
import { listAt, textAt, textsAt } from '../../kube/unstructured.ts';
import { mayShareListener } from '../gateway-api/parent.ts';

/** `unclear`: the fields of the object do not determine it. */
export type EdgeMatch = 'same' | 'other' | 'unclear';

/** Returns whether the edge serves an object. */
export function edgeMatch(object: KubeObject, edge: Edge): EdgeMatch {
  const { requires, collision } = driverFor(edge.spec.driver);
  if (requires.some((resource) => isOf(resource, object))) return ofDriverKind(object, edge);
  if (!collision.otherKinds.some((resource) => isOf(resource, object))) return 'other';
  const [edgeClass, objectClass] = [edge.spec.ingress?.className, classNameOf(object)];
  return edgeClass !== undefined && objectClass !== undefined && edgeClass !== objectClass
    ? 'other'
    : 'unclear';
}

/** Returns whether the edge serves an object of the kind that the driver writes. */
function ofDriverKind(object: KubeObject, { spec }: Edge): EdgeMatch {
  switch (spec.driver) {
    case 'traefik':
      return sharesEntryPoint(object, spec.traefik?.entryPoints ?? DEFAULT_ENTRY_POINTS) &&
        byClass(spec.traefik?.ingressClassName, classNameOf(object)) !== 'other'
        ? 'same'
        : 'other';
    case 'gateway-api':
      return sharesListener(object, spec.gatewayApi?.parentRefs ?? []) ? 'same' : 'other';
    case 'snicket':
    case 'None':
      return 'other';
    case 'haproxy':
    case 'haproxy-ingress':
    case 'nginx':
    case 'nginx-inc':
    case 'contour':
    case 'ingress':
      return byClass(spec.ingress?.className, classNameOf(object));
  }
}

function byClass(edgeClass: string | undefined, objectClass: string | undefined): EdgeMatch {
  if (edgeClass === objectClass) return 'same';
  return edgeClass === undefined || objectClass === undefined ? 'unclear' : 'other';
}

function classNameOf(object: KubeObject): string | undefined {
  const annotation = object.metadata.annotations?.['kubernetes.io/ingress.class'];
  return textAt(object, 'spec', 'ingressClassName') ?? annotation;
}

/** Without entry points, an object uses all default entry points of Traefik. */
function sharesEntryPoint(object: KubeObject, edgeEntryPoints: readonly string[]): boolean {
  const other = textsAt(object, 'spec', 'entryPoints');
  return other.length === 0 || other.some((name) => edgeEntryPoints.includes(name));
}

function sharesListener(
  object: KubeObject,
  edgeParents: readonly Parameters<typeof mayShareListener>[1][],
): boolean {
  const namespace = object.metadata.namespace ?? '';
  return listAt(object, 'spec', 'parentRefs').some((reference) =>
    edgeParents.some((parent) => mayShareListener(reference, parent, namespace)),
  );
}

function isOf(resource: Resource, { kind, apiVersion }: KubeObject): boolean {
  return resource.kind === kind && groupOf(resource.apiVersion) === groupOf(apiVersion);
}
