import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { makeCa } from '../../pki/testing/test-ca.ts';
import type { Terminal } from '../testing/snicket.ts';
import { documentsIn, EDGE, exposureOf, terminalWithFiles } from '../testing/yaml-objects.ts';

setDefaultTimeout(240_000);

describe('render -f with files', () => {
  let terminal: Terminal;
  beforeAll(() => void (terminal = terminalWithFiles()));
  afterAll(() => terminal[Symbol.dispose]());

  test('prints the objects for both clusters, and notes what it assumes', async () => {
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
      ...['TenantRoute', 'TenantRoute', 'Ingress', 'Lease', 'EndpointSlice', 'Endpoints'],
      ...['ServiceAccount', 'ConfigMap', 'Secret', 'DaemonSet'],
    ]);
    expect(stdout).toContain('ca.crt: (tls.crt of Secret tenants/blue-ca)\n');
    expect(stdout).toContain(
      'holderIdentity: (uid of Namespace kube-system)/tenants/blue\n  leaseDurationSeconds: 900\n',
    );
    expect(stdout).toContain(
      "tls.crt: (a certificate signed by the tenant's CA, created by the operator)\n",
    );
    expect(exitCode).toBe(0);
  });

  test('assumes one Secret if the same Secret has the CA and the kubeconfig', async () => {
    terminal.write('both.yaml', exposureOf('blue').replaceAll(/blue-(ca|kubeconfig)/g, 'both'));

    const { exitCode, stderr } = await terminal.snicket([
      ...['render', '-f', 'edge.yaml', 'both.yaml'],
    ]);

    expect(stderr).toContain('note: Secret tenants/both is in no file, and was assumed\n');
    expect(stderr).not.toContain('error');
    expect(exitCode).toBe(0);
  });

  test('prints the objects of one cluster only, which kubectl accepts', async () => {
    const args = ['render', '-f', 'edge.yaml', '-f', 'blue.yaml', '--only', 'management'];

    const { stdout } = await terminal.snicket(args);

    expect(stdout).toBe(`# Exposure tenants/blue: Edge shared, driver haproxy, mode Terminate
# tenants-blue.k8s.example.com:443 is routed to port 6443 of Service blue
# tenants-blue.konnectivity.example.com:443 is routed to port 8132 of Service blue
# management cluster: TenantRoute tenants/blue-4dba8126f5
apiVersion: snicket.dev/v1alpha1
kind: TenantRoute
metadata:
  name: blue-4dba8126f5
  namespace: tenants
  labels:
    app.kubernetes.io/managed-by: snicket
    snicket.dev/exposure: blue
spec:
  edgeRef:
    name: shared
  driver: haproxy
  exposureRef:
    name: blue
  host: tenants-blue.k8s.example.com
  type: API
  backend:
    service:
      name: blue
      port: 6443
---
# management cluster: TenantRoute tenants/blue-55d2068699
apiVersion: snicket.dev/v1alpha1
kind: TenantRoute
metadata:
  name: blue-55d2068699
  namespace: tenants
  labels:
    app.kubernetes.io/managed-by: snicket
    snicket.dev/exposure: blue
spec:
  edgeRef:
    name: shared
  driver: haproxy
  exposureRef:
    name: blue
  host: tenants-blue.konnectivity.example.com
  type: Konnectivity
  backend:
    service:
      name: blue
      port: 8132
---
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

  test('reads standard input, and uses the flags about tenants', async () => {
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
      'warning: tenants/blue: OptionNotSupported: Option worker.directInjection requires MutatingAdmissionPolicy without a feature gate, which Kubernetes has since v1.36.0, but the tenant runs v1.35.0.',
    );
    expect(exitCode).toBe(0);
  });

  test('uses the objects in the files, and checks the edge against them', async () => {
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
      'error: tenants/blue: ServiceInvalid: Service tenants/blue has no port 8132 (it has 6443).',
      'hint: Add the port, or correct spec.controlPlane.service.konnectivityPort.',
      'error: tenants/blue: EdgeReferenceInvalid: Edge shared names no ingress class, and the cluster has no default ingress class.',
      'hint: Install the controller with its IngressClass, and set spec.ingress.className to that class.',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test('names the owner of a host that two Exposures request, and prints the other Exposure', async () => {
    const hosts = '  hosts: {api: a.example.com, konnectivity: b.example.com}\n';
    const both = `${EDGE}---\n${exposureOf('blue', hosts)}---\n${exposureOf('red', hosts)}`;

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-f', '-'], both);

    expect(stderr).toContain(
      'error: tenants/red: HostConflict: Host a.example.com is already used by Exposure tenants/blue.\nhint: Choose another host or delete that Exposure.\n',
    );
    expect(stdout).toContain('# management cluster: Ingress tenants/snicket-blue.haproxy\n');
    expect(stdout).not.toContain('snicket-red');
    expect(exitCode).toBe(1);
  });

  test('prints one Exposure, and notes only what it assumes for that one', async () => {
    const hosts = '  hosts: {api: a.example.com, konnectivity: b.example.com}\n';
    terminal.write('both.yaml', `${exposureOf('blue', hosts)}---\n${exposureOf('red', hosts)}`);

    const blue = await terminal.snicket(['render', '-f', 'edge.yaml', 'both.yaml', 'tenants/blue']);
    const red = await terminal.snicket([
      'render',
      'red',
      '-n',
      'tenants',
      '-f',
      'edge.yaml',
      'both.yaml',
    ]);

    expect(blue.stdout.match(/^# Exposure \S+:/gm)).toEqual(['# Exposure tenants/blue:']);
    expect(blue.stderr).toContain('note: Service tenants/blue is in no file');
    expect(blue.stderr).not.toContain('red');
    expect(blue.exitCode).toBe(0);
    // The other Exposure still counts.
    expect(red.stderr).toContain(
      'error: tenants/red: HostConflict: Host a.example.com is already used by Exposure tenants/blue.',
    );
    expect(red.exitCode).toBe(1);
  });

  test('prints no routes for a namespace that the Edge does not allow', async () => {
    const closed = EDGE.replace(
      '{driver',
      '{allowedNamespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: others}}}, driver',
    );

    const { exitCode, stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-', '--only', 'management'],
      `${closed}---\n${exposureOf('blue')}`,
    );

    expect(stderr).toContain(
      'error: tenants/blue: NamespaceNotAllowed: Edge shared does not allow Exposures in namespace tenants, whose labels do not match kubernetes.io/metadata.name=others.\nhint: Label the namespace',
    );
    expect(stdout).toEndWith('# management cluster: nothing\n');
    expect(exitCode).toBe(1);
  });

  test('an Exposure that the Edge does not allow does not reserve its host', async () => {
    const hosts = '  hosts: {api: a.example.com, konnectivity: b.example.com}\n';
    const closed = EDGE.replace(
      '{driver',
      '{allowedNamespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: tenants}}}, driver',
    );
    const elsewhere = exposureOf('blue', hosts).replace('namespace: tenants', 'namespace: a');

    const { stdout, stderr } = await terminal.snicket(
      ['render', '-f', '-'],
      [closed, elsewhere, exposureOf('red', hosts)].join('---\n'),
    );

    expect(stderr).toContain('error: a/blue: NamespaceNotAllowed: ');
    expect(stderr).not.toContain('HostConflict');
    expect(stdout).toContain('# management cluster: Ingress tenants/snicket-red.haproxy\n');
  });

  test('prints errors before notes, and warns about two default Edges', async () => {
    const annotations = 'annotations: {snicket.dev/is-default: "true"}';
    const defaults = ['shared', 'second']
      .map((name) => EDGE.replace('name: shared', `name: ${name}, ${annotations}`))
      .join('---\n');
    terminal.write('defaults.yaml', defaults);
    terminal.write('any.yaml', exposureOf('any').replace(/  edgeRef: .*\n/, ''));

    const { stderr } = await terminal.snicket(['render', '-f', 'defaults.yaml', 'any.yaml']);

    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      ...['warning', 'hint', 'note', 'note', 'note', ''],
    ]);
    expect(stderr).toStartWith(
      'warning: tenants/any: DefaultEdgeInvalid: Edges second and shared are both annotated as default',
    );
  });
});
