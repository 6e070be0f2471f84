import { describe, expect, test } from 'bun:test';
import { groupOf, type Resource } from '../../kube/resource.ts';
import { NO_OWN_PROXY, publicEndpoint } from '../k0s/patches.ts';
import { PROVIDERS } from '../provider-for.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';
import {
  changed,
  clusterDeployment,
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from '../testing/provider-objects.ts';
import { isOwnField, isOwnRecord } from './own-fields.ts';
import type { FieldRecord } from './record.ts';

const SPEC = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};
const TEMPLATES = [
  'openstack-hosted-cp-1-0-40',
  'hetzner-hosted-cp-1-2-0',
  'hetzner-hosted-cp-0-9-0',
  'own-hosted-cp-1-0-0',
];

function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
  return { group: groupOf(apiVersion), kind };
}

describe('the fields that may be restored', () => {
  test('are all fields that Snicket writes', () => {
    const red = k0smotronCluster('red');
    const amber = k0smotronControlPlane('amber');
    const older = changed(amber, { apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1' });
    const preparations = [
      ...PROVIDERS.kamaji.prepare([readyTenantControlPlane('kamaji', 'blue')], SPEC),
      ...PROVIDERS.steward.prepare([readyTenantControlPlane('steward', 'blue')], SPEC),
      ...PROVIDERS.k0smotron.prepare([red], SPEC),
      ...PROVIDERS['capi-k0smotron'].prepare([amber, older], SPEC),
      ...TEMPLATES.flatMap((template) =>
        PROVIDERS.k0rdent.prepare([clusterDeployment('amber', template), amber], SPEC),
      ),
    ];
    const written = preparations.flatMap(({ object, fields }) =>
      fields.map(({ path }) => ({ object, path })),
    );

    expect(written.length).toBeGreaterThan(40);
    expect(written.filter(({ object, path }) => !isOwnField(kindOf(object), path))).toEqual([]);
  });

  test.each([
    [['spec', 'dataStore']],
    [['spec', 'controlPlane', 'ingress']],
    [['spec', 'controlPlane', 'ingress', 'hostname', 'more']],
    [['spec', 'controlPlane.ingress.hostname']],
    [['spec', 'ingress', 'apiHost']],
  ])('are not %p of a TenantControlPlane', (path) => {
    expect(isOwnField(kindOf(PROVIDER_RESOURCES.kamaji), path)).toBe(false);
  });
});

describe('a record', () => {
  const names = { path: ['spec', 'networkProfile', 'certSANs'] };
  const args = { path: ['spec', 'controlPlane', 'deployment', 'extraArgs', 'apiServer'] };
  const patches = { path: ['spec', 'patches'] };
  const host = { path: ['spec', 'controlPlane', 'ingress', 'hostname'] };
  const NONE = '--endpoint-reconciler-type=none';
  const endpoint = publicEndpoint('a.test', 443);
  const harmful = { target: { kind: 'StatefulSet' }, patch: { type: 'merge', content: '{}' } };
  const kamaji = PROVIDER_RESOURCES.kamaji;
  const red = PROVIDER_RESOURCES.k0smotron;

  test.each<[Resource, FieldRecord, boolean]>([
    [kamaji, { ...host, wrote: ['a.test:443'], was: 'b.test' }, true],
    [kamaji, { ...host, entries: [] }, false],
    [kamaji, { ...names, entries: [{ entry: 'a.test' }] }, true],
    [kamaji, { ...names, entries: [{ entry: 'a.test', was: 'b.test' }] }, false],
    [kamaji, { ...names, wrote: ['a.test'] }, false],
    [
      kamaji,
      { ...args, entries: [{ entry: NONE, was: '--endpoint_reconciler_type=lease' }] },
      true,
    ],
    [kamaji, { ...args, entries: [{ entry: NONE, was: '--anonymous-auth=true' }] }, false],
    [kamaji, { ...args, entries: [{ entry: '--audit-log-path=-' }] }, false],
    [red, { ...patches, entries: [{ entry: NO_OWN_PROXY }, { entry: endpoint }] }, true],
    [red, { ...patches, entries: [{ entry: endpoint, was: publicEndpoint('b.test', 1) }] }, true],
    [red, { ...patches, entries: [{ entry: endpoint, was: harmful }] }, false],
    [red, { ...patches, entries: [{ entry: NO_OWN_PROXY, was: harmful }] }, false],
    [red, { ...patches, entries: [{ entry: harmful }] }, false],
  ])('of field %o with value %j may have been written by Snicket: %p', (resource, field, isOwn) => {
    expect(isOwnRecord(kindOf(resource), field)).toBe(isOwn);
  });
});
