import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import type { OperatorLab } from '../../operator/testing/operator-lab.ts';
import { TENANTS } from '../../operator/testing/namespaces.ts';
import { addKamaji, startProvidedLab } from '../../operator/testing/provided-lab.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  changed,
  clusterDeployment,
  k0smotronControlPlane,
} from '../../providers/testing/provider-objects.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;
const BLUE = { name: 'blue', namespace: TENANTS };
const IMAGE = ['--proxy-image', 'snicket.test/snicket:1'];
const EDGE = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata: {name: shared}
spec: {driver: snicket, domain: example.test, port: 8443}
---
`;

async function expose(lab: OperatorLab, prepare = 'Patch'): Promise<void> {
  const objectRef = { group: 'kamaji.clastix.io', kind: KAMAJI.kind, name: 'blue' };
  await lab.user.apply({
    apiVersion: RESOURCES.exposure.apiVersion,
    kind: 'Exposure',
    metadata: BLUE,
    spec: { edgeRef: { name: 'shared' }, prepare, controlPlane: { type: 'Object', objectRef } },
  } as KubeObject);
}

function exposureOf(kind: string, apiVersion: string, name: string): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata: {name: ${name}, namespace: tenants}
spec:
  edgeRef: {name: shared}
  controlPlane: {type: Object, objectRef: {group: ${groupOf(apiVersion)}, kind: ${kind}, name: ${name}}}
---
`;
}

/** Returns several objects as YAML, of which JSON is a subset. */
function yamlOf(...objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n');
}

describe("the preparation of a provider's object", () => {
  test('is not written while another field manager owns a field, and the output reports it', async () => {
    await using lab = await startProvidedLab({ hasSockets: true, isOperatorRunning: false });
    await addKamaji(lab, 'blue', { 'spec.networkProfile.certSANs': ['blue.example.test'] });
    await expose(lab);
    using terminal = new Terminal(lab.management);
    const only = ['blue', '--only', 'management', ...IMAGE];

    const diff = await terminal.snicket(['diff', ...only]);
    const render = await terminal.snicket(['render', ...only]);

    const conflict =
      'error: tenants/blue: FieldConflict: Field manager user owns .spec.networkProfile.certSANs (["blue.example.test"], desired ["blue.example.test","tenants-blue.k8s.example.test","tenants-blue.konnectivity.example.test"]) of TenantControlPlane tenants/blue, so Snicket wrote nothing.';
    expect(diff.stderr).toStartWith(conflict);
    expect(diff.stdout).not.toContain('TenantControlPlane');
    expect(diff.exitCode).toBe(2);
    expect(render.stderr).toStartWith(conflict);
    expect(render.stdout).toContain(
      'TenantControlPlane tenants/blue, required fields that are not set',
    );
    expect(render.exitCode).toBe(1);

    await expose(lab, 'Force');
    const forced = await terminal.snicket(['diff', ...only]);

    expect(forced.stdout).toContain('~ management TenantControlPlane tenants/blue\n');
    expect(forced.exitCode).toBe(1);
  });

  test('is printed by render as YAML to paste', async () => {
    await using lab = await startProvidedLab({ hasSockets: true, isOperatorRunning: false });
    await addKamaji(lab, 'blue');
    await expose(lab, 'Report');
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', 'blue', ...IMAGE]);

    expect(exitCode).toBe(1);
    expect(stderr).toContain('error: tenants/blue: PreparationRequired: TenantControlPlane');
    expect(stdout).toContain(
      '# management cluster: TenantControlPlane tenants/blue, fields to set by hand\n',
    );
    const [fields] = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    expect(fields?.metadata).toEqual(BLUE);

    await lab.user.apply(fields!, { resource: KAMAJI, force: true });

    const after = await terminal.snicket(['render', 'blue', ...IMAGE]);
    expect(after.stderr).not.toContain('PreparationRequired');
    expect(after.exitCode).toBe(0);
  });

  test('is shown by diff until the operator has written it', async () => {
    await using lab = await startProvidedLab({ hasSockets: true, isOperatorRunning: false });
    await addKamaji(lab, 'blue');
    await expose(lab);
    using terminal = new Terminal(lab.management);
    const diff = async () => terminal.snicket(['diff', 'blue', ...IMAGE]);

    const before = await diff();

    expect(before.stdout).toContain('  ~ management TenantControlPlane tenants/blue\n');
    expect(before.stdout).toContain(
      '      + spec.controlPlane.ingress.hostname: tenants-blue.k8s.example.test:443\n',
    );
    expect(before.stdout).toContain('DaemonSet kube-system/snicket-proxy');

    lab.startOperator();
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.stopOperator();

    expect((await diff()).stdout).toBe('');

    await lab.unexpose('blue');

    const leaving = await diff();
    expect(leaving.stdout).toContain(
      '      - spec.controlPlane.ingress.hostname: tenants-blue.k8s.example.test:443\n',
    );
  });

  test('is an error if the object cannot be read, also while the tenant is in use', async () => {
    await using lab = await startProvidedLab({ hasSockets: true });
    await addKamaji(lab, 'blue');
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.stopOperator();
    const ingress = { hostname: 'other.example.test:443' };
    await lab.change(KAMAJI, 'blue', { spec: { controlPlane: { ingress } } });
    using terminal = new Terminal(lab.management);
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    lab.management.inject(refusal, { verb: 'get', plural: KAMAJI.plural }, 10);

    const { exitCode, stderr } = await terminal.snicket(['diff', 'blue', ...IMAGE]);

    expect(stderr).toMatch(/^error: GET .*\/tenantcontrolplanes\/blue .*Forbidden\n$/);
    expect(exitCode).toBe(2);
  });

  test('stays after a cleanup if the record is bothClusters, which is reported', async () => {
    await using lab = await startProvidedLab({ hasSockets: true });
    await addKamaji(lab, 'blue');
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.stopOperator();
    const annotations = { 'snicket.dev/preparation': '{"version":99}' };
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { annotations } });
    await lab.unexpose('blue');
    using terminal = new Terminal(lab.management);

    const bothClusters = await terminal.snicket(['diff', 'blue', ...IMAGE]);
    const one = await terminal.snicket(['diff', 'blue', '--only', 'management', ...IMAGE]);

    for (const { exitCode, stdout, stderr } of [bothClusters, one]) {
      expect(stderr).toStartWith('error: tenants/blue: PreparationRecordInvalid: ');
      expect(stdout).toContain('  - management TenantRoute tenants/blue-');
      expect(stdout).not.toContain('TenantControlPlane');
      expect(exitCode).toBe(2);
    }
    expect(bothClusters.stdout).toContain('  - tenant     DaemonSet kube-system/snicket-proxy\n');
    expect(one.stdout).not.toContain('DaemonSet');
  });

  test('writes nothing with prepare: Report, also not to the tenant', async () => {
    await using lab = await startProvidedLab({ hasSockets: true, isOperatorRunning: false });
    await addKamaji(lab, 'blue');
    await expose(lab, 'Report');
    using terminal = new Terminal(lab.management);

    const { stdout } = await terminal.snicket(['diff', 'blue', ...IMAGE]);

    expect(stdout).toContain('+ management TenantRoute');
    expect(stdout).not.toContain('TenantControlPlane');
    expect(stdout).not.toContain('DaemonSet');
  });
});

