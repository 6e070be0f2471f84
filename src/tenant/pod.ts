/**
 * As much of a DaemonSet and its pods as is written here.
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

/** How many nodes change at a time, as a number or in percent. */
export interface UpdateLimits {
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
}

/** A pod on the network of its node. */
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

/** Names in a pod's /etc/hosts. An address stands there once: it is the key of the list. */
export interface HostAlias {
  readonly ip: string;
  readonly hostnames: readonly string[];
}

/** One container. */
export interface Container {
  readonly name: string;
  readonly image: string;
  /** For the image's entry point, which is `snicket`. */
  readonly args: readonly string[];
  readonly resources?: Resources | undefined;
  readonly securityContext: SecurityContext;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
}

/** What a container may have, by resource. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** What a container, or each container of a pod, may do. */
export interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly seccompProfile?: { readonly type: 'RuntimeDefault' };
  readonly readOnlyRootFilesystem?: true;
  readonly allowPrivilegeEscalation?: false;
  readonly capabilities?: { readonly drop: readonly string[]; readonly add?: readonly string[] };
}

/** A question over HTTP. */
export interface Probe {
  readonly httpGet: { readonly host: string; readonly port: number; readonly path: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

/** May do nothing but serve. */
export const UNPRIVILEGED: SecurityContext = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

/**
 * May change the addresses of the node, and that alone. As root, since a container runtime gives no capability to
 * anybody else.
 */
export const ADDRESS_KEEPER: SecurityContext = {
  ...UNPRIVILEGED,
  runAsNonRoot: false,
  runAsUser: 0,
  runAsGroup: 0,
  capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
};
