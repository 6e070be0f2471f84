import { describe, expect, test } from 'bun:test';
import { TestAuthority } from '../../net/testing/certificates.ts';
import type { ProvidedFacts, Secret } from './control-plane-reading.ts';
import { outdatedSecrets, renewableSecrets } from './renewable-secrets.ts';
import {
  changed,
  k0smotronCluster,
  kubeconfigFor,
  readyTenantControlPlane,
  secretOf,
} from '../testing/provider-objects.ts';

const SPEC = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};
const KAMAJI: ProvidedFacts = {
  provider: 'kamaji',
  objects: [readyTenantControlPlane('kamaji', 'blue')],
  phase: 'serving',
  phaseReason: '',
  serviceCidrs: [],
  clusterDomain: 'cluster.local',
  hasKonnectivity: true,
};

function kubeconfigAt(server: string): Secret {
  return secretOf('blue-admin-kubeconfig', { 'admin.conf': kubeconfigFor(server) });
}

async function certificateFor(...names: readonly string[]): Promise<Secret> {
  const authority = await TestAuthority.create('kubernetes');
  const { cert } = await authority.issue({ names });
  return secretOf('blue-api-server-certificate', { 'apiserver.crt': cert });
}

test('are the certificate and the kubeconfig, with the names that the provider uses', () => {
  const status = { certificates: { apiServer: { secretName: 'blue-ca' } } };
  const objects = [changed(readyTenantControlPlane('kamaji', 'blue'), { status })];

  const names = renewableSecrets({ ...KAMAJI, objects }, SPEC).map(({ key }) => key.name);

  expect(names).toEqual(['blue-api-server-certificate', 'blue-admin-kubeconfig']);
});

test('are stale without the hosts of the edge', async () => {
  const [certificate, kubeconfig] = renewableSecrets(KAMAJI, SPEC);
  const { api, konnectivity } = SPEC.hosts;

  expect(certificate?.isStale(await certificateFor(api))).toBe(true);
  expect(certificate?.isStale(await certificateFor(api, konnectivity))).toBe(false);
  expect(kubeconfig?.isStale(kubeconfigAt('https://10.96.0.7:6443'))).toBe(true);
  expect(kubeconfig?.isStale(kubeconfigAt(`https://${api}:443`))).toBe(false);
});

test('are not stale if they are unreadable', () => {
  const empty = secretOf('blue', {});

  expect(renewableSecrets(KAMAJI, SPEC).filter(({ isStale }) => isStale(empty))).toEqual([]);
});

test('have the host of a previous edge in the kubeconfig only', () => {
  const left = outdatedSecrets(KAMAJI, [SPEC.hosts.api]);

  expect(left.map(({ key }) => key.name)).toEqual(['blue-admin-kubeconfig']);
  expect(left[0]?.isStale(kubeconfigAt(`https://${SPEC.hosts.api}:443`))).toBe(true);
  expect(left[0]?.isStale(kubeconfigAt('https://10.96.0.7:6443'))).toBe(false);
});

describe('there are no Secrets to renew', () => {
  const paused = { 'metadata.annotations': { 'kamaji.clastix.io/paused': 'true' } };

  test.each([
    ['of k0smotron', { provider: 'k0smotron', objects: [k0smotronCluster('blue')] }],
    [
      'of a paused control plane',
      { objects: [changed(readyTenantControlPlane('kamaji', 'blue'), paused)] },
    ],
  ] satisfies [string, Partial<ProvidedFacts>][])('%s', (_, facts) => {
    expect(renewableSecrets({ ...KAMAJI, ...facts }, SPEC)).toEqual([]);
    expect(outdatedSecrets({ ...KAMAJI, ...facts }, [SPEC.hosts.api])).toEqual([]);
  });

  test('for a control plane that is not running, except the kubeconfig during cleanup', () => {
    const facts = { ...KAMAJI, phase: 'unavailable' } as const;

    expect(renewableSecrets(facts, SPEC)).toEqual([]);
    expect(outdatedSecrets(facts, [SPEC.hosts.api])).toHaveLength(1);
  });
});
