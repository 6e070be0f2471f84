/**
 * The facts of one hosted control plane, whichever provider made it.
 */

/** A port of a Service, as routes and slices name it. */
export interface ServicePort {
  /** As clients of the Service see it. */
  readonly port: number;
  /** As its slices name it; empty if the Service has one port without a name. */
  readonly portName: string;
}

/** A control plane as its provider leaves it in the management cluster. */
export interface ControlPlane {
  /** The Service that leads to it, in the namespace of the Exposure. */
  readonly service: {
    readonly name: string;
    readonly api: ServicePort;
    /** Absent: no konnectivity. */
    readonly konnectivity?: ServicePort | undefined;
  };
  /** Absent while its Secret is not there: routes need none. */
  readonly ca?: AuthorityFiles | undefined;
}

/** A certificate authority as a Secret holds it. */
export interface AuthorityFiles {
  /** PEM, one certificate or several. */
  readonly certificate: string;
  /** PEM; absent where Snicket is not given it: then mode Terminate has no certificate to serve. */
  readonly key?: string | undefined;
}
