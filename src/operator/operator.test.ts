import { describe, expect, test } from 'bun:test';
import { RESOURCES } from '../kube/resource.ts';
import { PROXY } from '../tenant/proxy-names.ts';
import { OperatorLab, SYSTEM, until } from './testing/operator-lab.ts';

const SLICE = { namespace: 'default', name: 'kubernetes' };

describe('an Exposure of a Service', () => {
  test('is routed, and its tenant gets proxies and endpoints', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addTenant('blue');

    await lab.expose('blue');

    await until('routed', () => lab.condition('blue', 'Routed') === 'True: Admitted');
    await until('brought', () => lab.condition('blue', 'TenantReady') === 'True: NoNodes');
    expect(lab.statusOf('blue')).toMatchObject({
      endpoint: 'tenants-blue.k8s.example.test:443',
      edge: 'shared',
      driver: 'snicket',
      mode: 'passthrough',
      route: { api: { host: 'tenants-blue.k8s.example.test', service: 'blue', portName: 'api' } },
    });
    expect(server.read(RESOURCES.endpointSlice, SLICE)).toMatchObject({
      endpoints: [{ addresses: ['100.64.64.1'] }],
    });
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
    expect(
      lab.management.read(RESOURCES.secret, { namespace: SYSTEM, name: 'snicket-gateway-keys' }),
    ).toBeDefined();
  });
});
