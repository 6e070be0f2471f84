/**
 * The objects that a provider may read, and what it returns.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { ControlPlane, ProviderIngress } from '../../plan/control-plane.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedNames } from './provided-reading.ts';

/** The fields of a Service that Snicket reads. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      /** Absent means TCP. */
      readonly protocol?: string;
    }[];
  };
  /** The status, with the addresses of its load balancer. */
  readonly status?: { readonly loadBalancer?: unknown };
}

/** The fields of a Secret that Snicket reads. The values are base64. */
export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Set for a Secret with placeholders, which only exists to show a plan. The API server drops such a field. */
  readonly isAssumed?: boolean;
}

/** The objects that a provider may read. */
export interface ControlPlaneObjects {
  readonly service: (key: ObjectKey) => Service | undefined;
  readonly secret: (key: ObjectKey) => Promise<Secret | undefined>;
  /**
   * Returns any other object: the provider's own, or one that it created, with managedFields. If the API only serves
   * another version of the kind, returns that version. Absent if there are no other objects, as in a folder of files.
   */
  readonly object?: (resource: Resource, key: ObjectKey) => Promise<KubeObject | undefined>;
}

/** The control plane, as far as it could be read. */
export interface ControlPlaneReading {
  /** Absent if not even a route is possible yet. */
  readonly controlPlane?: ControlPlane | undefined;
  /** The kubeconfig of an administrator. */
  readonly kubeconfig?: string | undefined;
  /** The addresses of the API server as `host:port`, which bypass the edge. Snicket uses the first one that answers. */
  readonly addresses: readonly string[];
  /** What is missing or wrong. */
  readonly findings: readonly Finding[];
  /** What the provider's object says; absent without one. */
  readonly provided?: ProvidedFacts | undefined;
}

/** The supported providers. */
const PROVIDER_NAMES = ['kamaji', 'steward', 'k0smotron', 'capi-k0smotron', 'k0rdent'] as const;
/** One of {@link PROVIDER_NAMES}. */
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * The phase of a control plane. `serving`: its API server answers, according to the provider. No phase delays a route:
 * some providers determine readiness through it.
 */
export type ControlPlanePhase = 'provisioning' | 'serving' | 'unavailable' | 'deleting';

/** What a provider's object says about its control plane. */
export interface ProvidedFacts {
  readonly provider: ProviderName;
  /** The objects to prepare, as they were read. */
  readonly objects: readonly KubeObject[];
  readonly phase: ControlPlanePhase;
  /** Why it is in that phase, in the terms of the provider. */
  readonly phaseReason: string;
  /** In the provider's format: `v1.35.7`, `v1.34.1-k0s.0`. */
  readonly version?: string | undefined;
  /** Service default/kubernetes has an address of the first one. */
  readonly serviceCidrs: readonly string[];
  readonly clusterDomain: string;
  readonly hasKonnectivity: boolean;
  /** The names of the objects that the provider creates. Absent if unknown. */
  readonly names?: ProvidedNames | undefined;
  /** The server in the kubeconfigs that the provider publishes, `https://host:port`. */
  readonly publishedServer?: string | undefined;
  /** The template of the chart that creates the control plane, if it could be read. */
  readonly template?: KubeObject | undefined;
  /** The Ingress that the provider creates; absent if it creates none for both hosts. */
  readonly ingress?: ProviderIngress | undefined;
  /** The certificate of kube-apiserver as PEM, if the provider stores it in a Secret. */
  readonly servingCertificate?: string | undefined;
}
