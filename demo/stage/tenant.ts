import { join } from 'node:path';
import type { ApiObject } from '../../src/kube/store/object-store.ts';
import { writeKubeconfig } from '../../src/pki/kubeconfig.ts';
import { leafNames } from '../../src/plan/leaf-names.ts';
import { Authority, type Credential } from '../../world/cluster/pki.ts';
import { ADMINISTRATORS } from '../control-plane/identity.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import type { DemoFolder } from './folder.ts';

/** Address at which the pods of every cluster dial their API server. */
export const SERVICE_ADDRESS = '10.96.0.1';

/** Names of the API server in the certificate for pods. */
const SERVICE_NAMES = leafNames({
  clusterDomain: 'cluster.local',
  serviceAddresses: [SERVICE_ADDRESS],
});
const POD_NAMES = [...SERVICE_NAMES.names, ...SERVICE_NAMES.addresses];

/** A tenant: a control plane with its own CA, and the credentials of its clients. */
export interface Tenant {
  readonly name: string;
  /** The tenant's own host name, by which the shared address identifies it. */
  readonly host: string;
  readonly ca: string;
  /** `127.0.0.1:PORT`. Clients outside the cluster do not dial it. */
  readonly apiServer: string;
  readonly admin: Credential;
  readonly pod: PodCredentials;
}

/** Credentials of pods: usually a token, rarely a certificate. */
interface PodCredentials {
  readonly token: string;
  readonly certificate: Credential;
}

/** Starts a tenant's control plane, which stops with the stack. */
export async function startTenant(
  name: string,
  folder: DemoFolder,
  stack: AsyncDisposableStack,
): Promise<Tenant> {
  const authority = await Authority.create(`${name}-ca`);
  const host = `${name}.k8s.localhost`;
  const commonName = 'kube-apiserver';
  const serving = await authority.issue({ commonName, names: [host, '127.0.0.1', ...POD_NAMES] });
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  const serviceAccount = {
    username: 'system:serviceaccount:default:pod',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
  };
  const tokens = new Map([[token, serviceAccount]]);
  const objects = firstObjects(name);
  const controlPlane = stack.use(await ControlPlane.start({ authority, serving, tokens, objects }));
  const { address: apiServer } = controlPlane;
  const ca = authority.certificate;
  const admin = await authority.issue({ commonName: 'admin', organization: ADMINISTRATORS });
  const kubeconfig = writeKubeconfig({
    server: `https://${apiServer}`,
    ca,
    credentials: admin,
    names: { cluster: `tenant-${name}`, user: 'admin' },
  });
  // The CA and the administrator's kubeconfig as providers create them, and a token as every pod has one.
  folder.write(join(name, 'ca.crt'), ca);
  folder.write(join(name, 'ca.key'), authority.key);
  folder.write(join(name, 'admin.kubeconfig'), kubeconfig);
  folder.write(join(name, 'token'), token);
  return {
    name,
    host,
    ca,
    apiServer,
    admin,
    pod: { token, certificate: await authority.issue({ commonName: `robot-of-${name}` }) },
  };
}

/** Returns the objects of a new cluster with one worker, and a namespace that identifies its tenant. */
function firstObjects(name: string): readonly ApiObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `home-of-${name}` } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: {
        type: 'ClusterIP',
        clusterIP: SERVICE_ADDRESS,
        clusterIPs: [SERVICE_ADDRESS],
        ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
      },
    },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } },
  ];
}
