import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { driverFor } from './driver-for.ts';
import { BLUE, context, ingressClass, serving } from './testing/blue.ts';

const HAPROXY_TECHNOLOGIES = 'haproxy.org/ingress-controller';
const COMMUNITY = 'haproxy-ingress.github.io/controller';

function findingsWith(spec: { driver: string; ingress?: object }, classes: readonly KubeObject[]) {
  const around = context(spec, { ingressClasses: classes });
  return driverFor(around.edge.spec.driver).findings(BLUE, around);
}

describe('the class of the Edge', () => {
  const named = { driver: 'haproxy', ingress: { className: 'haproxy' } };

  test.each([HAPROXY_TECHNOLOGIES, `${HAPROXY_TECHNOLOGIES}/haproxy`])(
    'is valid with controller %s',
    (controller) => {
      expect(findingsWith(named, [ingressClass('haproxy', controller)])).toEqual([]);
    },
  );

  test('of the other controller for HAProxy may have the same name', () => {
    expect(findingsWith(named, [ingressClass('haproxy', COMMUNITY)])).toEqual([
      {
        code: 'EdgeReferenceInvalid',
        severity: 'error',
        message: `IngressClass haproxy belongs to ${COMMUNITY}, which driver haproxy does not support.`,
        action:
          'Set spec.driver of Edge shared to haproxy-ingress, or choose the class of another controller.',
      },
    ]);
  });

  test('causes only a warning with an unknown controller, whose name can be set by a flag', () => {
    const classes = [ingressClass('nginx', 'example.net/internal-nginx')];

    const findings = findingsWith({ driver: 'nginx', ingress: { className: 'nginx' } }, classes);

    expect(findings).toMatchObject([{ code: 'EdgeReferenceInvalid', severity: 'warning' }]);
  });

  test('does not belong to a controller whose name is a prefix', () => {
    const classes = [ingressClass('haproxy', `${HAPROXY_TECHNOLOGIES}s`)];

    expect(findingsWith(named, classes)).toMatchObject([{ severity: 'warning' }]);
  });

  test('must exist, or the suitable ones are listed', () => {
    const classes = [ingressClass('a', HAPROXY_TECHNOLOGIES), ingressClass('b', COMMUNITY)];

    expect(findingsWith(named, classes)).toEqual([
      {
        code: 'EdgeReferenceInvalid',
        severity: 'error',
        message: 'IngressClass haproxy, which Edge shared names, does not exist.',
        action: 'Set spec.ingress.className to a class of its controller: a.',
      },
    ]);
  });
});

describe('an Edge without a class', () => {
  const unnamed = { driver: 'haproxy' };

  test('uses the default class of the cluster', () => {
    const classes = [
      ingressClass('other', COMMUNITY),
      ingressClass('default', HAPROXY_TECHNOLOGIES, true),
    ];

    expect(findingsWith(unnamed, classes)).toEqual([]);
  });

  test('uses the newest of several defaults, as the API server does', () => {
    const created = (object: KubeObject, creationTimestamp: string): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp },
    });
    const right = ingressClass('right', HAPROXY_TECHNOLOGIES, true);
    const wrong = ingressClass('wrong', COMMUNITY, true);
    const [old, young] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];

    expect(findingsWith(unnamed, [created(wrong, old), created(right, young)])).toEqual([]);
    expect(findingsWith(unnamed, [created(wrong, young), created(right, old)])).toMatchObject([
      { code: 'EdgeReferenceInvalid' },
    ]);
    expect(findingsWith(unnamed, [created(wrong, old), created(right, old)])).toEqual([]);
  });

  test('has an error if there is no default class', () => {
    expect(findingsWith(unnamed, [ingressClass('haproxy', HAPROXY_TECHNOLOGIES)])).toEqual([
      {
        code: 'EdgeReferenceInvalid',
        severity: 'error',
        message:
          'Edge shared names no ingress class, and the cluster has no default ingress class.',
        action: 'Set spec.ingress.className to a class of its controller: haproxy.',
      },
    ]);
  });

  test.each(['nginx-inc', 'contour', 'traefik'])('needs no class with driver %s', (driver) => {
    expect(findingsWith({ driver }, [])).toEqual([]);
  });
});

describe('driver ingress', () => {
  const annotated = { className: 'mine', annotations: { 'example.net/passthrough': 'on' } };

  test('accepts any controller', () => {
    const classes = [ingressClass('mine', 'example.net/controller')];

    expect(findingsWith({ driver: 'ingress', ingress: annotated }, classes)).toEqual([]);
  });

  test('is not supported with Traefik', () => {
    const classes = [ingressClass('mine', 'traefik.io/ingress-controller')];

    expect(findingsWith({ driver: 'ingress', ingress: annotated }, classes)).toMatchObject([
      { code: 'EdgeReferenceInvalid', severity: 'error' },
    ]);
  });

  test('causes a warning without annotations', () => {
    const classes = [ingressClass('mine', 'example.net/controller')];
    const ingress = { className: 'mine' };

    expect(findingsWith({ driver: 'ingress', ingress }, classes)).toMatchObject([
      { code: 'FieldInvalid', severity: 'warning' },
    ]);
  });
});

describe('an API that is not served', () => {
  test.each([
    ['traefik', "Install Traefik's CRDs, or choose another driver.", 'v1alpha1'],
    ['contour', "Install Contour's CRDs, or choose another driver.", 'v1'],
    [
      'nginx-inc',
      "Install the CRDs of NGINX Inc's ingress controller, or choose another driver.",
      'v1',
    ],
  ] as const)('is reported by %s, which then writes nothing', (driver, action, version) => {
    const around = context({ driver }, { served: serving('networking.k8s.io/v1') });
    const target = driverFor(driver);

    expect(target.findings(BLUE, around)).toMatchObject([
      { code: 'EdgeApiMissing', severity: 'error', action },
    ]);
    expect(target.findings(BLUE, around)[0]?.message).toEndWith(`does not serve in ${version}.`);
    expect(target.objects(BLUE, around.edge, around.served)).toEqual([]);
    expect(target.admitted(BLUE, [], around)).toMatchObject({
      state: 'Refused',
      code: 'EdgeApiMissing',
    });
  });

  test('is reported with all supported versions', () => {
    const parentRefs = [{ namespace: 'edge', name: 'shared' }];
    const around = context(
      { driver: 'gateway-api', gatewayApi: { parentRefs } },
      { served: serving('gateway.networking.k8s.io/v1beta1') },
    );

    expect(driverFor('gateway-api').findings(BLUE, around)[0]?.message).toBe(
      'Driver gateway-api requires TLSRoute of gateway.networking.k8s.io, which the management cluster does not serve in v1, v1alpha3, v1alpha2.',
    );
  });
});
