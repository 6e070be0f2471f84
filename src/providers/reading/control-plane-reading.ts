/**
 * What a provider may look at, and what it finds there.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { ControlPlane } from '../../plan/control-plane.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedPlaces } from './provided-reading.ts';

/** As much of a Service as is needed. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      /** Absent: TCP. */
      readonly protocol?: string;
    }[];
  };
  /** Where its load balancer is, if it has one. */
  readonly status?: { readonly loadBalancer?: unknown };
}

/** As much of a Secret as is needed; the values are base64. */
export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Made up to show a plan, with placeholders for values. No API server keeps such a field. */
  readonly isAssumed?: boolean;
}

/** The objects that a provider may look at. */
export interface ControlPlaneObjects {
  readonly service: (key: ObjectKey) => Service | undefined;
  readonly secret: (key: ObjectKey) => Promise<Secret | undefined>;
  /**
   * Any other: the provider's own, and what it made, with its managedFields. Of a kind that is served in another version
   * only, in that one. Absent: where there are none, as in a folder of files.
   */
  readonly object?: (resource: Resource, key: ObjectKey) => Promise<KubeObject | undefined>;
}

/** What was found, as far as it goes. */
export interface ControlPlaneReading {
  /** Absent while not even a route can be. */
  readonly controlPlane?: ControlPlane | undefined;
  /** Text of an administrator's kubeconfig. */
  readonly kubeconfig?: string | undefined;
  /** Where the API server is dialled, as `host:port`: never through the edge. The first one that answers. */
  readonly addresses: readonly string[];
  /** What is missing or wrong. */
  readonly findings: readonly Finding[];
  /** What the provider's own object tells; absent without one. */
  readonly provided?: ProvidedFacts | undefined;
}

/** Whose objects are known. */
export const PROVIDER_NAMES = [
  'kamaji',
  'steward',
  'k0smotron',
  'capi-k0smotron',
  'k0rdent',
] as const;
/** One of {@link PROVIDER_NAMES}. */
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * How far a control plane is. `serving`: its API server answers, as far as the provider knows. None of them holds up a
 * route: some providers judge themselves through it.
 */
export type ControlPlanePhase = 'provisioning' | 'serving' | 'unavailable' | 'deleting';

/** What a provider's object says of its control plane. */
export interface ProvidedFacts {
  readonly provider: ProviderName;
  /** The objects that have to be prepared, as they were read. */
  readonly objects: readonly KubeObject[];
  readonly phase: ControlPlanePhase;
  /** Why it is in that phase, in the provider's own words. */
  readonly because: string;
  /** As the provider writes it: `v1.35.7`, `v1.34.1-k0s.0`. */
  readonly version?: string | undefined;
  /** The first one has the address of Service default/kubernetes. */
  readonly serviceCidrs: readonly string[];
  readonly clusterDomain: string;
  readonly hasKonnectivity: boolean;
  /** Where it leaves what belongs to the control plane. Absent: that is not known yet. */
  readonly places?: ProvidedPlaces | undefined;
  /** The server in the kubeconfigs that the provider hands out, `https://host:port`. */
  readonly publishedServer?: string | undefined;
  /** What kube-apiserver serves with, PEM, where the provider keeps it in a Secret. */
  readonly servingCertificate?: string | undefined;
}
