import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { driverFor } from '../driver-for.ts';
import type { EdgeContext } from '../driver.ts';
import { API_HOST, BLUE, context, KONNECTIVITY_HOST, SPECS } from '../testing/blue.ts';
import { gateway, gatewayClass, gatewayWith } from '../testing/gateway.ts';

function findingsWith(
  gateways: readonly KubeObject[],
  around: Partial<EdgeContext> = {},
  parent: object = {},
) {
  const parentRefs = [{ namespace: 'edge', name: 'shared', sectionName: 'tls', ...parent }];
  const spec = { ...SPECS['gateway-api'], gatewayApi: { parentRefs } };
  return driverFor('gateway-api').findings(
    BLUE,
    context(spec, { gateways, gatewayClasses: [gatewayClass()], ...around }),
  );
}

test('a suitable Gateway has no findings', () => {
  expect(findingsWith([gateway()])).toEqual([]);
});

test('a missing Gateway is reported', () => {
  expect(findingsWith([gateway({}, 'elsewhere')])).toMatchObject([
    {
      code: 'EdgeReferenceInvalid',
      severity: 'error',
      message: 'Gateway edge/shared, which Edge shared references, does not exist.',
    },
  ]);
});

test('a missing class is reported', () => {
  expect(findingsWith([gateway()], { gatewayClasses: [] })).toMatchObject([
    {
      code: 'EdgeReferenceInvalid',
      message: 'Gateway edge/shared has GatewayClass example, which does not exist.',
    },
  ]);
});

test('a Gateway that its controller rejects is reported with the reason', () => {
  const accepted = { type: 'Accepted', status: 'False', reason: 'Invalid', message: 'Bad.' };
  const rejected = { ...gateway(), status: { conditions: [accepted] } };

  expect(findingsWith([rejected])).toMatchObject([
    {
      code: 'GatewayRejected',
      message: 'The controller rejects Gateway edge/shared (Invalid): Bad.',
    },
  ]);
});

test('a Gateway without an address causes a warning only', () => {
  const programmed = { type: 'Programmed', status: 'False', reason: 'AddressNotAssigned' };

  expect(
    findingsWith([{ ...gateway(), status: { conditions: [programmed] } } as KubeObject]),
  ).toEqual([]);
});

