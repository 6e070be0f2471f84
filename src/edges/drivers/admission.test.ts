/** How drivers interpret the status of real objects. The messages of Envoy Gateway and Contour are verbatim. */
import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { driverFor } from '../driver-for.ts';
import type { EdgeContext } from '../driver.ts';
import { API_HOST, BLUE, context, ingressClass, live, SPECS } from '../testing/blue.ts';
import { gateway, gatewayClass } from '../testing/gateway.ts';

const MINUTE_MS = 60_000;

/** Returns the admission if the controller has set the same status on all objects. */
function admissionFor(edgeContext: EdgeContext, status: object | undefined, ageMs = 0) {
  return admissionForEach(edgeContext, () => status, ageMs);
}

function admissionForEach(
  edgeContext: EdgeContext,
  statusOf: (object: KubeObject) => object | undefined,
  ageMs = 0,
) {
  const driver = driverFor(edgeContext.edge.spec.driver);
  const objects = driver.objects(BLUE, edgeContext.edge, edgeContext.served);
  const liveObjects = objects.map((object) => live(object, statusOf(object), ageMs));
  return driver.admitted(BLUE, liveObjects, edgeContext);
}

const haproxy = context(SPECS.haproxy, {
  ingressClasses: [ingressClass('haproxy', 'haproxy.org/ingress-controller/haproxy')],
});
const nginxInc = context(SPECS['nginx-inc'], {
  ingressClasses: [ingressClass('nginx-inc', 'nginx.org/ingress-controller')],
});
const contour = context(SPECS.contour);
const gatewayApi = context(SPECS['gateway-api'], {
  gateways: [gateway()],
  gatewayClasses: [gatewayClass()],
});

test('a missing route is pending', () => {
  expect(driverFor('haproxy').admitted(BLUE, [], haproxy)).toMatchObject({
    state: 'Pending',
    code: 'NotReconciled',
    message: 'Ingress tenants/snicket-blue.haproxy does not exist.',
  });
});

test('one missing route of two is pending', () => {
  const [api] = driverFor('contour').objects(BLUE, contour.edge, contour.served);
  const objects = api === undefined ? [] : [live(api, { currentStatus: 'valid' })];

  expect(driverFor('contour').admitted(BLUE, objects, contour)).toMatchObject({
    state: 'Pending',
    message: 'HTTPProxy tenants/snicket-blue-konnectivity does not exist.',
  });
});

test('an object of the same name in another namespace is ignored', () => {
  const [object] = driverFor('haproxy').objects(
    { ...BLUE, namespace: 'other' },
    haproxy.edge,
    haproxy.served,
  );
  const objects = object === undefined ? [] : [live(object)];

  expect(driverFor('haproxy').admitted(BLUE, objects, haproxy).code).toBe('NotReconciled');
});

test("Snicket's gateway needs no objects", () => {
  expect(driverFor('snicket').admitted(BLUE, [], context(SPECS.snicket)).state).toBe('Admitted');
});

describe('an Ingress', () => {
  test('is admitted when its controller publishes an address', () => {
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } };

    expect(admissionFor(haproxy, status)).toEqual({
      state: 'Admitted',
      code: 'Admitted',
      message: 'the controller serves it at 203.0.113.10',
    });
  });

  test.each([undefined, { loadBalancer: {} }])(
    'is unknown, whatever its age, if its controller reports nothing: %j',
    (status) => {
      expect(admissionFor(haproxy, status, 60 * MINUTE_MS)).toEqual({
        state: 'Unknown',
        code: 'NoStatus',
        message:
          'The controller does not report a status for Ingress tenants/snicket-blue.haproxy.',
        action: 'Check that a handshake through the edge reaches the tenant.',
      });
    },
  );

  test('is rejected if no controller serves its class, even with an older status', () => {
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } };

    expect(admissionFor(context(SPECS.haproxy), status)).toMatchObject({
      state: 'Refused',
      code: 'EdgeReferenceInvalid',
    });
  });
});

test('an IngressRouteTCP is unknown, since Traefik writes no status', () => {
  expect(admissionFor(context(SPECS.traefik), undefined, MINUTE_MS * 2)).toMatchObject({
    state: 'Unknown',
    code: 'NoStatus',
  });
});

