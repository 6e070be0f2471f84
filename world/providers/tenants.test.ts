import { expect, test } from 'bun:test';
import { tenantImages } from './tenants.ts';

test('images have the names that Deployments use, and the programs where these call them', () => {
  const versions = { kubernetes: 'v1.30.2', konnectivity: 'v0.0.32' };

  const images = tenantImages(versions, (name) => `/parts/${name}`);

  expect(Object.fromEntries(images.map(({ name, files }) => [name, files]))).toEqual({
    'registry.k8s.io/kube-apiserver:v1.30.2': { '/bin/kube-apiserver': '/parts/kube-apiserver' },
    'registry.k8s.io/kube-controller-manager:v1.30.2': {
      '/bin/kube-controller-manager': '/parts/kube-controller-manager',
    },
    'registry.k8s.io/kube-scheduler:v1.30.2': { '/bin/kube-scheduler': '/parts/kube-scheduler' },
    'registry.k8s.io/kas-network-proxy/proxy-server:v0.0.32': {
      '/proxy-server': '/parts/proxy-server',
    },
  });
});
