import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { differences } from '../kube/apply-differences.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES, resourceOf } from '../kube/resource.ts';
import { LAB_EDGES } from '../operator/testing/edges.ts';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import { SYSTEM } from '../operator/testing/places.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(30_000);

const EDGE = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata: {name: shared}
spec: {driver: haproxy, domain: example.com, addresses: [203.0.113.10]}
`;

function exposureOf(name: string, more = ''): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata: {name: ${name}, namespace: tenants}
spec:
  edge: shared
  controlPlane:
    service: {name: ${name}, konnectivityPort: 8132}
    caSecret: {name: ${name}-ca}
    kubeconfigSecret: {name: ${name}-kubeconfig}
${more}`;
}

function documentsIn(text: string): KubeObject[] {
  const documents = parseAllDocuments(text, { version: '1.1' });
  return documents.map((document) => document.toJS() as KubeObject);
}

describe('from files', () => {
  let terminal: Terminal;
  beforeAll(() => {
    terminal = new Terminal();
    terminal.write('edge.yaml', EDGE);
    terminal.write('blue.yaml', exposureOf('blue'));
    terminal.write('torn.yaml', 'kind: {');
  });
  afterAll(() => terminal[Symbol.dispose]());

  test('prints the objects for both clusters, and says what it had to assume', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'blue.yaml'],
    ]);

    expect(stderr).toBe(
      [
        'note: Service tenants/blue is in no file, and was assumed',
        'note: Secret tenants/blue-ca is in no file, and was assumed',
        'note: Secret tenants/blue-kubeconfig is in no file, and was assumed',
        '',
      ].join('\n'),
    );
    expect(documentsIn(stdout).map(({ kind }) => kind)).toEqual([
      ...['Ingress', 'EndpointSlice', 'Endpoints', 'ServiceAccount', 'ConfigMap', 'Secret'],
      'DaemonSet',
    ]);
    expect(stdout).toContain('ca.crt: (tls.crt of Secret tenants/blue-ca)\n');
    expect(stdout).toContain(
      "tls.crt: (a certificate by the tenant's CA, which the operator makes)\n",
    );
    expect(exitCode).toBe(0);
  });

  test('prints all for a control plane of a provider, and takes from its object what that tells', async () => {
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
  edge: shared
  worker: {directInjection: true}
  controlPlane:
    ref: {apiVersion: kamaji.clastix.io/v1alpha1, kind: TenantControlPlane, name: green}
`,
    );

    const words = ['render', '-f', 'edge.yaml', 'kamaji.yaml'];
    const { stdout, stderr } = await terminal.snicket(words);

    expect(stderr).toContain('note: Service tenants/green is in no file, and was assumed');
    expect(stderr).toContain('note: Secret tenants/green-ca is in no file, and was assumed');
    expect(stderr).toContain(
      'note: Secret tenants/green-admin-kubeconfig is in no file, and was assumed',
    );
    expect(stderr).not.toContain('ServiceMissing');
    expect(stderr).not.toContain('SecretMissing');
    // What the version lacks is said of the version that it has.
    expect(stderr).toContain('v1.33.4');
    const ports = documentsIn(stdout)
      .filter(({ kind }) => kind === 'Ingress')
      .flatMap((ingress) => JSON.stringify(ingress).match(/"port":\{[^}]*\}/g) ?? []);
    expect(ports).toEqual(['"port":{"number":7443}', '"port":{"number":9132}']);

    const { stderr: asTold } = await terminal.snicket([...words, '--tenant-version', 'v1.36.0']);

    expect(asTold).not.toContain('v1.33.4');
  });

  test('makes the Exposure that an annotation asks for, as the operator does', async () => {
    terminal.write(
      'annotated.yaml',
      `apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata: {name: red, namespace: tenants, annotations: {snicket.dev/edge: shared}}
spec:
  controlPlane:
    service: {serviceType: ClusterIP}
    ingress: {hostname: 'red.example.org:443', ingressClassName: nginx}
  kubernetes: {version: v1.33.4}
  networkProfile: {port: 6443}
`,
    );
    const words = ['render', '-f', 'edge.yaml', 'annotated.yaml', '--only', 'management'];

    const { exitCode, stdout, stderr } = await terminal.snicket(words);

    expect(stdout).toContain('# Exposure tenants/red: Edge shared, driver haproxy');
    expect(documentsIn(stdout).map(({ kind }) => kind)).toEqual(['TenantControlPlane', 'Ingress']);
    expect(stdout).toContain('red.example.org');
    expect(stderr).toContain(
      'note: Exposure tenants/red is what an annotation of TenantControlPlane tenants/red asks for',
    );
    expect(stderr).toContain('warning: tenants/red: ProviderMakesIngress: Kamaji makes Ingress');
    expect(exitCode).toBe(0);
  });

  test('says why an annotation leads to no Exposure, or to none of its own', async () => {
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
      'error: tenants/odd: AnnotationInvalid: Cluster tenants/odd asks for an Exposure that cannot be',
    );
    expect(stderr).toContain('warning: tenants/blue: ExposureTaken: Cluster tenants/blue asks for');
    expect(stdout).toContain('# Exposure tenants/blue: Edge shared, driver haproxy');
    expect(stdout).toContain('# Exposure tenants/odd has no plan');
    expect(stderr).toContain('warning: tenants/red: ExposureTaken: TenantControlPlane tenants/red');
    expect(exitCode).toBe(1);
  });

  test('takes the Cluster of Cluster API that names a control plane for its owner', async () => {
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
    expect(stdout).toContain('leads to port 6443 of Service kmc-amber');
    expect(exitCode).toBe(0);
  });

  test('takes a control plane that a chart has yet to make for no fault of the files', async () => {
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
    expect(stderr).toContain('warning: tenants/violet: ControlPlaneMissing: ClusterDeployment');
    expect(stderr).toContain('put it into the files too');
    expect(documentsIn(stdout).map((object) => object?.kind)).toContain('ClusterDeployment');
    expect(exitCode).toBe(0);
  });

  test('does not say that there is nothing beside the fields of a provider', async () => {
    terminal.write('own-edge.yaml', EDGE.replace('driver: haproxy', 'driver: snicket'));

    const { stdout } = await terminal.snicket([
      ...['render', '-f', 'own-edge.yaml', 'annotated.yaml', '--only', 'management'],
    ]);

    expect(documentsIn(stdout).map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
    expect(stdout).not.toContain('management cluster: nothing');
  });

  test('prints one side alone, so that kubectl can take it', async () => {
    const words = ['render', '-f', 'edge.yaml', '-f', 'blue.yaml', '--only', 'management'];

    const { stdout } = await terminal.snicket(words);

    expect(stdout).toBe(`# Exposure tenants/blue: Edge shared, driver haproxy, mode terminate
# tenants-blue.k8s.example.com:443 leads to port 6443 of Service blue
# tenants-blue.konnectivity.example.com:443 leads to port 8132 of Service blue
# management cluster: Ingress tenants/snicket-blue.haproxy
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: snicket-blue.haproxy
  namespace: tenants
  labels:
    app.kubernetes.io/managed-by: snicket
    snicket.dev/exposure: blue
  annotations:
    haproxy.org/ssl-passthrough: "true"
spec:
  rules:
    - host: tenants-blue.k8s.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: blue
                port:
                  number: 6443
    - host: tenants-blue.konnectivity.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: blue
                port:
                  number: 8132
`);
  });

  test('reads standard input, and takes the flags for what is known of tenants', async () => {
    const flags = [
      ...['--service-address', '10.0.0.1', '--service-address', 'fd00::1'],
      ...['--tenant-version', 'v1.35.0', '--proxy-image', 'registry.example.com/snicket:2'],
    ];
    const worker = '{directInjection: true, virtualAddresses: [100.64.64.1, "fd00:64::1"]}';
    const injecting = exposureOf('blue', `  worker: ${worker}\n`);

    const { exitCode, stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-', '--only', 'tenant', ...flags],
      `${EDGE}---\n${injecting}`,
    );

    const kinds = documentsIn(stdout).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds).toContain('EndpointSlice kubernetes-snicket-ipv6');
    expect(stdout).toContain('image: registry.example.com/snicket:2\n');
    expect(stderr).toContain(
      'warning: tenants/blue: InjectionUnsupported: worker.directInjection needs Kubernetes 1.36, and the tenant has v1.35.0',
    );
    expect(exitCode).toBe(0);
  });

  test('takes the objects that the files have, and judges the edge by them', async () => {
    const service = `apiVersion: v1
kind: Service
metadata: {name: blue}
spec: {ports: [{name: api, port: 6443}]}
`;
    const { certificate } = await makeCa();
    const secret = `apiVersion: v1
kind: Secret
metadata: {name: blue-ca}
stringData: {tls.crt: ${JSON.stringify(certificate)}, tls.key: the key}
`;
    const ingressClass = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
`;
    const all = [EDGE, exposureOf('blue'), service, secret, ingressClass].join('---\n');

    const { exitCode, stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-', '-n', 'tenants'],
      all,
    );

    const [, firstLine = ''] = certificate.split('\n');
    expect(stdout).toMatch(/ca\.crt: \|-?\n +-----BEGIN CERTIFICATE-----\n/);
    expect(stdout).toContain(firstLine);
    expect(stdout).not.toContain('the key');
    expect(stderr.split('\n').filter((line) => !line.startsWith('note:'))).toEqual([
      'error: tenants/blue: ServicePortMissing: Service tenants/blue has no port 8132 (it has 6443); add the port, or correct spec.controlPlane.service.konnectivityPort',
      'error: tenants/blue: IngressClassMissing: Edge shared names no ingress class, and the cluster has no default; install the controller with its IngressClass, and write its name in spec.ingress.className',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test('names the holder of a host that two Exposures wish for, and prints the other', async () => {
    const hosts = '  hosts: {api: a.example.com, konnectivity: b.example.com}\n';
    const both = `${EDGE}---\n${exposureOf('blue', hosts)}---\n${exposureOf('red', hosts)}`;

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-f', '-'], both);

    expect(stderr).toContain(
      'error: tenants/red: HostConflict: a.example.com is held by Exposure tenants/blue; choose another host or delete that one\n',
    );
    expect(stdout).toContain('# management cluster: Ingress tenants/snicket-blue.haproxy\n');
    expect(stdout).not.toContain('snicket-red');
    expect(exitCode).toBe(1);
  });

  test('prints no routes for a namespace that the Edge is not for', async () => {
    const closed = EDGE.replace('{driver', '{allowedNamespaces: [others], driver');

    const { exitCode, stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-', '--only', 'management'],
      `${closed}---\n${exposureOf('blue')}`,
    );

    expect(stderr).toContain(
      'error: tenants/blue: NamespaceNotAllowed: Edge shared takes no Exposures of namespace tenants, only of others; make the Exposure in one of these,',
    );
    expect(stdout).toEndWith('# management cluster: nothing\n');
    expect(exitCode).toBe(1);
  });

  test('an Exposure that the Edge is not for keeps no host from others', async () => {
    const hosts = '  hosts: {api: a.example.com, konnectivity: b.example.com}\n';
    const closed = EDGE.replace('{driver', '{allowedNamespaces: [tenants], driver');
    const elsewhere = exposureOf('blue', hosts).replace('namespace: tenants', 'namespace: a');

    const { stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-'],
      [closed, elsewhere, exposureOf('red', hosts)].join('---\n'),
    );

    expect(stderr).toContain('error: a/blue: NamespaceNotAllowed: ');
    expect(stderr).not.toContain('HostConflict');
    expect(stdout).toContain('# management cluster: Ingress tenants/snicket-red.haproxy\n');
  });

  test('says in its help what each exit code means, as the document does', async () => {
    const page = readFileSync(join(import.meta.dir, '../../docs/render-and-diff.md'), 'utf8');
    const [, section = ''] = page.split('### Exit codes');
    const rows = section.split('\n## ')[0]!.matchAll(/^\| (\d) \| (.+) \|$/gm);
    const documented = [...rows].map(
      ([, code, text = '']) => `${code} ${text.replaceAll('`', '')}`,
    );

    const { stdout } = await terminal.snicket(['render', '--help']);

    const said = stdout.split('Exit codes:')[1]?.replaceAll(/\s+/g, ' ').trim();
    expect(said).toBe(documented.join(' '));
  });

  test('says what is wrong with file and line, and prints nothing', async () => {
    terminal.write(
      'wrong.yaml',
      `# Two mistakes.
${exposureOf('blue', '  hosts:\n    api: Blue.example.com\n')}---
${EDGE.replace('haproxy', 'haproxi')}`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-f', 'wrong.yaml']);

    expect(stderr).toBe(
      [
        'error: wrong.yaml:12:10: Exposure tenants/blue: spec.hosts.api: "Blue.example.com" is no host; write a DNS name in lower case with a dot and no address, such as tenant-01.k8s.example.com',
        'error: wrong.yaml:17:16: Edge shared: spec.driver: "haproxi"; write one of snicket, haproxy, haproxy-ingress, nginx, nginx-inc, traefik, contour, gateway-api, ingress',
        '',
      ].join('\n'),
    );
    expect(stdout).toBe('');
    expect(exitCode).toBe(1);
  });

  test('says what is wrong before what was assumed, and warns of two default Edges', async () => {
    const annotations = 'annotations: {snicket.dev/is-default: "true"}';
    const defaults = ['shared', 'second']
      .map((name) => EDGE.replace('name: shared', `name: ${name}, ${annotations}`))
      .join('---\n');
    terminal.write('defaults.yaml', defaults);
    terminal.write('any.yaml', exposureOf('any').replace(/  edge: .*\n/, ''));

    const { stderr } = await terminal.snicket(['render', '-f', 'defaults.yaml', 'any.yaml']);

    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      ...['warning', 'note', 'note', 'note', ''],
    ]);
    expect(stderr).toStartWith(
      'warning: tenants/any: SeveralDefaultEdges: Edges second and shared are both annotated as default',
    );
  });

  test.each([
    [['-f', 'absent.yaml'], 2, 'error: absent.yaml cannot be read (there is no such file)'],
    [['-f', 'edge.yaml', 'tenants/blue'], 2, 'all Exposures in the files are printed: leave the'],
    [
      ['-f', '.'],
      1,
      'note: . is read as snicket run reads it; for the files of a cluster write ./*',
    ],
    [['-f', 'edge.yaml', '.'], 2, 'error: . is a folder, and that of snicket run stands alone'],
    [['-f', '.', '-n', 'tenants'], 2, 'error: --namespace belongs to files; in a folder, objects'],
    [['-f', 'edge.yaml', '-A'], 2, 'error: -f means the Exposures in the files'],
    [['-f', 'torn.yaml'], 1, 'error: torn.yaml:'],
    [['-f', 'edge.yaml'], 1, 'error: there is no Exposure in these files'],
    [['-f', 'blue.yaml'], 1, 'EdgeNotFound: there is no Edge shared; create it, or correct'],
    [['--service-address', '10.0.0.1'], 2, 'error: --service-address belongs to -f'],
    [['-f', 'blue.yaml', '--service-address', 'x'], 2, 'Write an IP such as 10.96.0.1.'],
    [['a/b/c'], 2, 'Write NAMESPACE/NAME or NAME.'],
    [['tenants/blue', '-A'], 2, 'error: -A means all'],
    [['tenants/blue', '-n', 'other'], 2, 'error: the namespace is tenants in the name and other'],
    [['tenants/blue'], 2, 'error: no cluster to talk to'],
  ])('refuses %j', async (words, code, sentence) => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['render', ...words]);

    expect(stderr).toContain(sentence);
    expect(stdout).not.toContain('apiVersion');
    expect(exitCode).toBe(code);
  });
});

