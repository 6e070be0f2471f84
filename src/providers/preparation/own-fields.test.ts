import { describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../provider-for.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';
import {
  changed,
  clusterDeployment,
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenant,
} from '../testing/provider-objects.ts';
import { isOwnField } from './own-fields.ts';

const WISH = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};
const TEMPLATES = [
  'openstack-hosted-cp-1-0-40',
  'hetzner-hosted-cp-1-2-0',
  'hetzner-hosted-cp-0-9-0',
  'own-hosted-cp-1-0-0',
];

describe('the fields that may be put back', () => {
  test('are all that are written', () => {
    const red = k0smotronCluster('red');
    const amber = k0smotronControlPlane('amber');
    const older = changed(amber, { apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1' });
    const preparations = [
      ...PROVIDERS.kamaji.prepare([readyTenant('kamaji', 'blue')], WISH),
      ...PROVIDERS.steward.prepare([readyTenant('steward', 'blue')], WISH),
      ...PROVIDERS.k0smotron.prepare([red], WISH),
      ...PROVIDERS['capi-k0smotron'].prepare([amber, older], WISH),
      ...TEMPLATES.flatMap((template) =>
        PROVIDERS.k0rdent.prepare([clusterDeployment('amber', template), amber], WISH),
      ),
    ];
    const written = preparations.flatMap(({ object, fields }) =>
      fields.map(({ path }) => ({ object, path })),
    );

    expect(written.length).toBeGreaterThan(40);
    expect(written.filter(({ object, path }) => !isOwnField(object, path))).toEqual([]);
  });

  test.each([
    [['spec', 'dataStore']],
    [['spec', 'controlPlane', 'ingress']],
    [['spec', 'controlPlane', 'ingress', 'hostname', 'more']],
    [['spec', 'controlPlane.ingress.hostname']],
    [['spec', 'ingress', 'apiHost']],
  ])('are not %p of a TenantControlPlane', (path) => {
    expect(isOwnField(PROVIDER_RESOURCES.kamaji, path)).toBe(false);
  });
});
