import { expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '../clock/clock.ts';
import { planExposure } from '../plan/plan.ts';
import { createLogger } from '../telemetry/log.ts';
import { observeExposure, observeTenant, type CredentialsSource } from './observe.ts';
import { ManagementCluster } from '../operator/management/management-cluster.ts';
import { ManagementSnapshot } from '../management/management-snapshot.ts';
import { TenantLink } from './tenant/link/tenant-link.ts';
import { LAB_EDGES } from '../operator/testing/edges.ts';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from '../operator/testing/namespaces.ts';

setDefaultTimeout(240_000);

const nothing = () => {};
const LISTENER = {
  onExposure: nothing,
  onEdge: nothing,
  onService: nothing,
  onOwnedObject: nothing,
  onTenantRoute: nothing,
  onForeignRoute: nothing,
  onNamespace: nothing,
  onEdgeSetting: nothing,
  onDiscoveryChange: nothing,
  onProviderObject: nothing,
};

const EDGES = { snicket: { spec: {}, objects: [] }, ...LAB_EDGES };

test.each(Object.entries(EDGES))(
  'a reader that reads once plans as a reader that watches, behind %s',
  async (_driver, { spec, objects }) => {
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const { server, controllers } = await lab.addExposed('blue', { worker: { address: 'Node' } });
    await controllers.addNode('one', ['192.0.2.1']);
    await lab.untilCondition('blue', 'WorkersReady', /1 of 1/);
    await lab.stopOperator();
    const object = lab.exposure('blue')!;
    const ended = new AbortController();
    const { signal } = ended;
    const client = lab.management.client();
    const watching = new ManagementCluster({
      clock: systemClock,
      random: Math.random,
      client,
      freshMs: 1000,
      log: createLogger({ write: nothing }),
    });
    await watching.open(LISTENER, signal);
    const reading = await ManagementSnapshot.read(client, signal);
    const tenant = server.client();
    const link = new TenantLink({
      clock: systemClock,
      random: Math.random,
      client: tenant,
      watchesNodes: true,
      freshMs: 1000,
      onChange: nothing,
    });
    link.open();
    const credentials: CredentialsSource = async ({ mode }) =>
      Promise.resolve({
        credentials:
          mode === 'Terminate' ? { certificate: 'leaf', key: 'key' } : { tenantKey: 'key' },
      });

    const observations = [watching, reading].map(async (management) => {
      const deps = {
        management,
        namespace: SYSTEM_NAMESPACE,
        proxyImage: 'snicket.test/snicket:1',
      };
      const { value: resolved } = management.exposureIndex.resolve(object);
      return observeExposure(object, resolved!, deps, signal);
    });
    const [watched, read] = await Promise.all(observations);
    const plans = [watched!, read!].map(({ resolved, facts }) => planExposure(resolved, facts));
    const tenants = [watched!, read!].map(async (observation, index) =>
      observeTenant(observation, plans[index]!, link, credentials, systemClock, signal),
    );
    const [watchedTenant, readTenant] = await Promise.all(tenants);
    link.close();
    ended.abort();

    expect(plans[1]).toEqual(plans[0]);
    expect(read!.facts.edgeAddresses).toEqual(watched!.facts.edgeAddresses);
    const planned = planExposure(read!.resolved, readTenant!.facts);
    expect(planned).toEqual(planExposure(watched!.resolved, watchedTenant!.facts));
    const slice = planned.tenant?.find(({ kind }) => kind === 'EndpointSlice');
    expect(slice).toMatchObject({ endpoints: [{ addresses: ['192.0.2.1'], nodeName: 'one' }] });
  },
);
