import { expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '../../../clock/clock.ts';
import { SERVICE_NAME_LABEL } from '../../../kube/endpoints/endpoint-slice.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { MemoryApiServer } from '../../../kube/testing/memory/memory-api-server.ts';
import { until } from '../../../operator/testing/until.ts';
import { KUBERNETES } from '../../../tenant/endpoints/kubernetes-endpoints.ts';
import { TenantLink } from './tenant-link.ts';

setDefaultTimeout(240_000);

const { signal } = new AbortController();

test('a slice that another client deletes before the response to its creation is not listed', async () => {
  await using server = await MemoryApiServer.start();
  const client = server.client();
  let changes = 0;
  const onChange = () => changes++;
  const options = { client, watchesNodes: false, freshMs: 0, onChange, random: () => 0.5 };
  const link = new TenantLink({ ...options, clock: systemClock });
  link.open();
  await link.synced(signal);
  const { apiVersion, kind } = RESOURCES.endpointSlice;
  const key = { name: 'snicket', namespace: KUBERNETES.namespace };
  const labels = { [SERVICE_NAME_LABEL]: KUBERNETES.name };
  const count = () => link.slices.list().length;
  const slice = {
    apiVersion,
    kind,
    metadata: { ...key, labels },
    addressType: 'IPv4',
    endpoints: [],
  };

  await link.writing(async () => {
    const created = await client.create(RESOURCES.endpointSlice, slice);
    await until('the watch delivers the slice', () => count() === 1);
    await client.delete(RESOURCES.endpointSlice, key);
    await until('the watch delivers the deletion', () => count() === 0);
    link.wrote(created);
  });

  expect(count()).toBe(0);
  expect(changes).toBe(1);
  link.close();
});