describe("the values of k0rdent's chart", () => {
  const { clusterDeployment: DEPLOYMENT, k0smotronControlPlane: CONTROL_PLANE } =
    PROVIDER_RESOURCES;

  async function values(...texts: readonly string[]): Promise<string> {
    using terminal = new Terminal();
    const { stdout } = await terminal.snicket(
      ['render', '--values', '-f', '-'],
      [EDGE, ...texts].join(''),
    );
    return stdout;
  }

  test('are those of the template of the ClusterDeployment', async () => {
    const deployment = clusterDeployment('violet', 'openstack-hosted-cp-1-0-40');

    const text = await values(
      exposureOf(DEPLOYMENT.kind, DEPLOYMENT.apiVersion, 'violet'),
      yamlOf(deployment, k0smotronControlPlane('violet')),
    );

    expect(text).toBe(`# Exposure tenants/violet: spec.config of ClusterDeployment tenants/violet
# the values of template openstack-hosted-cp-1-0-40
ingress:
  enabled: true
  deploy: false
  apiHost: tenants-violet.k8s.example.test
  konnectivityHost: tenants-violet.konnectivity.example.test
  port: 8443
k0smotron:
  service:
    type: ClusterIP
`);
  });

  test.each([
    ['openstack-hosted-cp-1-0-40', 'k0smotron.service.type', 'ingress:'],
    ['hetzner-hosted-cp-0-3-1', 'controlPlane.service.type', 'controlPlane:'],
  ])('of %s keep another type of the running Service', async (template, path, first) => {
    const deployment = clusterDeployment('violet', template);
    const controlPlane = changed(k0smotronControlPlane('violet'), {
      'spec.service.type': 'LoadBalancer',
    });

    const text = await values(
      exposureOf(DEPLOYMENT.kind, DEPLOYMENT.apiVersion, 'violet'),
      yamlOf(deployment, controlPlane),
    );

    expect(text.split('\n').slice(2, 4)).toEqual([
      `# without ${path}, which stays LoadBalancer: write ClusterIP once no node and no kubeconfig uses that address`,
      first,
    ]);
    expect(text).toContain('apiHost: tenants-violet.k8s.example.test\n');
    expect(text).not.toMatch(/^ *(service|type):/m);
  });

  test('are found from the control plane too, and shown for a custom chart', async () => {
    const deployment = clusterDeployment('violet', 'of-my-own-1-0-0');

    const text = await values(
      exposureOf(CONTROL_PLANE.kind, CONTROL_PLANE.apiVersion, 'violet-cp'),
      yamlOf(deployment, k0smotronControlPlane('violet')),
    );

    expect(text).toContain('# the values of template of-my-own-1-0-0 are unknown');
    expect(text).toContain('externalAddress: tenants-violet-cp.k8s.example.test\n');
  });

  test('are empty for a control plane without a provider', async () => {
    const text = await values(
      exposureOf(CONTROL_PLANE.kind, CONTROL_PLANE.apiVersion, 'amber-cp'),
      yamlOf(k0smotronControlPlane('amber')),
    );

    expect(text).toContain('belongs to no ClusterDeployment of k0rdent');
  });
});
