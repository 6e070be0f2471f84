/** Commands to copy and try. A test runs all of them. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubeconfig } from '../src/pki/kubeconfig.ts';
import { repository } from '../world/repository.ts';
import type { Command } from './page.ts';
import { STATE_FOLDER, TENANTS_FOLDER } from './stage/edge.ts';
import type { Stage } from './stage/stage.ts';
import { SERVICE_ADDRESS, type Tenant } from './stage/tenant.ts';
import type { Worker } from './stage/worker.ts';

/**
 * Writes the files that the commands use, and returns the commands. They run in the demo's own folder, so that they are
 * short.
 */
export function prepare({ folder, edge, workers }: Stage): readonly Command[] {
  symlinkSync(join(repository, 'snicket'), folder.join('snicket'));
  for (const worker of workers) {
    folder.write(kubeconfigOf(worker.tenant), administratorKubeconfig(worker.tenant, edge.port));
    folder.write(podKubeconfigOf(worker.tenant), podKubeconfig(worker));
  }
  const [a, b] = workers;
  const atEdge = `--connect-to ::127.0.0.1:${edge.port}`;
  const atProxy = ({ port }: Worker) => `--connect-to ::127.0.0.1:${port}`;
  return [
    {
      line: `cd ${folder.path}`,
      description:
        'the folder of this demo: kubeconfigs, certificates and logs; removed at the end',
    },
    ...workers.map(({ tenant }) => ({
      line: `kubectl --kubeconfig ${kubeconfigOf(tenant)} get namespaces`,
      description: `namespaces of tenant ${tenant.name}, at the shared address`,
    })),
    {
      line: `kubectl --kubeconfig ${podKubeconfigOf(a.tenant)} get namespaces`,
      description: 'as a pod of tenant a, through the proxy on its worker',
    },
    {
      line: `kubectl --kubeconfig ${podKubeconfigOf(b.tenant)} get namespaces`,
      description: 'as a pod of tenant b: the same address, and the namespaces of b',
    },
    {
      line: `kubectl --kubeconfig ${kubeconfigOf(b.tenant)} get daemonsets,endpointslices --all-namespaces`,
      description: 'objects that Snicket created in tenant b',
    },
    {
      line: `curl --cacert a/ca.crt ${atEdge} https://${a.tenant.host}/version`,
      description: 'without kubectl: tenant a, at the shared address',
    },
    {
      line: `curl --cacert a/ca.crt ${atEdge} https://${SERVICE_ADDRESS}/version`,
      description:
        'as a pod, at the shared address: rejected, because its ClientHello has no server name',
    },
    ...workers.map((worker) => ({
      line: `curl --cacert ${worker.tenant.name}/ca.crt ${atProxy(worker)} https://${SERVICE_ADDRESS}/api/v1/namespaces --oauth2-bearer "$(cat ${worker.tenant.name}/token)"`,
      description: `as a pod of tenant ${worker.tenant.name}, through the proxy on its worker`,
    })),
    {
      line: `./snicket status --state ${STATE_FOLDER}`,
      description: 'status of both Exposures; --watch follows changes',
    },
    {
      line: `./snicket doctor -f ${TENANTS_FOLDER} a`,
      description: 'checks of every hop on the path to tenant a',
    },
    {
      line: `curl ${edge.program.http}/metrics`,
      description: 'metrics of snicket run',
    },
    {
      line: `curl ${a.http}/readyz`,
      description: "readiness of the proxy on tenant a's worker",
    },
    {
      line: `sed -i.before s/Passthrough/Terminate/ ${TENANTS_FOLDER}/a.yaml`,
      description: 'change the mode of tenant a; its proxy restarts in the other mode',
    },
  ];
}

function kubeconfigOf({ name }: Tenant): string {
  return `${name}.kubeconfig`;
}

function podKubeconfigOf({ name }: Tenant): string {
  return `pod-of-${name}.kubeconfig`;
}

/**
 * Returns a kubeconfig that connects to the address of the edge, because not every DNS server resolves the tenant's
 * host.
 */
function administratorKubeconfig({ name, host, ca, admin }: Tenant, edgePort: number): string {
  const server = `https://127.0.0.1:${edgePort}`;
  const names = { cluster: `tenant-${name}`, user: 'admin' };
  return writeKubeconfig({ server, serverName: host, ca, credentials: admin, names });
}

/**
 * Returns a kubeconfig for a pod that connects to the proxy of a worker. The server name is an address, so kubectl's
 * ClientHello has no name.
 */
function podKubeconfig({ tenant, port }: Worker): string {
  const { name, ca, pod } = tenant;
  const server = `https://127.0.0.1:${port}`;
  const names = { cluster: `tenant-${name}`, user: 'pod' };
  return writeKubeconfig({ server, serverName: SERVICE_ADDRESS, ca, credentials: pod, names });
}
