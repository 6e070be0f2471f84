/**
 * What an object says that belongs into an Exposure.
 */
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';

/** What is known around an object. */
export interface ShimContext {
  /** The names of the Ingresses in its namespace. */
  readonly ingressNames: ReadonlySet<string>;
  /** The port of the Edge that it would be for, if that is there. */
  readonly edgePort?: number | undefined;
  /** The name of that Edge if it ignores annotations. */
  readonly ignoredBy?: string | undefined;
  /** The ingress classes that a controller may handle. Default: they are not known. */
  readonly handledClasses?: ReadonlySet<string> | undefined;
  /** The Exposure of its making that is there. */
  readonly existing?: KubeObject | undefined;
}

/** Fields of `spec.worker`, by name. */
export type WorkerWords = Readonly<Record<string, unknown>>;

/** The words of an object. */
export interface ShimWords {
  /** Absent: made from the name of the Exposure and the domain of its Edge. */
  readonly hosts: { readonly api?: string; readonly konnectivity?: string };
  /** As `spec.worker` of an Exposure has it. */
  readonly worker: WorkerWords;
  /** Who else does the same work. */
  readonly findings: readonly Finding[];
}
