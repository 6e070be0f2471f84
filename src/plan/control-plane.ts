/**
 * What Snicket needs to know about a hosted control plane, for all providers.
 */

/** A port of a Service, as routes and EndpointSlices reference it. */
export interface ServicePort {
  /** The port number of the Service. */
  readonly port: number;
  /** The port name in EndpointSlices; empty if the only port of the Service has no name. */
  readonly portName: string;
}

/** A control plane, as its provider exposes it in the management cluster. */
export interface ControlPlane {
  /** The Service in front of the control plane, in the namespace of the Exposure. */
  readonly service: {
    readonly name: string;
    readonly api: ServicePort;
    /** Absent if the control plane has no konnectivity server. */
    readonly konnectivity?: ServicePort | undefined;
  };
  /** Absent while its Secret does not exist. Routes do not need the CA. */
  readonly ca?: AuthorityFiles | undefined;
  /** The Ingress that the provider creates for the control plane; absent if it creates none. */
  readonly ingress?: ProviderIngress | undefined;
}

/** An Ingress of a provider. */
export interface ProviderIngress {
  readonly name: string;
  readonly className?: string | undefined;
  readonly annotations: ReadonlyMap<string, string>;
  readonly hosts: { readonly api: string; readonly konnectivity?: string | undefined };
}

/** A certificate authority, as a Secret stores it. */
export interface AuthorityFiles {
  /** One or more certificates, as PEM. */
  readonly certificate: string;
  /**
   * The private key, as PEM. Absent if the Secret does not have it; mode Terminate then has no certificate to serve.
   */
  readonly key?: string | undefined;
}
