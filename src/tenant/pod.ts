/**
 * The fields of a DaemonSet and its pods that Snicket writes.
 */
import type { WorkerSpec } from '../api/worker.ts';
import type { KubeObject } from '../kube/object.ts';

/** A DaemonSet. */
export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly updateStrategy: {
      readonly type: 'RollingUpdate';
      readonly rollingUpdate: UpdateLimits;
    };
    readonly template: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: PodSpec;
    };
  };
}

/** How many nodes a rollout changes at a time, as a number or a percentage. */
export interface UpdateLimits {
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
}

/** A pod on the host network. */
export interface PodSpec {
  readonly hostNetwork: true;
  readonly dnsPolicy: 'Default';
  readonly enableServiceLinks: false;
  readonly automountServiceAccountToken: false;
  readonly serviceAccountName: string;
  readonly priorityClassName: string;
  readonly terminationGracePeriodSeconds: number;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations?: WorkerSpec['tolerations'];
  readonly imagePullSecrets?: WorkerSpec['imagePullSecrets'];
  readonly hostAliases?: readonly HostAlias[] | undefined;
  readonly securityContext: SecurityContext & { readonly fsGroup: number };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

/** An entry of /etc/hosts. Addresses are unique: `ip` is the key of the list. */
export interface HostAlias {
  readonly ip: string;
  readonly hostnames: readonly string[];
}

/** A container. */
export interface Container {
  readonly name: string;
  readonly image: string;
  /** The arguments of the image's entry point, `snicket`. */
  readonly args: readonly string[];
  readonly resources?: Resources | undefined;
  readonly securityContext: SecurityContext;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
}

/** Resource requests and limits. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** The security context of a container, or of all containers of a pod. */
interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly seccompProfile?: { readonly type: 'RuntimeDefault' };
  readonly readOnlyRootFilesystem?: true;
  readonly allowPrivilegeEscalation?: false;
  readonly capabilities?: { readonly drop: readonly string[]; readonly add?: readonly string[] };
}

/** An HTTP probe. */
interface Probe {
  readonly httpGet: { readonly host: string; readonly port: number; readonly path: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

/** The security context without any privileges. */
export const UNPRIVILEGED: SecurityContext = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

/**
 * The security context that may only change the addresses of the node. It runs as root, since container runtimes grant
 * capabilities to no other user.
 */
export const ADDRESS_MANAGER: SecurityContext = {
  ...UNPRIVILEGED,
  runAsNonRoot: false,
  runAsUser: 0,
  runAsGroup: 0,
  capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
};
