/**
 * What a provider's object specifies for its Exposure.
 */
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ProviderIngress } from '../../plan/control-plane.ts';

/** The context of an object. */
export interface ShimContext {
  /** The names of the Ingresses in its namespace. */
  readonly ingressNames: ReadonlySet<string>;
  /** The port of the Edge that the Exposure would use, if that Edge exists. */
  readonly edgePort?: number | undefined;
  /** The name of that Edge if it ignores annotations. */
  readonly ignoredBy?: string | undefined;
  /** The ingress classes that a controller may handle. Default: unknown. */
  readonly handledClasses?: ReadonlySet<string> | undefined;
  /** Whether users create the routes of that Edge, for which they may use an Ingress of the provider. Default false. */
  readonly areRoutesOfUser?: boolean | undefined;
  /** Reports whether an Ingress of the provider can be the route, since that Edge serves it. Default: it cannot. */
  readonly isRoute?: ((ingress: ProviderIngress) => boolean) | undefined;
  /** The existing Exposure of the object. */
  readonly existing?: KubeObject | undefined;
}

/** Fields of `spec.worker`, by name. */
export type WorkerFields = Readonly<Record<string, unknown>>;

/** The fields of an Exposure that an object specifies. */
export interface ShimIntent {
  /** Absent hosts are generated from the name of the Exposure and the domain of its Edge. */
  readonly hosts: { readonly api?: string; readonly konnectivity?: string };
  /** Fields of `spec.worker` of the Exposure. */
  readonly worker: WorkerFields;
  /** Findings about other objects that serve the same hosts or endpoints. */
  readonly findings: readonly Finding[];
}
