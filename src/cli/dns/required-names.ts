/**
 * The DNS names that Exposures need, and where each has to point.
 */
import type { Edge } from '../../api/edge.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { edgeAddresses, edgeContext } from '../../management/edge-state.ts';
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import type { Finding } from '../../api/finding.ts';
import { planExposure } from '../../plan/plan.ts';
import { destinationOf, type Destination, type FoundDestination } from './destination.ts';

/** A DNS name that an Exposure needs. */
export interface RequiredName {
  /** `namespace/name`. */
  readonly exposure: string;
  readonly edge: string;
  readonly host: string;
  /** The domain of the Edge, if it has one. */
  readonly domain?: string | undefined;
  /** The port of the Edge. */
  readonly port: number;
  /** Absent: the address of the Edge is not known. */
  readonly to?: Destination | undefined;
}

/** A finding and its subject: `tenants/blue`, `Edge shared`. */
export interface NamedFinding extends Finding {
  readonly of: string;
}

/** The names, and findings about Exposures and Edges. */
export interface RequiredNames {
  readonly names: readonly RequiredName[];
  readonly findings: readonly NamedFinding[];
}

/** Where Edges are found. */
interface EdgePlace {
  readonly management: ManagementSnapshot;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Addresses that names point to instead of those of their Edge. Default: none. */
  readonly addresses?: readonly string[];
}

/** Returns the names that these Exposures need. Skips Exposures that are being deleted. */
export function requiredNames(chosen: readonly KubeObject[], place: EdgePlace): RequiredNames {
  const { management } = place;
  const edges = new Map<string, FoundDestination>();
  const findings: NamedFinding[] = [];
  const names = chosen
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((object): readonly RequiredName[] => {
      const of = keyText(object.metadata);
      const { value: resolved, finding } = management.exposureIndex.resolve(object);
      if (resolved === undefined) {
        findings.push({ ...finding, of });
        return [];
      }
      // A plan without observed facts is enough here: it has the hosts, and whether this Exposure may use them.
      const { hosts, findings: found } = planExposure(resolved, {
        conflict: resolved.conflict,
        served: management.served,
        edgeAddresses: [],
        currentSlices: [],
        proxyImage: '',
      });
      const faults = found.filter(({ severity }) => severity === 'error');
      findings.push(...faults.map((fault) => ({ ...fault, of })));
      if (hosts === undefined || faults.length > 0) return [];
      const { name: edge } = resolved.edge.metadata;
      const there = edges.get(edge) ?? edgeDestination(resolved.edge, place);
      if (!edges.has(edge)) {
        edges.set(edge, there);
        findings.push(...there.findings.map((one) => ({ ...one, of: `Edge ${edge}` })));
      }
      const { domain, port } = resolved.edge.spec;
      const named = [hosts.api, ...(hasKonnectivity(of, management) ? [hosts.konnectivity] : [])];
      return named.flatMap((host) =>
        host === undefined ? [] : { exposure: of, edge, host, domain, port, to: there.to },
      );
    });
  return { names, findings };
}

function edgeDestination(edge: Edge, place: EdgePlace): FoundDestination {
  const { management, addresses } = place;
  if (addresses !== undefined) return destinationOf(edge.metadata.name, addresses);
  const live = management.exposures.filter((object) => {
    const { value } = management.exposureIndex.exposureIn(object);
    return value !== undefined && management.exposureIndex.edges.edgeOf(value).value === edge;
  });
  const owned = live.flatMap((object) => management.ownedBy(object));
  return destinationOf(edge.metadata.name, edgeAddresses(edgeContext(place, edge), owned));
}

/** Whether the operator routes konnectivity. Before the operator has written TenantRoutes, assume that it will. */
function hasKonnectivity(exposure: string, { tenantRoutes }: ManagementSnapshot): boolean {
  const routes = tenantRoutes.ofExposure(exposure);
  return routes.length === 0 || routes.some(({ spec }) => spec.type === 'Konnectivity');
}
