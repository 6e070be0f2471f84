/** The files of a control plane: certificates, keys and kubeconfigs of its programs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterPlan } from '../spec.ts';
import { tenantNamespace } from '../tenant-service.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { Authority, tokenKeys, writeCredential } from './pki.ts';
import type { ControlPlanePaths } from './programs.ts';

/** Writes all files that the programs of a control plane read. */
export async function writeControlPlaneFiles(
  plan: ClusterPlan,
  paths: ControlPlanePaths,
  authority: Authority,
  server: string,
): Promise<void> {
  const { pki } = paths;
  mkdirSync(pki, { recursive: true });
  writeCredential(pki, 'ca', authority);
  writeCredential(
    pki,
    'apiserver',
    await authority.issue({ commonName: 'kube-apiserver', names: apiServerNames(plan) }),
  );
  const kubeletClient = {
    commonName: 'kube-apiserver-kubelet-client',
    organization: 'system:masters',
  };
  writeCredential(pki, 'kubelet-client', await authority.issue(kubeletClient));
  const users = [
    'kube-controller-manager',
    'kube-scheduler',
    ...(plan.konnectivity ? ['konnectivity-server'] : []),
  ];
  for (const user of users) {
    const credential = await authority.issue({ commonName: `system:${user}` });
    writeKubeconfig(join(pki, `${user}.kubeconfig`), {
      name: plan.name,
      server,
      authority: authority.certificate,
      credential,
    });
  }
  const frontProxy = await Authority.create(`${plan.name}-front-proxy-ca`);
  writeCredential(pki, 'front-proxy-ca', frontProxy);
  writeCredential(
    pki,
    'front-proxy-client',
    await frontProxy.issue({ commonName: 'front-proxy-client' }),
  );
  const tokens = await tokenKeys();
  writeFileSync(join(pki, 'sa.pub'), tokens.publicKey);
  writeFileSync(join(pki, 'sa.key'), tokens.privateKey, { mode: 0o600 });
  if (plan.konnectivity) await writeKonnectivityFiles(plan, paths, authority);
}

/**
 * Returns the names in the API server's certificate: for pods, outside clients, the management cluster and the relay.
 */
function apiServerNames(plan: ClusterPlan): string[] {
  const namespace = tenantNamespace(plan.name);
  return [
    ...[
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    ...[plan.serviceAddress, plan.hosts.api, plan.address],
    ...[`${plan.name}.${namespace}.svc`, `${plan.name}.${namespace}.svc.cluster.local`],
    ...['localhost', '127.0.0.1'],
    ...plan.certificateNames,
  ];
}

async function writeKonnectivityFiles(
  plan: ClusterPlan,
  paths: ControlPlanePaths,
  authority: Authority,
): Promise<void> {
  const names = [plan.hosts.konnectivity, plan.address];
  writeCredential(
    paths.pki,
    'konnectivity-server',
    await authority.issue({ commonName: 'konnectivity-server', names }),
  );
  const transport = { uds: { udsName: paths.konnectivitySocket } };
  const selector = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'GRPC', transport } }],
  };
  writeFileSync(paths.egressSelector, JSON.stringify(selector));
}