describe('from a cluster', () => {
  test('prints what the operator has made, and asks nothing but GET', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const { server } = await lab.addExposed('blue');
    await lab.stopOperator();
    using terminal = new Terminal(lab.management);
    const before = [lab.management.requests().length, server.requests().length] as const;

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', 'tenants/blue', '--show-secrets', '--proxy-image', 'snicket.test/snicket:1'],
    ]);

    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    const documents = documentsIn(stdout);
    expect(documents).toHaveLength(7);
    for (const [index, document] of documents.entries()) {
      const cluster = index === 0 ? lab.management : server;
      const live = cluster.read(resourceOf(document), document.metadata);
      expect(differences(document, live)).toEqual([]);
    }
    const requests = [
      ...lab.management.requests().slice(before[0]),
      ...server.requests().slice(before[1]),
    ];
    expect(requests.length).toBeGreaterThan(10);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['list', 'read', 'get']));
  });

  test('says that a certificate would be made, and makes none', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec, isOperatorRunning: false });
    lab.management.seed(...objects);
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);
    const writes = lab.writes();

    const first = await terminal.snicket(['render', 'blue', '--show-secrets']);
    const second = await terminal.snicket(['render', 'blue', '--show-secrets']);

    expect(first.stderr).toBe(
      'note: tenants/blue: the proxies would get new credentials: there is no certificate yet\n',
    );
    expect(first.stdout).toContain('tls.crt: "(a new certificate: there is no certificate yet)"\n');
    expect(second).toEqual(first);
    expect(first.exitCode).toBe(0);
    expect(lab.writes()).toBe(writes);
  });

  test('says that a key would be made, and makes none', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);
    const writes = lab.writes();

    const { stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain(
      '  tenant.key: "(a new key: there is no Secret snicket-system/snicket-gateway-keys yet, which the operator makes)"\n',
    );
    expect(stdout).toContain('# management cluster: nothing\n');
    expect(lab.writes()).toBe(writes);
  });

  test('goes by the address in the kubeconfig where the Service leads nowhere', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { port } = await lab.addTenant('blue');
    await lab.expose('blue');
    // Nothing listens there.
    const clusterIPs = ['127.255.255.254'];
    await lab.change(RESOURCES.service, 'blue', { spec: { clusterIP: clusterIPs[0], clusterIPs } });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain('# tenant cluster: DaemonSet kube-system/snicket-proxy\n');
    expect(stdout).toContain(`leads to port ${port} of Service blue\n`);
    expect(exitCode).toBe(0);
  });

  test('goes by the edge where nothing else leads to the tenant', async () => {
    await using lab = await OperatorLab.start({ hasGateway: true });
    const { kubeconfig, port } = await lab.addExposed('blue');
    await lab.untilCondition('blue', 'Reachable', /^True/);
    await lab.stopOperator();
    const clusterIPs = ['127.255.255.254'];
    await lab.change(RESOURCES.service, 'blue', { spec: { clusterIP: clusterIPs[0], clusterIPs } });
    const elsewhere = kubeconfig.replace(`localhost:${port}`, '127.255.255.254:6443');
    await lab.changeSecret('blue-kubeconfig', { 'admin.conf': elsewhere });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['render']);

    expect(stderr).toBe('');
    expect(stdout).toContain('# tenant cluster: DaemonSet kube-system/snicket-proxy\n');
    expect(exitCode).toBe(0);
  });

  test('prints the management side of a tenant that is down, and says so', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec, isOperatorRunning: false });
    lab.management.seed(...objects);
    const { server } = await lab.addTenant('blue');
    await lab.expose('blue');
    await server.goDown();
    using terminal = new Terminal(lab.management);

    const both = await terminal.snicket(['render', 'blue']);
    const one = await terminal.snicket(['render', 'blue', '--only', 'management']);

    expect(both.stderr).toStartWith(
      "error: tenants/blue: TenantUnreachable: the tenant's API server does not answer: ",
    );
    expect(both.stdout).toContain('# management cluster: Ingress tenants/snicket-blue.haproxy\n');
    expect(both.stdout).toEndWith('---\n# tenant cluster: not known yet\n');
    expect(both.exitCode).toBe(1);
    expect(one.stderr).toBe('');
    expect(one.exitCode).toBe(0);
    await server.comeUp();
  });

  test('names the Exposures that there are if the one that is asked for is not', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    const { exitCode, stderr } = await terminal.snicket(['render', 'tenants/bleu']);

    expect(stderr).toBe('error: there is no Exposure tenants/bleu; there are tenants/blue\n');
    expect(exitCode).toBe(2);
  });

  test('names the Exposures that there are if the namespace has none', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    for (const tool of ['render', 'diff']) {
      const { exitCode, stdout, stderr } = await terminal.snicket([tool, '-n', 'nope']);

      expect(stderr).toBe(
        'error: there is no Exposure in namespace nope; there are tenants/blue\n',
      );
      expect(stdout).toBe('');
      expect(exitCode).toBe(2);
    }
  });

  test('asks whether a cluster that knows no Exposures is the right one', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    lab.management.inject(
      { kind: 'answer', status: 404, reason: 'NotFound' },
      { plural: 'exposures' },
      10,
    );

    const { exitCode, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toContain('this cluster does not know Exposures: is it the management cluster?');
    expect(stderr).toEndWith('kubectl apply -k deploy\n');
    expect(exitCode).toBe(2);
  });

  test('says what to look at where no API server answers', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    await lab.management.goDown();

    const { exitCode, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toMatch(/^error: .*see that the API server runs, and that the kubeconfig/);
    expect(exitCode).toBe(2);
    await lab.management.comeUp();
  });

  test('says that the management cluster cannot be read', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    const refusal = { kind: 'answer', status: 403, reason: 'Forbidden' } as const;
    lab.management.inject(refusal, { plural: 'exposures' }, 10);

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toMatch(/^error: .*exposures.*Forbidden/);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('takes the image of proxies from the operator in the cluster', async () => {
    await using lab = await OperatorLab.start({
      isOperatorRunning: false,
      resources: [
        ...Object.values(RESOURCES),
        { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
      ],
    });
    await lab.addTenant('blue');
    await lab.expose('blue');
    const container = {
      args: ['operator', '--proxy-image=$(SNICKET_IMAGE)'],
      env: [{ name: 'SNICKET_IMAGE', value: 'registry.example.com/snicket:7' }],
    };
    lab.management.seed({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: 'snicket-operator', namespace: SYSTEM },
      ...{ spec: { template: { spec: { containers: [container] } } } },
    });
    using terminal = new Terminal(lab.management);

    const { stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain('image: registry.example.com/snicket:7\n');
  });
});

