/** Command lines of a control plane's programs, as pure functions of the plan and of file paths. */
import { join } from 'node:path';
import { program } from '../parts/parts.ts';
import { API_PORT, KONNECTIVITY_PORT, type ClusterPlan } from '../spec.ts';

/** Paths of a control plane's files. */
export interface ControlPlanePaths {
  /** Certificates, keys and kubeconfigs; NAME.crt, NAME.key, NAME.kubeconfig. */
  readonly pki: string;
  /** The disk of etcd. */
  readonly etcd: string;
  /** Socket between API server and konnectivity-server. */
  readonly konnectivitySocket: string;
  /** EgressSelectorConfiguration: the API server connects to nodes and pods through the socket. */
  readonly egressSelector: string;
  /** A folder that the controller manager always creates. */
  readonly volumePlugins: string;
}

/** Paths below a host's folder. */
export function controlPlanePaths(folder: string): ControlPlanePaths {
  return {
    pki: join(folder, 'files', 'pki'),
    etcd: join(folder, 'etcd'),
    konnectivitySocket: join(folder, 'files', 'konnectivity.sock'),
    egressSelector: join(folder, 'files', 'egress-selector.json'),
    volumePlugins: join(folder, 'volume-plugins'),
  };
}

/** Returns the command line of etcd. Its disk is in memory, so syncing is useless. */
export function etcd({ etcd }: ControlPlanePaths): string[] {
  return [
    program('etcd'),
    `--data-dir=${etcd}/data`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    '--listen-client-urls=http://127.0.0.1:2379',
    '--advertise-client-urls=http://127.0.0.1:2379',
    '--listen-peer-urls=http://127.0.0.1:2380',
  ];
}

/** Returns the command line of kube-apiserver. */
export function apiServer(plan: ClusterPlan, { pki, egressSelector }: ControlPlanePaths): string[] {
  return [
    program('kube-apiserver'),
    '--etcd-servers=http://127.0.0.1:2379',
    `--secure-port=${API_PORT}`,
    `--advertise-address=${plan.address}`,
    `--service-cluster-ip-range=${plan.serviceCidr}`,
    `--endpoint-reconciler-type=${plan.endpointReconciler}`,
    `--tls-cert-file=${pki}/apiserver.crt`,
    `--tls-private-key-file=${pki}/apiserver.key`,
    `--client-ca-file=${pki}/ca.crt`,
    `--kubelet-client-certificate=${pki}/kubelet-client.crt`,
    `--kubelet-client-key=${pki}/kubelet-client.key`,
    '--kubelet-preferred-address-types=InternalIP,Hostname',
    `--service-account-key-file=${pki}/sa.pub`,
    `--service-account-signing-key-file=${pki}/sa.key`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
    `--proxy-client-key-file=${pki}/front-proxy-client.key`,
    // The API server dials webhooks and extension servers at their pods, because no kube-proxy runs beside a control
    // plane.
    '--enable-aggregator-routing=true',
    '--allow-privileged=true',
    '--profiling=false',
    ...(plan.konnectivity ? [`--egress-selector-config-file=${egressSelector}`] : []),
    ...plan.apiServerFlags,
  ];
}

/** Returns the command line of kube-controller-manager. */
export function controllerManager(
  plan: ClusterPlan,
  { pki, volumePlugins }: ControlPlanePaths,
): string[] {
  return [
    program('kube-controller-manager'),
    ...kubeconfigFlags(`${pki}/kube-controller-manager.kubeconfig`),
    `--service-account-private-key-file=${pki}/sa.key`,
    `--root-ca-file=${pki}/ca.crt`,
    `--cluster-signing-cert-file=${pki}/ca.crt`,
    `--cluster-signing-key-file=${pki}/ca.key`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    `--cluster-cidr=${plan.podPrefix}.0.0/16`,
    '--allocate-node-cidrs=false',
    // By default the controller manager creates this folder below /usr/libexec of the machine.
    `--flex-volume-plugin-dir=${volumePlugins}`,
  ];
}

/** Returns the command line of kube-scheduler. */
export function scheduler({ pki }: ControlPlanePaths): string[] {
  return [
    program('kube-scheduler'),
    ...kubeconfigFlags(`${pki}/kube-scheduler.kubeconfig`),
    '--leader-elect=false',
  ];
}

/** Returns the command line of konnectivity-server. Agents connect over TLS, the API server through a socket. */
export function konnectivityServer({ pki, konnectivitySocket }: ControlPlanePaths): string[] {
  return [
    program('proxy-server'),
    `--uds-name=${konnectivitySocket}`,
    '--delete-existing-uds-file',
    '--mode=grpc',
    '--server-port=0',
    `--agent-port=${KONNECTIVITY_PORT}`,
    `--cluster-cert=${pki}/konnectivity-server.crt`,
    `--cluster-key=${pki}/konnectivity-server.key`,
    '--agent-namespace=kube-system',
    '--agent-service-account=konnectivity-agent',
    '--authentication-audience=system:konnectivity-server',
    `--kubeconfig=${pki}/konnectivity-server.kubeconfig`,
  ];
}

/** Uses one kubeconfig for requests of a component and for the authentication and authorization of its clients. */
function kubeconfigFlags(path: string): string[] {
  return ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
    (flag) => `--${flag}=${path}`,
  );
}