describe('a TransportServer', () => {
  test.each([
    ['Valid', 'AddedOrUpdated', 'Admitted'],
    ['Warning', 'AddedOrUpdatedWithWarning', 'Admitted'],
    ['Warning', 'Rejected', 'Refused'],
    ['Invalid', 'Rejected', 'Refused'],
    ['Invalid', 'AddedOrUpdatedWithError', 'Refused'],
  ] as const)('with state %s, %s is %s', (state, reason, expected) => {
    const message = 'Host is taken by another resource';

    const admission = admissionFor(nginxInc, { state, reason, message });

    expect(admission.state).toBe(expected);
    expect(admission.message).toBe(
      `TransportServer tenants/snicket-blue-api is ${state}: ${message}.`,
    );
  });

  test('without a state is pending, and reported after a minute', () => {
    expect(admissionFor(nginxInc, undefined)).toMatchObject({
      state: 'Pending',
      code: 'AwaitingController',
    });
    expect(admissionFor(nginxInc, undefined, MINUTE_MS + 1)).toMatchObject({
      state: 'Pending',
      code: 'ControllerUnresponsive',
      message: 'No controller has processed TransportServer tenants/snicket-blue-api.',
    });
  });
});

describe('an HTTPProxy', () => {
  const valid = (observedGeneration: number, errors: readonly object[] = []) => ({
    currentStatus: errors.length > 0 ? 'invalid' : 'valid',
    description:
      errors.length > 0 ? 'At least one error present, see Errors for details' : 'Valid HTTPProxy',
    conditions: [
      { type: 'Valid', status: errors.length > 0 ? 'False' : 'True', observedGeneration, errors },
    ],
  });

  test('is admitted when it is valid', () => {
    expect(admissionFor(contour, valid(1))).toMatchObject({
      state: 'Admitted',
      message: 'HTTPProxy tenants/snicket-blue-api is valid.',
    });
  });

  test('is pending while its status is outdated', () => {
    expect(admissionFor(contour, valid(0), 60 * MINUTE_MS)).toMatchObject({
      state: 'Pending',
      code: 'AwaitingController',
    });
  });

  test('is rejected with the error itself, not with its summary', () => {
    const message = `fqdn "${API_HOST}" is used in multiple HTTPProxies: a/b, tenants/snicket-blue-api`;

    expect(admissionFor(contour, valid(1, [{ message, reason: 'DuplicateVhost' }]))).toMatchObject({
      state: 'Refused',
      code: 'RouteRejected',
      message: `HTTPProxy tenants/snicket-blue-api is invalid: ${message}.`,
    });
  });

  test('is rejected if one of the two HTTPProxies is invalid', () => {
    const admission = admissionForEach(contour, ({ metadata }) =>
      metadata.name.endsWith('-konnectivity')
        ? valid(1, [{ message: 'no such service' }])
        : valid(1),
    );

    expect(admission).toMatchObject({
      state: 'Refused',
      message: 'HTTPProxy tenants/snicket-blue-konnectivity is invalid: no such service.',
    });
  });

  test('is pending while only the API server has written its status', () => {
    const status = { currentStatus: 'NotReconciled', description: 'Waiting for controller' };

    expect(admissionFor(contour, status).code).toBe('AwaitingController');
    expect(admissionFor(contour, status, 2 * MINUTE_MS).code).toBe('ControllerUnresponsive');
  });
});