test('takes the image of proxies from its own surroundings in the pod of the operator', async () => {
  await using lab = await OperatorLab.start({ isOperatorRunning: false });
  await lab.addTenant('blue');
  await lab.expose('blue');
  using terminal = new Terminal(lab.management);
  const refusal = { kind: 'answer', status: 403, reason: 'Forbidden' } as const;
  lab.management.inject(refusal, { plural: 'deployments' }, 10);

  const { stdout, stderr } = await terminal.run([
    ...['env', 'SNICKET_IMAGE=registry.example.com/snicket:8', terminal.program, 'render'],
    ...['tenants/blue'],
  ]);

  expect(stdout).toContain('image: registry.example.com/snicket:8\n');
  expect(stderr).not.toContain('Deployment');
});

test('operator --dry-run prints the plans of all Exposures, writes nothing and ends', async () => {
  await using lab = await OperatorLab.start({ isOperatorRunning: false });
  await lab.addTenant('blue');
  await lab.addTenant('red');
  await lab.expose('blue');
  await lab.expose('red');
  using terminal = new Terminal(lab.management);
  const writes = lab.writes();

  const { exitCode, stdout } = await terminal.snicket(['operator', '--dry-run']);

  const heads = stdout.split('\n').filter((line) => line.startsWith('# Exposure'));
  expect(heads).toEqual([
    '# Exposure tenants/blue: Edge shared, driver snicket, mode passthrough',
    '# Exposure tenants/red: Edge shared, driver snicket, mode passthrough',
  ]);
  expect(exitCode).toBe(0);
  expect(lab.writes()).toBe(writes);
});
