/** For tests only: clusters and edges that only a few commands need. */
import { parse } from 'yaml';
import { PROXY_IMAGE } from '../../../src/cli/plans/proxy-image.ts';
import { RESOURCES, type Resource } from '../../../src/kube/resource.ts';
import type { ApiObject } from '../../../src/kube/store/object-store.ts';
import { TestApiServer } from '../../../src/kube/testing/api-server.ts';
import { objectOf } from '../../../src/operator/testing/objects.ts';
import { NON_EDGE_KINDS } from '../../../src/operator/testing/operator-lab.ts';
import { makeCa } from '../../../src/pki/testing/test-ca.ts';
import { EdgeLab, HOST_A, HOST_B } from '../../../src/probe/edge-conformance/testing/edge-lab.ts';
import { PROVIDER_RESOURCES } from '../../../src/providers/provider-resources.ts';
import { createdFor } from '../../../src/providers/testing/created-objects.ts';
import { kubeconfigFor } from '../../../src/providers/testing/provider-objects.ts';
import { StandaloneLab } from '../../../src/standalone/testing/standalone-lab.ts';
import { yamlOf } from './documented-files.ts';
import { PageTerminal } from './page-terminal.ts';
import { edgeSubstitutions, type Site } from './site.ts';

/** Returns a cluster-scoped kind of which the tests use only the name. */
function kind(apiVersion: string, name: string, plural: string): Resource {
  return { apiVersion, kind: name, plural, namespaced: false };
}

/** A cluster before an installation, with HAProxy and Kamaji. */
export async function startNewCluster(): Promise<Site> {
  const server = await TestApiServer.start({
    resources: [
      ...NON_EDGE_KINDS,
      RESOURCES.ingressClass,
      PROVIDER_RESOURCES.kamaji,
      kind('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles'),
      kind('authorization.k8s.io/v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews'),
    ],
  });
  const spec = { controller: 'haproxy.org/ingress-controller' };
  server.seed(objectOf('IngressClass', { name: 'haproxy' }, { spec }));
  return {
    open: () => new PageTerminal({ server }),
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

/** A cluster with the ClusterDeployment of docs/tasks/providers/k0rdent.md. */
export async function startK0rdent(): Promise<Site> {
  const resources = [...NON_EDGE_KINDS, ...Object.values(PROVIDER_RESOURCES)];
  const server = await TestApiServer.start({ resources });
  const { certificate, key } = await makeCa();
  const deployment = parse(
    yamlOf('docs/tasks/providers/k0rdent.md', 'ClusterDeployment'),
  ) as ApiObject;
  const files = { certificate, key, kubeconfig: kubeconfigFor };
  const { name, namespace } = deployment.metadata;
  const objectRef = { group: 'k0rdent.mirantis.com', kind: 'ClusterDeployment', name };
  server.seed(
    objectOf('Namespace', { name: namespace ?? '' }),
    parse(yamlOf('docs/tasks/providers/README.md', 'Edge')) as ApiObject,
    deployment,
    ...(createdFor(deployment, files) as readonly ApiObject[]),
    objectOf(
      'Exposure',
      { name, namespace: namespace ?? '' },
      { spec: { controlPlane: { type: 'Object', objectRef } } },
    ),
  );
  return {
    open: () => new PageTerminal({ server }),
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

/** Starts `snicket run` with a folder. */
export async function startFolder(): Promise<Site> {
  const lab = new StandaloneLab();
  const tenant = await lab.addTenant('blue');
  await lab.start({ proxyImage: PROXY_IMAGE });
  await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.untilCondition('blue', 'Ready', /^True/);
  return {
    open: () =>
      new PageTerminal({
        substitutions: [
          ...edgeSubstitutions(lab.port),
          ['/etc/snicket', lab.folder],
          ['/var/lib/snicket', lab.state],
        ],
        // On the pages, the Exposures are in namespace default.
        words: { blue: 'tenants/blue' },
        env: { STATE_DIRECTORY: lab.state },
      }),
    [Symbol.asyncDispose]: async () => lab[Symbol.asyncDispose](),
  };
}

/** Starts an edge with two faults for the command that reports them, and Snicket's gateway for the other commands. */
export async function startEdges(): Promise<Site> {
  const lab = await EdgeLab.create();
  const { port: good } = await lab.gateway();
  const { port: bad } = await lab.misbehavingEdge({ readsOnce: 'misroutes', noName: 'first' });
  const authorities = { 'ca.crt': lab.authorities, 'blue-ca.crt': lab.authorities };
  return {
    open: () =>
      new PageTerminal({
        substitutions: [
          ['203.0.113.10:443', `127.0.0.1:${bad}`],
          ['203.0.113.10', `127.0.0.1:${good}`],
          ['10.20.0.5', `127.0.0.1:${good}`],
          ['blue.k8s.example.com', HOST_A],
          ['red.k8s.example.com', HOST_B],
          ['blue.konnectivity.example.com', HOST_A],
          ['tenants-blue.k8s.example.com', HOST_A],
          ['tenants-blue.konnectivity.example.com', HOST_B],
          ['edge.example.com', `127.0.0.1:${bad}`],
          // A short idle time is enough here.
          ['10m', '200ms'],
        ],
        files: { ...authorities, 'red-ca.crt': lab.authorities },
      }),
    run: async ({ words }, terminal) => {
      if (!words.includes('--idle')) return terminal.run([...words, '--idle', '10m']);
      return terminal.run(
        words.map((word) => (word === 'edge.example.com' ? '203.0.113.10' : word)),
      );
    },
    [Symbol.asyncDispose]: async () => lab[Symbol.asyncDispose](),
  };
}