describe('a listener', () => {
  test.each<[string, object, string, string]>([
    ['with another protocol', { protocol: 'HTTPS' }, 'ListenerMismatch', 'has protocol HTTPS'],
    [
      'that terminates TLS',
      { tls: { mode: 'Terminate' } },
      'ListenerMismatch',
      'has mode Terminate',
    ],
    ['without a TLS mode', { tls: {} }, 'ListenerMismatch', 'has mode Terminate'],
    [
      'for other kinds',
      { allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ kind: 'TCPRoute' }] } },
      'ListenerMismatch',
      'allows TCPRoute.gateway.networking.k8s.io, but no TLSRoute of gateway.networking.k8s.io',
    ],
    [
      'for the same kind in another group',
      { allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ group: 'x', kind: 'TLSRoute' }] } },
      'ListenerMismatch',
      'allows TLSRoute.x, but no TLSRoute of gateway.networking.k8s.io',
    ],
    [
      'for its own namespace only',
      { allowedRoutes: { namespaces: { from: 'Same' } } },
      'ListenerMismatch',
      'allows routes from namespace edge only, not from tenants',
    ],
    [
      'without allowed namespaces',
      { allowedRoutes: undefined },
      'ListenerMismatch',
      'allows routes from namespace edge only, not from tenants',
    ],
    [
      'for no namespace',
      { allowedRoutes: { namespaces: { from: 'None' } } },
      'ListenerMismatch',
      "allows routes from namespaces by 'None', not from tenants",
    ],
    [
      'for another host',
      { hostname: API_HOST },
      'ListenerMismatch',
      `has hostname ${API_HOST}, which does not cover ${KONNECTIVITY_HOST}`,
    ],
    [
      'for another domain',
      { hostname: '*.k8s.example.net' },
      'ListenerMismatch',
      `has hostname *.k8s.example.net, which does not cover ${KONNECTIVITY_HOST}`,
    ],
  ])('%s causes one error', (_, listener, code, message) => {
    expect(findingsWith([gateway(listener)])).toMatchObject([
      { code, severity: 'error', message: `Listener tls of Gateway edge/shared ${message}.` },
    ]);
  });

  test.each<[string, object]>([
    ['with a wildcard over both domains', { hostname: '*.example.net' }],
    ['without allowed kinds', { allowedRoutes: { namespaces: { from: 'All' } } }],
  ])('%s accepts the routes', (_, listener) => {
    expect(findingsWith([gateway(listener)])).toEqual([]);
  });

  test('on another port causes a warning, since a load balancer may map the port', () => {
    expect(findingsWith([gateway({ port: 8443 })])).toMatchObject([
      {
        code: 'ListenerMismatch',
        severity: 'warning',
        message:
          'Listener tls of Gateway edge/shared is on port 8443, but clients of the edge dial 443.',
      },
    ]);
  });

  test.each<[object, boolean]>([
    [{ matchLabels: { 'snicket.dev/edge': 'shared' } }, true],
    [{ matchLabels: { 'snicket.dev/edge': 'other' } }, false],
    [{}, true],
    [
      { matchExpressions: [{ key: 'snicket.dev/edge', operator: 'In', values: ['a', 'shared'] }] },
      true,
    ],
    [
      { matchExpressions: [{ key: 'snicket.dev/edge', operator: 'NotIn', values: ['shared'] }] },
      false,
    ],
    [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['shared'] }] }, true],
    [{ matchExpressions: [{ key: 'snicket.dev/edge', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'snicket.dev/edge', operator: 'DoesNotExist' }] }, false],
    [{ matchExpressions: [{ key: 'snicket.dev/edge', operator: 'Resembles' }] }, false],
  ])('selects namespaces by labels: %j', (selector, takes) => {
    const allowedRoutes = { namespaces: { from: 'Selector', selector } };
    const namespaceLabels = { 'snicket.dev/edge': 'shared' };

    const codes = findingsWith([gateway({ allowedRoutes })], { namespaceLabels }).map(
      ({ code }) => code,
    );

    expect(codes).toEqual(takes ? [] : ['ListenerMismatch']);
  });

  test('that its controller rejects is reported with the reason', () => {
    const conflicted = {
      type: 'Conflicted',
      status: 'True',
      reason: 'HostnameConflict',
      message: 'Twice',
    };
    const listeners = [{ name: 'tls', conditions: [conflicted] }];

    expect(findingsWith([{ ...gateway(), status: { listeners } } as KubeObject])).toMatchObject([
      {
        code: 'GatewayRejected',
        message:
          'The controller rejects listener tls of Gateway edge/shared (HostnameConflict): Twice.',
      },
    ]);
  });

  test('that is missing is reported, with the existing ones', () => {
    expect(findingsWith([gateway({ name: 'https' })])).toMatchObject([
      {
        code: 'EdgeReferenceInvalid',
        message: 'Gateway edge/shared has no listener tls.',
        action: 'Set one of its listeners in the Edge: https.',
      },
    ]);
    expect(findingsWith([gateway()], {}, { port: 8443 })).toMatchObject([
      {
        code: 'EdgeReferenceInvalid',
        message: 'Gateway edge/shared has no listener tls on port 8443.',
      },
    ]);
  });

  test('may be any listener if the Edge names none, and one per host is enough', () => {
    const allowedRoutes = { namespaces: { from: 'All' } };
    const fit = { port: 443, protocol: 'TLS', tls: { mode: 'Passthrough' }, allowedRoutes };
    const twoListeners = gatewayWith([
      { name: 'https', port: 443, protocol: 'HTTPS' },
      { ...fit, name: 'api', hostname: '*.k8s.example.net' },
      { ...fit, name: 'konnectivity', hostname: '*.konnectivity.example.net' },
    ]);
    const wrongApi = gatewayWith([
      { name: 'http', port: 80, protocol: 'HTTP' },
      { ...fit, name: 'api', hostname: '*.k8s.example.net' },
    ]);

    expect(findingsWith([twoListeners], {}, { sectionName: undefined })).toEqual([]);
    expect(findingsWith([wrongApi], {}, { sectionName: undefined })).toMatchObject([
      {
        code: 'ListenerMismatch',
        message: `Listener api of Gateway edge/shared has hostname *.k8s.example.net, which does not cover ${KONNECTIVITY_HOST}.`,
      },
    ]);
  });
});
