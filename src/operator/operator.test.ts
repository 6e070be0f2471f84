import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../kube/resource.ts';
import { PROXY } from '../tenant/proxy-names.ts';
import { OperatorLab } from './testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from './testing/namespaces.ts';

setDefaultTimeout(240_000);

const SLICE = { namespace: 'default', name: 'kubernetes' };

describe('an Exposure of a Service', () => {
  test('is routed and reachable through the gateway, and its tenant has proxies and endpoints', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    const { server, controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);

    await lab.expose('blue');

    await lab.untilCondition('blue', 'Ready', /^True Ready/);
    expect(lab.statusOf('blue')).toMatchObject({
      endpoint: `tenants-blue.k8s.example.test:${lab.gateway?.port}`,
      edgeRef: { name: 'shared' },
      driver: 'snicket',
      mode: 'Passthrough',
      proxies: { summary: '1/1' },
    });
    expect(lab.routesOf('blue')).toEqual([
      {
        edgeRef: { name: 'shared' },
        driver: 'snicket',
        exposureRef: { name: 'blue' },
        host: 'tenants-blue.k8s.example.test',
        type: 'API',
        backend: { service: { name: 'blue', port: expect.any(Number), portName: 'api' } },
      },
    ]);
    expect(server.read(RESOURCES.endpointSlice, SLICE)).toMatchObject({
      endpoints: [{ addresses: ['100.64.64.1'] }],
    });
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
    expect(
      lab.management.read(RESOURCES.secret, {
        namespace: SYSTEM_NAMESPACE,
        name: 'snicket-gateway-keys',
      }),
    ).toBeDefined();
  });
});
