/**
 * What an Exposure wants of the objects of its control plane.
 */
import type { Edge } from '../../api/edge.ts';
import type { Exposure } from '../../api/exposure.ts';
import type { Hosts } from '../../api/hosts.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { PreparationOwner } from '../../providers/preparation/plan-preparation.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { ExposureBook } from '../management/exposure-book.ts';
import type { ManagementView } from '../management/management-view.ts';
import type { PreparationInput } from './preparer.ts';

/** The part of a management cluster that a preparation depends on. */
export interface PreparationCluster extends Pick<ManagementView, 'served' | 'all'> {
  readonly book: Pick<ExposureBook, 'preparedBy'>;
  /** Why objects of a kind are not known. Default: they are. */
  readonly unread?: ((resource: Resource) => unknown) | undefined;
}

/** What is known besides the Exposure and its control plane. */
export interface PreparationView {
  readonly management: PreparationCluster;
  /** Hosts of TenantRoutes that are not among the hosts of the plan. */
  readonly previousHosts: readonly string[];
}

/** As {@link PreparationInput.owner}. */
export function ownerOf(
  exposure: KubeObject,
  book: Pick<ExposureBook, 'preparedBy'>,
): PreparationOwner {
  const key = keyText(exposure.metadata);
  return { exposure, otherOwner: (uid) => book.preparedBy(uid, key) };
}

/** What is to be prepared for an Exposure behind its Edge; `object` is the Exposure with its record. */
export function preparationFor(
  object: KubeObject,
  { exposure, edge }: { readonly exposure: Exposure; readonly edge: Pick<Edge, 'spec'> },
  hosts: Hosts,
  provided: ProvidedFacts,
  { management, previousHosts }: PreparationView,
): PreparationInput {
  const { prepare } = exposure.spec;
  return {
    policy: prepare,
    provided,
    wish: {
      hosts,
      port: edge.spec.port,
      // Whoever writes the fields himself need not know of hosts that he has just given up.
      ...(previousHosts.length > 0 && prepare !== 'Report' && { formerHosts: previousHosts }),
      handledClasses: handledClasses(edge, management),
    },
    owner: ownerOf(object, management.book),
  };
}

/** The ingress classes that a controller may handle; undefined if the cluster's classes are not known. */
export function handledClasses(
  edge: Pick<Edge, 'spec'> | undefined,
  view: Omit<PreparationCluster, 'book'>,
): ReadonlySet<string> | undefined {
  const { ingressClass } = RESOURCES;
  const isUnread = view.unread?.(ingressClass) !== undefined;
  if (!view.served.has(ingressClass) || isUnread) return undefined;
  const className = edge?.spec.ingress?.className;
  return new Set([
    ...view.all(ingressClass).map(({ metadata }) => metadata.name),
    ...(className === undefined ? [] : [className]),
  ]);
}
