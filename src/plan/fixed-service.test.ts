import { expect, test } from 'bun:test';
import type { EndpointSlice } from '../tenant/endpoint-slice.ts';
import { fixedService, fixedServiceFindings, fixedServiceObjects } from './fixed-service.ts';

const AT = { name: 'blue', namespace: 'tenants' };

test('is a Service that selects nothing, with the addresses in a slice', () => {
  expect(fixedServiceObjects(AT, { api: ['10.0.0.5:6443', '10.0.0.6:6443'] }))
    .toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
          "name": "snicket-blue",
          "namespace": "tenants",
        },
        "spec": {
          "ports": [
            {
              "name": "api",
              "port": 6443,
              "protocol": "TCP",
            },
          ],
        },
      },
      {
        "addressType": "IPv4",
        "apiVersion": "discovery.k8s.io/v1",
        "endpoints": [
          {
            "addresses": [
              "10.0.0.5",
            ],
            "conditions": {
              "ready": true,
              "serving": true,
              "terminating": false,
            },
          },
          {
            "addresses": [
              "10.0.0.6",
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
            "endpointslice.kubernetes.io/managed-by": "snicket.dev",
            "kubernetes.io/service-name": "snicket-blue",
          },
          "name": "snicket-blue-api-ipv4-6443",
          "namespace": "tenants",
        },
        "ports": [
          {
            "name": "api",
            "port": 6443,
            "protocol": "TCP",
          },
        ],
      },
    ]
  `);
});

test('has a slice for each family, kind and port', () => {
  const objects = fixedServiceObjects(AT, {
    api: ['10.0.0.5:6443', '10.0.0.6:7443', '[FD00::5]:6443'],
    konnectivity: ['10.0.0.5:8132'],
  });

  const slices = objects.slice(1) as EndpointSlice[];
  expect(slices.map(({ metadata }) => metadata.name)).toEqual([
    'snicket-blue-api-ipv4-6443',
    'snicket-blue-api-ipv4-7443',
    'snicket-blue-api-ipv6-6443',
    'snicket-blue-konnectivity-ipv4-8132',
  ]);
  expect(slices[2]?.endpoints).toMatchObject([{ addresses: ['fd00::5'] }]);
});

test('leaves out what no slice takes, and says so', () => {
  const endpoints = { api: ['127.0.0.1:6443', '10.0.0.5:6443'] };

  expect(JSON.stringify(fixedServiceObjects(AT, endpoints))).not.toContain('127.0.0.1');
  expect(fixedServiceFindings(endpoints)).toEqual([
    expect.objectContaining({
      code: 'EndpointUnusable',
      message: expect.stringContaining('127.0.0.1:6443'),
    }),
  ]);
});

test('has a name that a Service can have, and that no other Exposure gets', () => {
  const long = ['a', 'b'].map((end) => fixedService('x'.repeat(62) + end, { api: [] }).name);

  expect(long.map(({ length }) => length)).toEqual([63, 63]);
  expect(long[0]).not.toBe(long[1]!);
});
