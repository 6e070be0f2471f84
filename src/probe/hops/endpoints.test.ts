import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ManagedFields } from '../../kube/object.ts';
import { kubernetesEndpoints } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import type { EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { judgeEndpoints } from './endpoints.ts';

/** Returns slices as created by the operator, for one virtual address or for these nodes. */
function slices(...nodes: readonly string[]): readonly EndpointSlice[] {
  const objects = kubernetesEndpoints({
    serviceAddresses: ['10.96.0.1'],
    listeners:
      nodes.length === 0
        ? { at: 'virtual', addresses: ['100.64.64.1'] }
        : {
            at: 'node',
            nodes: nodes.map((name, index) => ({
              name,
              addresses: [`10.0.0.${index + 1}`],
              ready: true,
            })),
          },
    port: 6443,
    currentSlices: [],
  });
  return objects.filter((object) => object.kind === 'EndpointSlice') as EndpointSlice[];
}

function writtenBy(
  slice: EndpointSlice,
  managers: readonly ManagedFields[],
  change: Partial<EndpointSlice> = {},
): EndpointSlice {
  return { ...slice, ...change, metadata: { ...slice.metadata, managedFields: managers } };
}

const OURS: ManagedFields = {
  manager: 'snicket',
  operation: 'Apply',
  time: '2026-11-16T10:00:00Z',
  fieldsV1: { 'f:endpoints': {}, 'f:ports': {} },
};
const API_SERVER: ManagedFields = {
  manager: 'kube-apiserver',
  operation: 'Update',
  time: '2026-11-16T10:00:10Z',
  fieldsV1: { 'f:endpoints': {}, 'f:ports': {} },
};

test('the planned slices pass', () => {
  const planned = slices();

  const result = judgeEndpoints({
    planned,
    live: planned.map((slice) => writtenBy(slice, [OURS])),
  });

  expect(result).toEqual({
    name: 'endpoints',
    target: 'EndpointSlice default/kubernetes',
    state: 'Pass',
    code: 'Passed',
    message: 'The Service points to 100.64.64.1.',
  });
});

test('the order of endpoints does not matter', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 }), (order) => {
      const planned = slices('a', 'b', 'c', 'd');
      const byNode = new Map(
        planned[0]!.endpoints!.map((endpoint) => [endpoint.nodeName, endpoint]),
      );
      const endpoints = order.map((name) => byNode.get(name)!);

      const result = judgeEndpoints({ planned, live: [{ ...planned[0]!, endpoints }] });

      expect(result.code).toBe('Passed');
      expect(result.message).toBe('The Service points to 10.0.0.1, 10.0.0.2, 10.0.0.3 and 1 more.');
    }),
  );
});

test('an absent condition means ready', () => {
  const planned = slices();
  const live = [{ ...planned[0]!, endpoints: [{ addresses: ['100.64.64.1'] }] }];

  expect(judgeEndpoints({ planned, live }).code).toBe('Passed');
});

test('a missing slice fails', () => {
  const result = judgeEndpoints({ planned: slices(), live: [] });

  expect(result).toMatchObject({ state: 'Fail', code: 'NotReconciled' });
  expect(result.message).toBe('EndpointSlice default/kubernetes does not exist.');
});

test('names the API server that writes the slice, and the flag that stops it', () => {
  const planned = slices();
  const live = [
    writtenBy(planned[0]!, [OURS, API_SERVER], {
      endpoints: [{ addresses: ['10.0.0.5'], conditions: { ready: true } }],
    }),
  ];

  const result = judgeEndpoints({ planned, live });

  expect(result).toMatchObject({ state: 'Fail', code: 'EndpointsOverwritten' });
  expect(result.message).toBe(
    'EndpointSlice default/kubernetes was written by kube-apiserver and points to 10.0.0.5:6443 instead of 100.64.64.1:6443.',
  );
  expect(result.action).toContain('--endpoint-reconciler-type=none');
});

