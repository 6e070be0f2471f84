/**
 * Control planes that request an Exposure by an annotation and do not have one.
 */
import type { Finding } from '../../api/finding.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { versionsOf, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';
import { DEFAULT_EDGE_VALUE, EDGE_ANNOTATION } from '../../providers/shims/annotations.ts';
import { shimFor, shimObstacle } from '../../providers/shims/shim.ts';
import { isSelected, type Choice } from '../flags/management-flags.ts';

/** A control plane, and why it has no Exposure. */
export interface UnresolvedExposure {
  /** `TenantControlPlane tenants/blue`. */
  readonly object: string;
  readonly findings: readonly Finding[];
}

/** Returns the unresolved exposures among the chosen control planes, by kind and name. */
export function unresolvedExposures(
  management: ManagementSnapshot,
  choices: readonly Choice[],
): readonly UnresolvedExposure[] {
  return WATCHED_RESOURCES.flatMap(versionsOf)
    .flatMap((resource) => management.all(resource))
    .filter(({ metadata }) => choices.some((choice) => isSelected(choice, metadata)))
    .flatMap((object) => {
      const findings = whyUnresolved(object, management);
      return findings.length === 0 ? [] : { object: objectText(object), findings };
    })
    .toSorted((a, b) => (a.object < b.object ? -1 : 1));
}

function whyUnresolved(object: KubeObject, management: ManagementSnapshot): readonly Finding[] {
  const { namespace, annotations = {} } = object.metadata;
  const wanted = annotations[EDGE_ANNOTATION] ?? DEFAULT_EDGE_VALUE;
  const edge = management.exposureIndex.edges.edgeOf({
    metadata: object.metadata,
    spec: wanted === DEFAULT_EDGE_VALUE ? {} : { edgeRef: { name: wanted } },
  });
  const ingresses = management
    .all(RESOURCES.ingress)
    .filter((ingress) => ingress.metadata.namespace === namespace);
  const existing = management.exposures.find(
    ({ metadata }) => keyText(metadata) === keyText(object.metadata),
  );
  const shim = shimFor(object, {
    existing,
    ingressNames: new Set(ingresses.map(({ metadata }) => metadata.name)),
    edgePort: edge.value?.spec.port,
    ignoredBy: edge.value?.spec.annotations === 'Ignored' ? edge.value.metadata.name : undefined,
  });
  if (shim === undefined) return [];
  const obstacle = shimObstacle(existing, object);
  if (obstacle !== undefined) return [obstacle];
  if (shim.exposure === undefined) return shim.findings;
  // An existing Exposure is examined like any other.
  if (existing !== undefined) return [];
  return [edge.finding === undefined ? exposureMissing(object) : unknownEdge(edge.finding)];
}

/** Replaces the action, which is about `spec.edgeRef` of an Exposure. Here the annotation is wrong. */
function unknownEdge(finding: Finding): Finding {
  return { ...finding, action: `Correct the annotation ${EDGE_ANNOTATION}, or create the Edge.` };
}

function exposureMissing(object: KubeObject): Finding {
  return {
    code: 'NotReconciled',
    severity: 'error',
    message: `${objectText(object)} requests an Exposure by annotation, but has none.`,
    action: "Wait a moment. If this persists, check that Snicket's operator runs.",
  };
}
