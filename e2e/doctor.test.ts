/**
 * `snicket doctor` with faults injected one by one into a working path of real components. It must report only the code
 * of the cause.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority, writeCredential, type Subject } from '../world/cluster/pki.ts';
import { startEdge, type Edge } from '../world/edges/edge.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace, tenantService } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  EDGE_ADDRESS,
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
  SYSTEM_NAMESPACE,
} from './installed-snicket.ts';

interface Report {
  readonly exposures: readonly {
    readonly hops: readonly { readonly state: string; readonly code: string }[];
    readonly findings: readonly { readonly severity: string; readonly code: string }[];
  }[];
}

let world: World;
let laptop: NetworkHost;
let haproxy: Edge;

beforeAll(async () => {
  const progress = terminalProgress();
  world = await World.start(
    { tenants: { a: {}, b: { endpointReconciler: 'lease' } } },
    { progress },
  );
  laptop = await world.addHost('laptop');
  haproxy = await startEdge(world, 'haproxy-ingress', progress);
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge());
  for (const name of ['a', 'b']) {
    pointToEdge(world, world.tenant(name));
    await world.management.apply(exposureOf(world.tenant(name)));
  }
  await untilReachable(world, world.tenant('a'));
});

afterAll(async () => world?.stop());

/** Runs the doctor on a machine outside both clusters. */
async function doctor(...args: readonly string[]): Promise<{ exitCode: number; text: string }> {
  const kubeconfig = `--kubeconfig=${world.management.controlPlane.kubeconfig}`;
  const script = '"$@"; echo "exit code $?"';
  const command = [join(repository, 'snicket'), 'doctor', ...args, kubeconfig];
  const { stdout } = await laptop.host.exec(['sh', '-c', script, 'sh', ...command]);
  const [, text = '', code] = /^([^]*)exit code (\d+)\n$/.exec(stdout) ?? [];
  return { exitCode: Number(code), text };
}

/** Returns the codes of all failed hops and findings of a tenant's Exposure. */
async function failingCodes(name: string): Promise<readonly string[]> {
  const { text, exitCode } = await doctor(`${tenantNamespace(name)}/${name}`, '--output=json');
  const { exposures } = JSON.parse(text) as Report;
  const codes = exposures.flatMap(({ hops, findings }) => [
    ...hops.filter(({ state }) => state === 'Fail').map(({ code }) => code),
    ...findings.filter(({ severity }) => severity === 'error').map(({ code }) => code),
  ]);
  expect(exitCode).toBe(codes.length === 0 ? 0 : 1);
  return codes;
}

/** Waits until exactly these codes fail, because controllers and kubelets need time. */
async function untilFailing(name: string, ...codes: readonly string[]): Promise<void> {
  let last: readonly string[] = [];
  const matches = async () => {
    last = await failingCodes(name);
    return Bun.deepEquals(last, codes);
  };
  await waitFor(`exactly these codes fail for ${name}: ${codes.join(', ') || 'none'}`, matches, {
    deadlineMs: 100_000,
    everyMs: 500,
  }).catch(async () => {
    throw new Error((await doctor(`${tenantNamespace(name)}/${name}`)).text);
  });
  expect(last).toEqual(codes);
}

async function scaleOperator(replicas: number): Promise<void> {
  const deployment = ['deployment/snicket-operator', `--namespace=${SYSTEM_NAMESPACE}`];
  await world.management.kubectl('scale', ...deployment, `--replicas=${replicas}`);
}

/** Returns an Edge that terminates TLS. All such Edges use the same controller. */
function terminatingEdge(name: string, annotations: Readonly<Record<string, string>>): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name },
    spec: {
      driver: 'ingress',
      addresses: [haproxy.address],
      ingress: { className: 'haproxy-ingress', annotations },
    },
  };
}

test('no check fails without a fault', async () => {
  await untilFailing('a');

  const { text } = await doctor('-A');

  expect(text).toContain(
    'tenant-a/a  a.k8s.snicket.test:443  Edge shared (snicket, Passthrough)\n',
  );
  expect(text).toMatch(/^2 Exposures: /m);
});

