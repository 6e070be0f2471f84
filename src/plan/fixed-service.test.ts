import { expect, test } from 'bun:test';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import { fixedService, fixedServiceFindings, fixedServiceObjects } from './fixed-service.ts';

const AT = { name: 'blue', namespace: 'tenants' };
const ELSEWHERE = { addresses: [], port: 443, clusterAddresses: [] };

test('is a Service without a selector, with the addresses in an EndpointSlice', () => {
  expect(fixedServiceObjects(AT, { api: ['10.0.0.5:6443', '10.0.0.6:6443'] }, ELSEWHERE))
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

test('has an EndpointSlice for each address family, port name and port', () => {
  const objects = fixedServiceObjects(
    AT,
    {
      api: ['10.0.0.5:6443', '10.0.0.6:7443', '[FD00::5]:6443'],
      konnectivity: ['10.0.0.5:8132'],
    },
    ELSEWHERE,
  );

  const slices = objects.slice(1) as EndpointSlice[];
  expect(slices.map(({ metadata }) => metadata.name)).toEqual([
    'snicket-blue-api-ipv4-6443',
    'snicket-blue-api-ipv4-7443',
    'snicket-blue-api-ipv6-6443',
    'snicket-blue-konnectivity-ipv4-8132',
  ]);
  expect(slices[2]?.endpoints).toMatchObject([{ addresses: ['fd00::5'] }]);
});

test('drops addresses that EndpointSlices do not accept, and reports them', () => {
  const endpoints = { api: ['127.0.0.1:6443', '10.0.0.5:6443'] };

  expect(JSON.stringify(fixedServiceObjects(AT, endpoints, ELSEWHERE))).not.toContain('127.0.0.1');
  expect(fixedServiceFindings(endpoints, ELSEWHERE)).toEqual([
    expect.objectContaining({
      code: 'FieldInvalid',
      message: expect.stringContaining('127.0.0.1:6443'),
    }),
  ]);
});

test('accepts loopback addresses if the gateway is on the same machine', () => {
  const endpoints = { api: ['127.0.0.1:6443', '[::1]:6443', '0.0.0.0:6443'] };
  const sameMachine = { ...ELSEWHERE, isGatewayHere: true };

  const slices = fixedServiceObjects(AT, endpoints, sameMachine).slice(1) as EndpointSlice[];

  expect(
    slices.flatMap((slice) => (slice.endpoints ?? []).flatMap(({ addresses }) => addresses)),
  ).toEqual(['127.0.0.1', '::1']);
  expect(fixedServiceFindings(endpoints, sameMachine)).toMatchObject([
    { code: 'FieldInvalid', message: expect.stringContaining('0.0.0.0:6443') },
  ]);
});

test('has a valid Service name that is unique to the Exposure', () => {
  const long = ['a', 'b'].map((end) => fixedService('x'.repeat(62) + end, { api: [] }).name);

  expect(long.map(({ length }) => length)).toEqual([63, 63]);
  expect(long[0]).not.toBe(long[1]!);
});

test('never points to a listener of the gateway on the same machine', () => {
  const endpoints = { api: ['127.0.0.3:8443', '127.0.0.3:6443', '[::1]:8443'] };
  const isGatewayAt = ({ port }: { readonly port: number }) => port === 8443;
  const sameMachine = { ...ELSEWHERE, isGatewayHere: true, isGatewayAt };

  const slices = fixedServiceObjects(AT, endpoints, sameMachine).slice(1) as EndpointSlice[];

  expect(slices).toMatchObject([
    { ports: [{ port: 6443 }], endpoints: [{ addresses: ['127.0.0.3'] }] },
  ]);
  const itself = expect.stringContaining(' is the edge itself');
  expect(fixedServiceFindings(endpoints, sameMachine)).toMatchObject([
    { code: 'FieldInvalid', message: itself },
    { code: 'FieldInvalid', message: itself },
  ]);
});

test('never points to the edge, by its public address or that of its Service', () => {
  const edge = {
    addresses: ['203.0.113.10', '2001:db8::10', 'edge.example.com'],
    port: 443,
    clusterAddresses: ['10.96.7.7'],
  };
  const loops = ['203.0.113.10:443', '[2001:DB8::10]:443', '10.96.7.7:8443'];
  const endpoints = {
    api: [...loops, '203.0.113.10:6443', '10.0.0.5:443'],
    konnectivity: ['10.96.7.7:443'],
  };

  const slices = fixedServiceObjects(AT, endpoints, edge).slice(1) as EndpointSlice[];

  expect(
    slices.flatMap((slice) => (slice.endpoints ?? []).flatMap(({ addresses }) => addresses)),
  ).toEqual(['203.0.113.10', '10.0.0.5']);
  expect(slices.map(({ ports }) => ports?.[0]?.port)).toEqual([6443, 443]);
  const findings = fixedServiceFindings(endpoints, edge);
  expect(findings.map(({ code }) => code)).toEqual(findings.map(() => 'FieldInvalid'));
  expect(findings.map(({ message }) => message.split(' in ')[0])).toEqual(
    [...loops, '10.96.7.7:443'].map((endpoint) => `Address ${endpoint}`),
  );
  for (const { message } of findings) expect(message).toContain(' is the edge itself');
});
