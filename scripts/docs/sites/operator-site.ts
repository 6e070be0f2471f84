/** For tests only: a management cluster with Edge `shared`, an operator and a gateway. */
import { objectOf } from '../../../src/operator/testing/objects.ts';
import type { OperatorLab } from '../../../src/operator/testing/operator-lab.ts';
import { startProvidedLab } from '../../../src/operator/testing/provided-lab.ts';
import { SYSTEM_NAMESPACE } from '../../../src/operator/testing/namespaces.ts';
import { PROVIDER_RESOURCES } from '../../../src/providers/provider-resources.ts';

/** The annotation of the default Edge. */
export const IS_DEFAULT = { 'snicket.dev/is-default': 'true' };

/** Starts the cluster, with the operator's Deployment and Lease as the documentation shows them. */
export async function startOperatorSite(): Promise<OperatorLab> {
  const lab = await startProvidedLab({ transport: 'tls', hasGateway: true, probeMs: 50 });
  await lab.applyEdge({}, 'shared', IS_DEFAULT);
  const metadata = { name: 'snicket-operator', namespace: SYSTEM_NAMESPACE };
  const args = ['operator', '--leader-elect', '--proxy-image=snicket.test/snicket:1'];
  const spec = { replicas: 2, template: { spec: { containers: [{ args }] } } };
  lab.management.seed({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
  const status = { readyReplicas: 2 };
  const options = { subresource: 'status' } as const;
  await lab.user.patch(PROVIDER_RESOURCES.deployment, metadata, 'merge', { status }, options);
  const renewTime = new Date(Date.now() + 3_600_000).toISOString();
  const lease = { holderIdentity: 'snicket-operator-7d5c9b_1', leaseDurationSeconds: 7200 };
  lab.management.seed(objectOf('Lease', metadata, { spec: { ...lease, renewTime } }));
  return lab;
}