describe('invalid specs, with the operator running', () => {
  test.each([
    ['the edge terminates TLS', 'ends', {}],
    [
      'the annotation belongs to another controller',
      'mistaken',
      { 'haproxy.org/ssl-passthrough': 'true' },
    ],
  ])('%s', async (_, edge, annotations) => {
    const tenant = world.tenant('a');
    const desired = exposureOf(tenant) as { spec: object };
    await world.management.apply(terminatingEdge(edge, annotations));
    pointToEdge(world, tenant, haproxy.address);

    await world.management.apply({
      ...desired,
      spec: { ...desired.spec, edgeRef: { name: edge } },
    });

    await untilFailing('a', 'EdgeTerminates');
  });

  test('the referenced Edge does not exist', async () => {
    const tenant = world.tenant('a');
    const desired = exposureOf(tenant) as { spec: object };

    await world.management.apply({
      ...desired,
      spec: { ...desired.spec, edgeRef: { name: 'missing' } },
    });

    await untilFailing('a', 'EdgeNotFound');
    pointToEdge(world, tenant);
    await world.management.apply({
      ...desired,
      spec: { ...desired.spec, edgeRef: { name: 'shared' } },
    });
    await untilReachable(world, tenant);
  });

  test('the image of the proxy does not exist', async () => {
    const tenant = world.tenant('a');

    await world.management.apply(exposureOf(tenant, { image: 'snicket.test/nowhere:1' }));

    await untilFailing('a', 'ProxyImageMissing');
    await world.management.apply(exposureOf(tenant));
    await untilReachable(world, tenant);
  });
});

