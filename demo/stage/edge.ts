import { join } from 'node:path';
import type { WorkerMode } from '../../src/api/worker.ts';
import type { DemoFolder } from './folder.ts';
import { formatListenAddress } from '../../src/net/listen-address.ts';
import { freePort, loopbackAddresses } from './ports.ts';
import { Program } from './program.ts';
import type { Tenant } from './tenant.ts';

/** The folder of `snicket run`, within the folder of the demo. Changes in it take effect a moment later. */
export const TENANTS_FOLDER = 'tenants';
/** Folder in which `snicket run` keeps keys and statuses. */
export const STATE_FOLDER = 'state';

/** The shared address of all tenants: `snicket run`, which is operator and gateway in one process. */
export interface Edge {
  readonly port: number;
  readonly program: Program;
}

/** Starts the edge, which stops with the stack. It has no tenants until {@link writeTenantFile}. */
export async function startEdge(
  folder: DemoFolder,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Edge> {
  const port = await freePort(8443);
  const httpPort = await freePort(9440);
  const addresses = loopbackAddresses();
  folder.write(join(TENANTS_FOLDER, 'edge.yaml'), edgeYaml(addresses, port));
  const args = [
    ...['run', TENANTS_FOLDER, '--state', STATE_FOLDER],
    ...addresses.flatMap((address) => ['--listen', formatListenAddress({ address, port })]),
    ...['--http', `127.0.0.1:${httpPort}`, '--grace', '0', '--drain', '0'],
  ];
  const program = stack.use(Program.start({ name: 'run', args, httpPort, folder }));
  await program.ready(signal);
  return { port, program };
}

/** Writes the file that exposes a tenant. */
export function writeTenantFile(tenant: Tenant, mode: WorkerMode, folder: DemoFolder): void {
  folder.write(join(TENANTS_FOLDER, `${tenant.name}.yaml`), tenantYaml(tenant, mode));
}

function edgeYaml(addresses: readonly string[], port: number): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata:
  name: shared
  annotations: {snicket.dev/is-default: "true"}
spec:
  driver: snicket
  addresses: ${JSON.stringify(addresses)}
  port: ${port}
`;
}

function tenantYaml({ name, host, apiServer }: Tenant, mode: WorkerMode): string {
  return `apiVersion: v1
kind: Secret
metadata:
  name: ${name}-ca
files:
  tls.crt: ../${name}/ca.crt
  tls.key: ../${name}/ca.key
---
apiVersion: v1
kind: Secret
metadata:
  name: ${name}-kubeconfig
files:
  admin.conf: ../${name}/admin.kubeconfig
---
apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata:
  name: ${name}
spec:
  controlPlane:
    type: Endpoints
    endpoints:
      api: ["${apiServer}"]
    caSecretRef: {name: ${name}-ca}
    kubeconfigSecretRef: {name: ${name}-kubeconfig}
  hosts:
    api: ${host}
  worker:
    mode: ${mode} # or ${mode === 'Terminate' ? 'Passthrough' : 'Terminate'}: try it
`;
}