describe('a TLSRoute', () => {
  const parentRef = {
    group: 'gateway.networking.k8s.io',
    kind: 'Gateway',
    namespace: 'edge',
    name: 'shared',
    sectionName: 'tls',
  };
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    observedGeneration: 1,
  });
  const ACCEPTED = condition('Accepted', 'True', 'Accepted', 'Route is accepted.');
  const RESOLVED = condition('ResolvedRefs', 'True', 'ResolvedRefs', 'Resolved all references');
  const reporting = (conditions: readonly object[], change: object = {}) => ({
    parents: [{ parentRef, controllerName: 'example.net/controller', conditions, ...change }],
  });

  test('is admitted when its Gateway accepts it and finds its Service', () => {
    expect(admissionFor(gatewayApi, reporting([ACCEPTED, RESOLVED]))).toMatchObject({
      state: 'Admitted',
      message: 'TLSRoute tenants/snicket-blue-api is accepted.',
    });
  });

  test('is rejected when its Gateway does not accept it', () => {
    const message = 'No listeners included by this parent ref allowed this attachment.';
    const rejected = condition('Accepted', 'False', 'NotAllowedByListeners', message);

    expect(admissionFor(gatewayApi, reporting([rejected, RESOLVED]))).toMatchObject({
      state: 'Refused',
      code: 'RouteRejected',
      message:
        'The controller rejects TLSRoute tenants/snicket-blue-api (NotAllowedByListeners): No listeners included by this parent ref allowed this attachment.',
    });
  });

  test('is rejected when its Service is not found', () => {
    const missing = condition('ResolvedRefs', 'False', 'BackendNotFound', 'service a/b not found');

    expect(admissionFor(gatewayApi, reporting([ACCEPTED, missing]))).toMatchObject({
      state: 'Refused',
      code: 'BackendUnresolved',
      message:
        'The controller cannot use the Service of TLSRoute tenants/snicket-blue-api (BackendNotFound): service a/b not found.',
    });
  });

  test.each([
    ['there is no status', undefined],
    [
      'only another Gateway has reported',
      reporting([ACCEPTED], { parentRef: { ...parentRef, name: 'x' } }),
    ],
    [
      'only another listener has reported',
      reporting([ACCEPTED], { parentRef: { ...parentRef, sectionName: 'x' } }),
    ],
    [
      'only another controller has reported',
      reporting([ACCEPTED], { controllerName: 'example.net/other' }),
    ],
    [
      'the controller has not decided',
      reporting([condition('Accepted', 'Unknown', 'Pending', '')]),
    ],
  ])('is pending while %s', (_, status) => {
    expect(admissionFor(gatewayApi, status)).toMatchObject({
      state: 'Pending',
      code: 'AwaitingController',
    });
    expect(admissionFor(gatewayApi, status, 2 * MINUTE_MS)).toMatchObject({
      state: 'Pending',
      code: 'ControllerUnresponsive',
      action: 'Check that example.net/controller runs and serves TLSRoutes.',
    });
  });

  test('is pending while its status is outdated', () => {
    expect(
      admissionFor(gatewayApi, reporting([{ ...ACCEPTED, observedGeneration: 0 }])),
    ).toMatchObject({
      state: 'Pending',
      code: 'AwaitingController',
      message:
        'The controller has not processed the latest change of TLSRoute tenants/snicket-blue-api yet.',
    });
  });

  test('uses its own namespace for a parent without a namespace', () => {
    const { namespace: _, ...withoutNamespace } = parentRef;
    const gatewayApiNearby = {
      parentRefs: [{ namespace: 'tenants', name: 'shared', sectionName: 'tls' }],
    };
    const edgeContext = context(
      { driver: 'gateway-api', gatewayApi: gatewayApiNearby },
      { gateways: [gateway({}, 'tenants')], gatewayClasses: [gatewayClass()] },
    );

    const admission = admissionFor(
      edgeContext,
      reporting([ACCEPTED], { parentRef: withoutNamespace }),
    );

    expect(admission.state).toBe('Admitted');
  });
});

describe('the addresses of an edge', () => {
  const LOAD_BALANCER = {
    loadBalancer: { ingress: [{ ip: '203.0.113.10' }, { hostname: 'edge.example.net' }] },
  };
  const service: KubeObject & { status: object } = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'edge', namespace: 'edge' },
    status: LOAD_BALANCER,
  };

  function addressesFor(edgeContext: EdgeContext, status?: object) {
    const driver = driverFor(edgeContext.edge.spec.driver);
    const objects = driver.objects(BLUE, edgeContext.edge, edgeContext.served);
    return driver.addresses(
      objects.map((object) => live(object, status)),
      edgeContext,
    );
  }

  test('are those of the Edge, if it has any', () => {
    const edgeContext = context({ ...SPECS.haproxy, addresses: ['198.51.100.1'] });

    expect(addressesFor(edgeContext, LOAD_BALANCER)).toEqual(['198.51.100.1']);
  });

  test.each(['haproxy', 'contour'] as const)(
    'are taken from the status of the routes of %s',
    (name) => {
      expect(addressesFor(context(SPECS[name]), LOAD_BALANCER)).toEqual([
        '203.0.113.10',
        'edge.example.net',
      ]);
    },
  );

  test('are taken from the status of the Gateway', () => {
    const status = { addresses: [{ type: 'IPAddress', value: '203.0.113.11' }] };
    const gateways = [{ ...gateway(), status }];

    expect(addressesFor(context(SPECS['gateway-api'], { gateways }))).toEqual(['203.0.113.11']);
  });

  test.each(['snicket', 'haproxy', 'nginx-inc', 'traefik', 'contour'] as const)(
    'are taken from the status of the Service of %s, if it is known',
    (name) => {
      expect(addressesFor(context(SPECS[name], { service }))).toEqual([
        '203.0.113.10',
        'edge.example.net',
      ]);
    },
  );

  test('are empty if no status reports them', () => {
    for (const spec of Object.values(SPECS)) expect(addressesFor(context(spec))).toEqual([]);
  });
});
