import { describe, expect, test } from 'bun:test';
import type { PreparePolicy } from '../../api/exposure.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import type { ProvidedFacts, ProviderName } from './control-plane-reading.ts';
import { publishedFindings } from './published-server.ts';
import { newTenantControlPlane, k0smotronCluster } from '../testing/provider-objects.ts';

const SPEC = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

function facts(provider: ProviderName, known: Partial<ProvidedFacts>): ProvidedFacts {
  const object =
    provider === 'k0smotron' ? k0smotronCluster('blue') : newTenantControlPlane('kamaji', 'blue');
  return {
    provider,
    objects: [object],
    phase: 'serving',
    phaseReason: '',
    ...known,
    serviceCidrs: [],
    clusterDomain: 'cluster.local',
    hasKonnectivity: true,
  };
}

describe('a kubeconfig', () => {
  test.each([undefined, 'https://blue.k8s.example.test:443', 'https://blue.k8s.example.test'])(
    'with the server %p has no findings',
    (publishedServer) => {
      expect(publishedFindings(facts('kamaji', { publishedServer }), SPEC, 'Patch')).toEqual([]);
    },
  );

  test('with another server is reported with the command that renews it', () => {
    const publishedServer = 'https://10.96.0.7:6443';

    const found = (provider: ProviderName, policy: PreparePolicy = 'Patch') =>
      publishedFindings(facts(provider, { publishedServer }), SPEC, policy)[0];
    const kamaji = found('kamaji');
    const k0smotron = found('k0smotron');
    const reported = found('kamaji', 'Report');

    expect(kamaji).toEqual({
      code: 'KubeconfigOutdated',
      severity: 'warning',
      message:
        'The kubeconfig of TenantControlPlane tenants/blue has the server https://10.96.0.7:6443, but it should be https://blue.k8s.example.test:443.',
      action:
        'If this persists, have the provider recreate it (Snicket does so itself if ClusterRole snicket-renew-secrets is bound to it): kubectl delete -n tenants secret blue-admin-kubeconfig',
    });
    expect(reported?.action).toBe(
      'If this persists, have the provider recreate it: kubectl delete -n tenants secret blue-admin-kubeconfig',
    );
    expect(k0smotron?.action).toContain(
      'If this persists: Restart StatefulSet kmc-blue in namespace tenants, and delete the Secret with the kubeconfig.',
    );
  });
});

describe('the certificate of the API server', () => {
  const certificate = async (...names: readonly string[]) => {
    const authority = await TestAuthority.create('kubernetes');
    return (await authority.issue({ names })).cert;
  };

  test('without one of the hosts is reported', async () => {
    const complete = await certificate(...Object.values(SPEC.hosts));
    const apiOnly = await certificate(SPEC.hosts.api);
    const found = (provider: ProviderName, servingCertificate: string) =>
      publishedFindings(facts(provider, { servingCertificate }), SPEC, 'Report');

    expect(found('kamaji', complete)).toEqual([]);
    expect(found('steward', apiOnly)).toEqual([]);
    expect(found('kamaji', apiOnly)).toEqual([
      {
        code: 'CertificateOutdated',
        severity: 'error',
        message:
          "The API server's certificate of TenantControlPlane tenants/blue lacks blue.konnectivity.example.test because it was issued before the hosts were set.",
        action:
          'If this persists, have the provider recreate it: kubectl delete -n tenants secret blue-api-server-certificate',
      },
    ]);
    expect(found('kamaji', 'no certificate')).toEqual([]);
  });
});