test('shows the difference: the port, or the attributes of the endpoints', () => {
  const planned = slices();
  const [slice] = planned;
  const ports = slice!.ports.map((port) => ({ ...port, port: 443 }));
  const endpoints = [{ addresses: ['100.64.64.1'], conditions: { ready: false } }];

  const otherPort = judgeEndpoints({ planned, live: [{ ...slice!, ports }] });
  const notReady = judgeEndpoints({ planned, live: [{ ...slice!, endpoints }] });

  expect(otherPort.message).toEndWith('points to 100.64.64.1:443 instead of 100.64.64.1:6443.');
  expect(notReady.message).toContain(
    'EndpointSlice default/kubernetes points to 100.64.64.1:6443 as planned, but differs in readiness, node names, hints or port names.',
  );
});

test('names the last writer of endpoints or ports', () => {
  const planned = slices();
  const older = { ...API_SERVER, manager: 'script', time: '2026-11-16T09:00:00Z' };
  const labels = { ...API_SERVER, manager: 'labeler', fieldsV1: { 'f:metadata': {} } };
  const live = [writtenBy(planned[0]!, [labels, older, API_SERVER], { endpoints: null })];

  const { message } = judgeEndpoints({ planned, live });

  expect(message).toContain('was written by kube-apiserver and points to no address');
});

test.each<[string, (slice: EndpointSlice) => EndpointSlice]>([
  ['another port', (slice) => ({ ...slice, ports: [{ ...slice.ports[0]!, port: 6444 }] })],
  [
    'an endpoint that is not ready',
    (slice) => ({
      ...slice,
      endpoints: [{ ...slice.endpoints![0]!, conditions: { ready: false } }],
    }),
  ],
  [
    'missing hints',
    (slice) => ({ ...slice, endpoints: [{ ...slice.endpoints![0]!, hints: { forNodes: [] } }] }),
  ],
  [
    'another Service in its label',
    (slice) => ({
      ...slice,
      metadata: { ...slice.metadata, labels: { 'kubernetes.io/service-name': 'other' } },
    }),
  ],
])('a slice with %s differs', (_, change) => {
  const planned = slices('a');

  const result = judgeEndpoints({ planned, live: [change(planned[0]!)] });

  expect(result).toMatchObject({ state: 'Fail', code: 'NotReconciled' });
});

test('names an unplanned slice and its field manager', () => {
  const planned = slices();
  const mirrored = writtenBy(
    {
      ...planned[0]!,
      metadata: { name: 'kubernetes-x7k2p' },
      endpoints: [{ addresses: ['10.0.0.5'] }],
    },
    [{ ...API_SERVER, manager: 'kube-controller-manager' }],
  );

  const result = judgeEndpoints({ planned, live: [...planned, mirrored] });

  expect(result).toMatchObject({ state: 'Fail', code: 'EndpointsForeignSlice' });
  expect(result.message).toBe(
    'EndpointSlice default/kubernetes-x7k2p, written by kube-controller-manager, also sends connections to 10.0.0.5.',
  );
  expect(result.action).toBe(
    'Delete EndpointSlice default/kubernetes-x7k2p in the tenant, and stop kube-controller-manager from creating it again.',
  );
});

test('an unplanned slice without endpoints is ignored', () => {
  const planned = slices();
  const empty = { ...planned[0]!, metadata: { name: 'kubernetes-x7k2p' }, endpoints: null };

  expect(judgeEndpoints({ planned, live: [...planned, empty] }).code).toBe('Passed');
});

test('previous endpoints that stay until a proxy is ready pass', () => {
  const result = judgeEndpoints({ planned: slices('a'), live: [], isHandoverPending: true });

  expect(result).toMatchObject({ state: 'Skip', code: 'NotApplicable' });
  expect(result.message).toBe('The previous endpoints stay until a proxy is ready.');
});
