import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Terminal } from './testing/snicket.ts';
import { documentsIn, EDGE, terminalWithFiles } from './testing/yaml-objects.ts';

setDefaultTimeout(240_000);

describe('render -f with objects of providers', () => {
  let terminal: Terminal;
  beforeAll(() => void (terminal = terminalWithFiles()));
  afterAll(() => terminal[Symbol.dispose]());

  test('prints all objects for a control plane of a provider, and uses the fields of its object', async () => {
    terminal.write(
      'kamaji.yaml',
      `apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata: {name: green, namespace: tenants}
spec:
  controlPlane: {service: {serviceType: ClusterIP}}
  kubernetes: {version: v1.33.4}
  networkProfile: {port: 7443, serviceCidr: 10.128.0.0/16, clusterDomain: green.local}
  addons: {konnectivity: {server: {port: 9132}}}
---
apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata: {name: green, namespace: tenants}
spec:
  edgeRef: {name: shared}
  worker: {directInjection: true}
  controlPlane:
    type: Object
    objectRef: {group: kamaji.clastix.io, kind: TenantControlPlane, name: green}
`,
    );

    const args = ['render', '-f', 'edge.yaml', 'kamaji.yaml'];
    const { stdout, stderr } = await terminal.snicket(args);

    expect(stderr).toContain('note: Service tenants/green is in no file, and was assumed');
    expect(stderr).toContain('note: Secret tenants/green-ca is in no file, and was assumed');
    expect(stderr).toContain(
      'note: Secret tenants/green-admin-kubeconfig is in no file, and was assumed',
    );
    expect(stderr).not.toContain('ServiceMissing');
    expect(stderr).not.toContain('SecretMissing');
    // The message about what a version lacks names the actual version.
    expect(stderr).toContain('v1.33.4');
    const ports = documentsIn(stdout)
      .filter(({ kind }) => kind === 'Ingress')
      .flatMap((ingress) => JSON.stringify(ingress).match(/"port":\{[^}]*\}/g) ?? []);
    expect(ports).toEqual(['"port":{"number":7443}', '"port":{"number":9132}']);

    const { stderr: asTold } = await terminal.snicket([...args, '--tenant-version', 'v1.36.0']);

    expect(asTold).not.toContain('v1.33.4');
  });

  test('creates the Exposure that an annotation requests, like the operator', async () => {
    terminal.write(
      'annotated.yaml',
      `apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata: {name: red, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec:
  controlPlane:
    service: {serviceType: ClusterIP}
    ingress: {hostname: 'red.example.com:443', ingressClassName: nginx}
  kubernetes: {version: v1.33.4}
  networkProfile: {port: 6443}
`,
    );
    const args = ['render', '-f', 'edge.yaml', 'annotated.yaml', '--only', 'management'];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stdout).toContain('# Exposure tenants/red: Edge shared, driver haproxy');
    expect(documentsIn(stdout).map(({ kind }) => kind)).toEqual([
      ...['TenantControlPlane', 'TenantRoute', 'Ingress'],
    ]);
    expect(stdout).toContain('red.example.com');
    expect(stderr).toContain(
      'note: Exposure tenants/red is what an annotation of TenantControlPlane tenants/red asks for',
    );
    expect(stderr).toContain(
      'warning: tenants/red: ProviderFeatureConflict: Kamaji creates Ingress tenants/red for red.example.com (class nginx), and Snicket creates a route for the same host.',
    );
    // The operator would report the same: the user who applies the file owns the field.
    expect(stderr).toContain(
      'error: tenants/red: FieldConflict: The file of TenantControlPlane tenants/red sets .spec.controlPlane.ingress.ingressClassName ("nginx", desired "snicket-unhandled"). The field manager that applies it owns these fields, so Snicket writes nothing.',
    );
    expect(exitCode).toBe(1);
  });

  test('reports why an annotation results in no Exposure', async () => {
    const cluster = (name: string) => `apiVersion: k0smotron.io/v1beta2
kind: Cluster
metadata: {name: ${name}, namespace: tenants, annotations: {snicket.dev/edge: Not An Edge}}
spec: {version: v1.34.1-k0s.0}
---
`;
    const twin = `apiVersion: steward.butlerlabs.dev/v1alpha1
kind: TenantControlPlane
metadata: {name: red, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec: {kubernetes: {version: v1.33.4}}
`;
    terminal.write('clusters.yaml', `${cluster('odd')}${cluster('blue')}${twin}`);

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'blue.yaml', 'annotated.yaml', 'clusters.yaml'],
    ]);

    expect(stderr).toContain(
      'error: tenants/odd: AnnotationIgnored: Cluster tenants/odd requests an invalid Exposure by annotation',
    );
    expect(stderr).toContain('warning: tenants/blue: NameConflict: Cluster tenants/blue requests');
    expect(stdout).toContain('# Exposure tenants/blue: Edge shared, driver haproxy');
    expect(stdout).toContain('# Exposure tenants/odd has no plan');
    expect(stderr).toContain('warning: tenants/red: NameConflict: TenantControlPlane tenants/red');
    expect(exitCode).toBe(1);
  });

  test('uses the Cluster of Cluster API that references a control plane as its owner', async () => {
    terminal.write(
      'capi.yaml',
      `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: amber, namespace: tenants}
spec:
  clusterNetwork: {services: {cidrBlocks: [10.140.0.0/16]}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: K0smotronControlPlane, name: amber-cp}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: K0smotronControlPlane
metadata: {name: amber-cp, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec: {version: v1.34.1-k0s.0, service: {type: ClusterIP, apiPort: 6443, konnectivityPort: 8132}}
`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'capi.yaml'],
    ]);

    expect(stderr).not.toContain('error:');
    expect(stderr).toContain('note: Service tenants/kmc-amber is in no file, and was assumed');
    expect(stdout).toContain(
      '# tenants-amber-cp.k8s.example.com:443 is routed to port 6443 of Service kmc-amber',
    );
    expect(exitCode).toBe(0);
  });

  test('converts an object of an older API version of k0smotron like the API server', async () => {
    terminal.write(
      'older.yaml',
      `apiVersion: k0smotron.io/v1beta1
kind: Cluster
metadata: {name: coral, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec:
  version: v1.34.1-k0s.0
  controllerPlaneFlags: ["--disable-components=konnectivity-server"]
`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'older.yaml', '--only', 'management'],
    ]);

    const [cluster] = documentsIn(stdout);
    expect(cluster).toMatchObject({
      apiVersion: 'k0smotron.io/v1beta2',
      spec: { patches: [{ target: { component: 'ingress' } }, {}] },
    });
    expect(stderr).not.toContain('ProviderFeatureConflict');
    expect(stderr).toContain(
      'note: tenants/coral: whether the cluster serves Cluster tenants/coral as k0smotron.io/v1beta2 cannot be checked from a file, which has k0smotron.io/v1beta1. Without k0smotron.io/v1beta2, there is no spec.patches, and k0smotron runs its own proxy on the workers\n',
    );
    // The flag has another name in the newer version.
    expect(stdout).not.toContain('konnectivity.example.com:443 is routed');
    expect(exitCode).toBe(0);
  });

  test('warns about a control plane that a chart creates later', async () => {
    terminal.write(
      'violet.yaml',
      `apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata: {name: violet, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec: {template: openstack-hosted-cp-1-0-40, credential: a, config: {workersNumber: 2}}
`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'violet.yaml', '--only', 'management'],
    ]);

    expect(stderr).not.toContain('error:');
    expect(stderr).toContain(
      'warning: tenants/violet: ControlPlaneMissing: K0smotronControlPlane tenants/violet-cp of ClusterDeployment tenants/violet does not exist: its chart is not installed yet, or creates another kind of control plane.',
    );
    expect(stderr).toContain('add it to the files');
    expect(documentsIn(stdout).map((object) => object?.kind)).toContain('ClusterDeployment');
    expect(exitCode).toBe(0);
  });

  test('creates no Exposure from an annotation that the Edge ignores', async () => {
    terminal.write('ignoring.yaml', EDGE.replace('{driver', '{annotations: Ignored, driver'));
    const args = ['render', '-f', 'ignoring.yaml', 'annotated.yaml', '--only', 'management'];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stdout).not.toContain('kind: Ingress');
    expect(stderr).toContain(
      'error: tenants/red: AnnotationIgnored: TenantControlPlane tenants/red requests an Exposure by annotation, but Edge shared ignores annotations.',
    );
    expect(exitCode).toBe(1);
  });

  test('prints no empty management part beside the fields for a provider', async () => {
    terminal.write('own-edge.yaml', EDGE.replace('driver: haproxy', 'driver: snicket'));

    const { stdout } = await terminal.snicket([
      ...['render', '-f', 'own-edge.yaml', 'annotated.yaml', '--only', 'management'],
    ]);

    expect(documentsIn(stdout).map(({ kind }) => kind)).toEqual([
      ...['TenantControlPlane', 'TenantRoute'],
    ]);
    expect(stdout).not.toContain('management cluster: nothing');
  });
});
