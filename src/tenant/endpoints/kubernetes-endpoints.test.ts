import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import type { TenantNode } from '../tenant-facts.ts';
import { endpointAt, type EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { kubernetesEndpoints, type KubernetesEndpointsInput } from './kubernetes-endpoints.ts';

const IPV4 = ['10.96.0.1'];
const BOTH = ['10.96.0.1', 'fd96::1'];

function node(name: string, address: string, ready = true): TenantNode {
  return { name, addresses: address === '' ? [] : [address], ready };
}

function atNodes(
  nodes: readonly TenantNode[],
  change: Partial<KubernetesEndpointsInput> = {},
): readonly KubeObject[] {
  const listeners = { at: 'node', nodes } as const;
  return kubernetesEndpoints({
    serviceAddresses: IPV4,
    listeners,
    port: 7443,
    currentSlices: [],
    ...change,
  });
}

function slicesIn(objects: readonly KubeObject[]): readonly EndpointSlice[] {
  return objects.filter(({ kind }) => kind === 'EndpointSlice') as EndpointSlice[];
}

/** Returns addresses and readiness, by slice. */
function summary(objects: readonly KubeObject[]): Record<string, string[]> {
  return Object.fromEntries(
    slicesIn(objects).map(({ metadata, endpoints }) => [
      metadata.name,
      (endpoints ?? []).map(
        ({ addresses, conditions }) =>
          `${addresses[0]}${conditions?.ready === true ? '' : ' not ready'}`,
      ),
    ]),
  );
}

describe('at a virtual address', () => {
  const virtual = (addresses: readonly string[], serviceAddresses: readonly string[]) =>
    kubernetesEndpoints({
      serviceAddresses,
      listeners: { at: 'virtual', addresses },
      port: 7443,
      currentSlices: [],
    });

  test('one endpoint serves all nodes, in an EndpointSlice and in Endpoints', () => {
    expect(virtual(['100.64.64.1'], IPV4)).toMatchInlineSnapshot(`
      [
        {
          "addressType": "IPv4",
          "apiVersion": "discovery.k8s.io/v1",
          "endpoints": [
            {
              "addresses": [
                "100.64.64.1",
              ],
              "conditions": {
                "ready": true,
                "serving": true,
                "terminating": false,
              },
            },
          ],
          "kind": "EndpointSlice",
          "metadata": {
            "labels": {
              "app.kubernetes.io/managed-by": "snicket",
              "endpointslice.kubernetes.io/managed-by": "snicket.dev",
              "kubernetes.io/service-name": "kubernetes",
            },
            "name": "kubernetes",
            "namespace": "default",
          },
          "ports": [
            {
              "name": "https",
              "port": 7443,
              "protocol": "TCP",
            },
          ],
        },
        {
          "apiVersion": "v1",
          "kind": "Endpoints",
          "metadata": {
            "labels": {
              "app.kubernetes.io/managed-by": "snicket",
              "endpointslice.kubernetes.io/skip-mirror": "true",
            },
            "name": "kubernetes",
            "namespace": "default",
          },
          "subsets": [
            {
              "addresses": [
                {
                  "ip": "100.64.64.1",
                },
              ],
              "ports": [
                {
                  "name": "https",
                  "port": 7443,
                  "protocol": "TCP",
                },
              ],
            },
          ],
        },
      ]
    `);
  });

  test('the second address family has a separate slice', () => {
    const objects = virtual(['100.64.64.1', 'FD64::0001'], BOTH);

    expect(summary(objects)).toEqual({
      kubernetes: ['100.64.64.1'],
      'kubernetes-snicket-ipv6': ['fd64::1'],
    });
    expect(slicesIn(objects).map(({ addressType }) => addressType)).toEqual(['IPv4', 'IPv6']);
  });

  test('the slice `kubernetes` has the primary address family', () => {
    const objects = virtual(['100.64.64.1', 'fd64::1'], BOTH.toReversed());

    expect(summary(objects)).toEqual({
      kubernetes: ['fd64::1'],
      'kubernetes-snicket-ipv4': ['100.64.64.1'],
    });
  });

  test('the address of a Service is never an endpoint', () => {
    expect(virtual(['10.96.0.1'], IPV4)).toEqual([]);
    expect(virtual(['FD96:0::1'], ['fd96::1'])).toEqual([]);
  });
});

describe('at node addresses', () => {
  test('each node has an endpoint with a hint for itself', () => {
    const nodes = [node('one', '10.0.0.1'), node('two', '10.0.0.2', false)];

    expect(atNodes(nodes)).toMatchInlineSnapshot(`
      [
        {
          "addressType": "IPv4",
          "apiVersion": "discovery.k8s.io/v1",
          "endpoints": [
            {
              "addresses": [
                "10.0.0.1",
              ],
              "conditions": {
                "ready": true,
                "serving": true,
                "terminating": false,
              },
              "hints": {
                "forNodes": [
                  {
                    "name": "one",
                  },
                ],
              },
              "nodeName": "one",
            },
            {
              "addresses": [
                "10.0.0.2",
              ],
              "conditions": {
                "ready": false,
                "serving": false,
                "terminating": false,
              },
              "hints": {
                "forNodes": [
                  {
                    "name": "two",
                  },
                ],
              },
              "nodeName": "two",
            },
          ],
          "kind": "EndpointSlice",
          "metadata": {
            "labels": {
              "app.kubernetes.io/managed-by": "snicket",
              "endpointslice.kubernetes.io/managed-by": "snicket.dev",
              "kubernetes.io/service-name": "kubernetes",
            },
            "name": "kubernetes",
            "namespace": "default",
          },
          "ports": [
            {
              "name": "https",
              "port": 7443,
              "protocol": "TCP",
            },
          ],
        },
        {
          "apiVersion": "v1",
          "kind": "Endpoints",
          "metadata": {
            "labels": {
              "app.kubernetes.io/managed-by": "snicket",
              "endpointslice.kubernetes.io/skip-mirror": "true",
            },
            "name": "kubernetes",
            "namespace": "default",
          },
          "subsets": [
            {
              "addresses": [
                {
                  "ip": "10.0.0.1",
                },
              ],
              "notReadyAddresses": [
                {
                  "ip": "10.0.0.2",
                },
              ],
              "ports": [
                {
                  "name": "https",
                  "port": 7443,
                  "protocol": "TCP",
                },
              ],
            },
          ],
        },
      ]
    `);
  });

  test('a node without a usable address is skipped', () => {
    const nodes = [node('one', '10.0.0.1'), node('two', ''), node('three', '169.254.0.3')];

    expect(summary(atNodes(nodes))).toEqual({ kubernetes: ['10.0.0.1'] });
  });

  test('each address family has the nodes with an address of that family', () => {
    const nodes = [
      { name: 'one', addresses: ['10.0.0.1', 'fd00::1'], ready: true },
      node('two', 'fd00::2'),
    ];

    expect(summary(atNodes(nodes, { serviceAddresses: BOTH }))).toEqual({
      kubernetes: ['10.0.0.1'],
      'kubernetes-snicket-ipv6': ['fd00::1', 'fd00::2'],
    });
  });

  test('all endpoints are ready if no node is, since a wrong result must not cut off all pods', () => {
    const nodes = [node('one', '10.0.0.1', false), node('two', '10.0.0.2', false)];

    expect(summary(atNodes(nodes))).toEqual({ kubernetes: ['10.0.0.1', '10.0.0.2'] });
  });

  test('a ready node without an address does not count', () => {
    const nodes = [node('one', '10.0.0.1', false), node('two', '', true)];

    expect(summary(atNodes(nodes))).toEqual({ kubernetes: ['10.0.0.1'] });
  });

  test('the last endpoints stay when no node is left', () => {
    const nodes = [node('one', '10.0.0.1'), node('two', '10.0.0.2', false)];
    const before = atNodes(nodes);

    expect(atNodes([], { currentSlices: slicesIn(before) })).toEqual(before);
    expect(atNodes([node('new', '')], { currentSlices: slicesIn(before) })).toEqual(before);
  });

  test("endpoints of the API server's reconciler are not kept", () => {
    const [planned] = slicesIn(atNodes([node('one', '10.0.0.1')]));
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const foreign = { ...planned!, metadata: { ...planned!.metadata, labels } };

    expect(atNodes([], { currentSlices: [foreign] })).toEqual([]);
  });

  test('no endpoints are created without nodes', () => {
    expect(atNodes([])).toEqual([]);
  });

  test('the endpoint of a virtual address stays until it is replaced', () => {
    const [slice] = slicesIn(atNodes([node('one', '10.0.0.1')]));
    const currentSlices = [{ ...slice!, endpoints: [endpointAt('100.64.64.1')] }];

    expect(summary(atNodes([], { currentSlices }))).toEqual({ kubernetes: ['100.64.64.1'] });
    expect(summary(atNodes([node('one', '10.0.0.1')], { currentSlices }))).toEqual({
      kubernetes: ['10.0.0.1'],
    });
  });

  test('the 1001st endpoint has another slice, and a removed node changes one slice', () => {
    const nodes = Array.from({ length: 2500 }, (_, index) =>
      node(`node-${index}`, `10.1.${index >> 8}.${index & 0xff}`),
    );
    const before = atNodes(nodes);
    const fewer = nodes.filter(({ name }) => name !== 'node-17');
    const after = atNodes(fewer, { currentSlices: slicesIn(before) });

    expect(
      slicesIn(before).map(({ metadata, endpoints }) => [metadata.name, endpoints?.length]),
    ).toEqual([
      ['kubernetes', 1000],
      ['kubernetes-snicket-2', 1000],
      ['kubernetes-snicket-3', 500],
    ]);
    const changed = slicesIn(after).filter((slice, at) => !Bun.deepEquals(slice, before[at]));
    expect(changed).toHaveLength(1);
    expect(changed[0]?.endpoints).toHaveLength(999);
  });
});