describe('faults on the path, without the operator', () => {
  beforeAll(async () => scaleOperator(0));

  test('the API server writes the endpoints itself', async () => {
    await untilFailing('b', 'EndpointsOverwritten');
  });

  test('DNS that points to another address is a warning while the Edge routes to the tenant', async () => {
    world.dns.set(world.tenant('a').plan.hosts.api, '172.30.9.9');

    await waitFor(
      'DnsMismatch',
      async () => (await doctor('tenant-a/a')).text.includes('DnsMismatch'),
      {
        deadlineMs: 100_000,
        everyMs: 500,
      },
    );
    await untilFailing('a');
    pointToEdge(world, world.tenant('a'));
  });

  test('there is no route for konnectivity', async () => {
    const namespace = `--namespace=${tenantNamespace('a')}`;
    const path = '--output=jsonpath={.items[?(@.spec.type=="Konnectivity")].metadata.name}';
    const name = await world.management.kubectl('get', 'tenantroutes', namespace, path);
    // The gateway serves the TenantRoutes of driver snicket.
    const setDriver = async (driver: string) =>
      world.management.kubectl(
        ...['patch', 'tenantroute', name, namespace, '--type=merge'],
        ...['--patch', JSON.stringify({ spec: { driver } })],
      );

    await setDriver('haproxy');

    await untilFailing('a', 'NoRoute');
    await setDriver('snicket');
    await untilFailing('a');
  });

  const OWN_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  describe('faults of certificates', () => {
    const pki = () => join(world.tenant('a').controlPlane.host.folder, 'files', 'pki');
    let before: { readonly certificate: string; readonly key: string };

    beforeAll(() => {
      const text = (name: string) => readFileSync(join(pki(), name), 'utf8');
      before = { certificate: text('apiserver.crt'), key: text('apiserver.key') };
    });

    /** Replaces the API server's certificate, which needs no restart. */
    async function serveWith(subject: Omit<Subject, 'commonName'>, authority?: Authority) {
      const tenant = world.tenant('a');
      const issuer = authority ?? tenant.controlPlane.authority;
      const names = [...(subject.names ?? []), tenant.plan.address, 'localhost', '127.0.0.1'];
      const full = { ...subject, names, commonName: 'kube-apiserver' };
      writeCredential(pki(), 'apiserver', await issuer.issue(full));
    }

    async function serveAsBefore() {
      writeCredential(pki(), 'apiserver', before);
      await untilFailing('a');
    }

    test('the certificate lacks the host', async () => {
      await serveWith({ names: OWN_NAMES });

      await untilFailing('a', 'CertificateNameMissing');
      await serveAsBefore();
    });

    test('the certificate has expired', async () => {
      const { api } = world.tenant('a').plan.hosts;
      const notAfter = new Date(Date.now() - 3_600_000);
      await serveWith({ names: [...OWN_NAMES, api], notAfter });

      await untilFailing('a', 'CertificateExpired');
      await serveAsBefore();
    });

    test('the API server has a certificate of another CA', async () => {
      const { api } = world.tenant('a').plan.hosts;
      await serveWith({ names: [...OWN_NAMES, api] }, await Authority.create('a-ca'));

      await untilFailing('a', 'UnknownAuthority');
      await serveAsBefore();
    });
  });

  test('only the Secret has another CA', async () => {
    const { controlPlane } = world.tenant('a');
    const { certificate, key } = await Authority.create('a-ca');
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key) };
    const at = ['secret', 'a-ca', `--namespace=${tenantNamespace('a')}`];
    await world.management.kubectl(
      ...['patch', ...at, '--type=merge', '--patch', JSON.stringify({ data })],
    );

    await untilFailing('a', 'CaMismatch');
    await world.management.apply(...tenantService(controlPlane));
  });

  test('the kubeconfig has the previous port', async () => {
    const { controlPlane, plan } = world.tenant('a');
    const old = controlPlane.kubeconfigFor(`https://${plan.hosts.api}:${API_PORT}`);
    const data = { 'admin.conf': Buffer.from(old).toString('base64') };
    const at = ['secret', 'a-admin-kubeconfig', `--namespace=${tenantNamespace('a')}`];
    await world.management.kubectl(
      ...['patch', ...at, '--type=merge', '--patch', JSON.stringify({ data })],
    );

    await untilFailing('a', 'KubeconfigMismatch');
    await world.management.apply(...tenantService(controlPlane));
    await untilFailing('a');
  });

  describe('on a worker', () => {
    async function fromWorker(): Promise<{ exitCode: number; text: string }> {
      const worker = world.tenant('a').worker();
      const { api, konnectivity } = world.tenant('a').plan.hosts;
      const file = join(worker.host.folder, 'files', 'tenant-ca.crt');
      writeFileSync(file, world.tenant('a').controlPlane.authority.certificate);
      const args = [
        ...[join(repository, 'snicket'), 'doctor', '--from-worker', '--timeout=20s'],
        ...[`--host=${api}`, `--konnectivity-host=${konnectivity}`, `--edge=${EDGE_ADDRESS}:443`],
        '--ca=/run/snicket/files/tenant-ca.crt',
      ];
      const script = '"$@" 2>&1; echo "exit code $?"';
      const { stdout } = await worker.run(['sh', '-c', script, 'sh', ...args], {
        env: { HOME: '/var/tmp' },
        timeoutMs: 180_000,
      });
      const [, text = '', code] = /^([^]*)exit code (\d+)\n$/.exec(stdout) ?? [];
      return { exitCode: Number(code), text };
    }

    test('no check fails without a fault', async () => {
      // After the faults above, the proxy probes its edge with a back-off of at most half a minute.
      let last = { exitCode: -1, text: '' };
      const passes = async () => {
        last = await fromWorker();
        return last.exitCode === 0;
      };
      await waitFor('nothing fails on the worker', passes, {
        deadlineMs: 120_000,
        everyMs: 500,
      }).catch(() => {
        throw new Error(last.text);
      });

      expect(last.text).toMatch(/^ {2}node-service +Pass +Passed +10\.96\.0\.1:443$/m);
      expect(last.text).toEndWith('1 machine: 0 Fail, 0 Warn, 9 Pass, 0 Skip\n');
    });

    test('the virtual address is missing', async () => {
      const worker = world.tenant('a').worker();
      await worker.exec('ip', 'address', 'del', '100.64.64.1/32', 'dev', 'lo');

      const { exitCode, text } = await fromWorker();

      expect(text).toMatch(/^ {2}node-address +Fail +NodeAddressMissing +100\.64\.64\.1 on lo$/m);
      expect(text).toContain('1 machine: 1 Fail, 0 Warn, 6 Pass, 2 Skip\n');
      expect(exitCode).toBe(1);
    });
  });
});
