import { describe, expect, test } from 'bun:test';
import { objectText } from '../kube/object.ts';
import { TENANT, tenantInput } from '../plan/testing/inputs.ts';
import { cleanupObjects, tenantFindings, tenantObjects } from './tenant-objects.ts';
import { daemonSetIn } from './testing/proxy-pod.ts';

test('lists endpoints first, then the configuration of the proxy, then the proxy', () => {
  expect(tenantObjects(tenantInput()).map(objectText)).toEqual([
    'EndpointSlice default/kubernetes',
    'Endpoints default/kubernetes',
    'ServiceAccount kube-system/snicket-proxy',
    'ConfigMap kube-system/snicket-proxy',
    'Secret kube-system/snicket-proxy',
    'DaemonSet kube-system/snicket-proxy',
  ]);
});

describe('cleanup', () => {
  test('removes the address from every node, after its proxy has terminated', () => {
    const { spec } = daemonSetIn(cleanupObjects(tenantInput()));
    const [container] = spec.template.spec.containers;

    expect(spec.updateStrategy.rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: '100%' });
    expect(spec.template.spec.initContainers).toBeUndefined();
    expect(spec.template.spec.volumes).toBeUndefined();
    expect(container?.args).toEqual([
      ...['address', 'remove', '--stay', '100.64.64.1'],
      expect.stringMatching(/^--http=127\.[\d.]+:7444$/),
    ]);
    expect(container?.securityContext.capabilities).toEqual({ drop: ['ALL'], add: ['NET_ADMIN'] });
  });

  test('has the name and the selector of the proxy DaemonSet, which it replaces', () => {
    const proxy = daemonSetIn(tenantObjects(tenantInput()));
    const cleanup = daemonSetIn(cleanupObjects(tenantInput()));

    const { annotations: _, ...metadata } = proxy.metadata;
    expect(cleanup.metadata).toEqual(metadata);
    expect(cleanup.spec.selector).toEqual(proxy.spec.selector);
  });

  test('is not needed with node addresses', () => {
    expect(cleanupObjects(tenantInput({ address: 'Node' }))).toEqual([]);
  });
});

describe('direct injection', () => {
  const kindsOf = (version: string) =>
    tenantObjects(tenantInput({ directInjection: true }, { tenant: { ...TENANT, version } })).map(
      ({ kind }) => kind,
    );

  test('uses a policy since 1.36', () => {
    expect(kindsOf('v1.36.0+k0s')).toEqual(
      expect.arrayContaining(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']),
    );
  });

  test('is reported as unsupported before 1.36', () => {
    const tenant = { ...TENANT, version: 'v1.35.6' };
    const { worker } = tenantInput({ directInjection: true });

    expect(kindsOf('v1.35.6')).not.toContain('MutatingAdmissionPolicy');
    expect(tenantFindings({ worker, tenant })).toEqual([
      expect.objectContaining({
        code: 'OptionNotSupported',
        severity: 'warning',
        message: expect.stringContaining('v1.35.6'),
      }),
    ]);
  });
});

describe('a finding', () => {
  const codesOf = (worker: object, serviceAddresses: readonly string[]) =>
    tenantFindings({
      worker: tenantInput({ ...worker }).worker,
      tenant: { ...TENANT, serviceAddresses },
    }).map(({ code }) => code);

  test('reports that no virtual address has the family of the Service', () => {
    expect(codesOf({}, ['fd96::1'])).toEqual(['FieldInvalid']);
    expect(codesOf({ virtualAddresses: ['100.64.64.1', 'fd64::1'] }, ['fd96::1'])).toEqual([]);
    expect(codesOf({ address: 'Node' }, ['fd96::1'])).toEqual([]);
  });

  test('reports a virtual address that equals that of the Service', () => {
    expect(codesOf({ virtualAddresses: ['10.96.0.1'] }, ['10.96.0.1'])).toEqual(['FieldInvalid']);
  });

  test('reports a missing Service', () => {
    expect(codesOf({}, [])).toEqual(['TenantNotInitialized']);
  });
});
