import { expect, test } from 'bun:test';
import { agentImage, tenantImages } from './tenants.ts';

const versions = { kubernetes: 'v1.30.2', konnectivity: 'v0.0.32' };

test('images have the names and program paths that the Deployments of providers use', () => {
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

test('the agent image has the name that the DaemonSet in the tenant uses', () => {
  expect(agentImage(versions, (name) => `/parts/${name}`)).toEqual({
    name: 'registry.k8s.io/kas-network-proxy/proxy-agent:v0.0.32',
    files: { '/proxy-agent': '/parts/proxy-agent' },
    entrypoint: ['/proxy-agent'],
  });
});
