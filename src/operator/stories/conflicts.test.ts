import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { until } from '../testing/until.ts';

setDefaultTimeout(120_000);

const WISH = { hosts: { api: 'wanted.example.test' } };

async function twoWho(lab: OperatorLab, first: string, second: string): Promise<void> {
  await lab.addTenant(first);
  await lab.addTenant(second);
  await lab.expose(first, WISH);
  await until(`${first} is routed`, () => lab.statusOf(first)?.route);
  await lab.expose(second, WISH);
}

describe.concurrent('two Exposures that wish for the same host', () => {
  test('the one that is routed keeps it, and the other is told who has it', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.traefik.spec });
    // By name, alpha would come first if both are of the same second.
    await twoWho(lab, 'zeta', 'alpha');

    const refusal = await lab.untilCondition('alpha', 'Accepted', /^False HostConflict/);

    expect(refusal).toContain('wanted.example.test is held by Exposure tenants/zeta since');
    expect(lab.statusOf('zeta')?.route?.api.host).toBe('wanted.example.test');
    expect(lab.statusOf('alpha')?.route).toBeUndefined();
    expect(lab.read(RESOURCES.ingressRouteTcp, 'snicket-alpha')).toBeUndefined();
    expect(lab.condition('alpha', 'Ready')).toStartWith('False HostConflict');
    expect(lab.condition('zeta', 'Accepted')).toStartWith('True');
  });

  test('the other takes over when the first one is gone', async () => {
    await using lab = await OperatorLab.start();
    await twoWho(lab, 'blue', 'green');
    await lab.untilCondition('green', 'Accepted', /^False HostConflict/);

    await lab.untilGone('blue');

    await lab.untilCondition('green', 'TenantReady', /^True/);
    expect(lab.statusOf('green')?.route?.api.host).toBe('wanted.example.test');
  });

  test('the other takes over when the first one wishes for another host', async () => {
    await using lab = await OperatorLab.start();
    await twoWho(lab, 'blue', 'green');
    await lab.untilCondition('green', 'Accepted', /^False HostConflict/);

    await lab.expose('blue', { hosts: { api: 'another.example.test' } });

    await lab.untilCondition('green', 'Accepted', /^True/);
    expect(lab.statusOf('green')?.route?.api.host).toBe('wanted.example.test');
    expect(lab.statusOf('blue')?.route?.api.host).toBe('another.example.test');
  });

  test('names that make the same host are caught too', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    await lab.addTenant('green');

    await lab.expose('green', { hosts: { konnectivity: 'tenants-blue.k8s.example.test' } });

    const refusal = await lab.untilCondition('green', 'Accepted', /^False HostConflict/);
    expect(refusal).toContain('Exposure tenants/blue');
  });
});

const HOST = 'tenants-blue.k8s.example.test';

/** Of somebody in another namespace, on the same edge. */
const CLAIMS = {
  haproxy: {
    ingressClassName: 'haproxy',
    rules: [{ host: HOST, http: { paths: [] } }],
  },
  traefik: {
    entryPoints: ['websecure'],
    routes: [{ match: `HostSNI(\`${HOST}\`)`, services: [] }],
  },
  contour: { virtualhost: { fqdn: HOST } },
  'gateway-api': {
    parentRefs: [{ namespace: 'default', name: 'shared', sectionName: 'tls' }],
    hostnames: [HOST],
  },
} as const;

/** The same object, with no claim on our host any more. */
const AMENDED = {
  haproxy: { rules: [{ host: 'shop.example.test', http: { paths: [] } }] },
  traefik: { routes: [{ match: 'HostSNI(`shop.example.test`)', services: [] }] },
  contour: { virtualhost: { fqdn: 'shop.example.test' } },
  'gateway-api': { hostnames: ['shop.example.test'] },
} as const;

describe.concurrent("a stranger's object that claims our host", () => {
  test.each(Object.keys(CLAIMS) as (keyof typeof CLAIMS)[])(
    'is named while it does, behind %s',
    async (driver) => {
      const { spec, objects, resource } = LAB_EDGES[driver];
      await using lab = await OperatorLab.start({ edge: spec });
      lab.management.seed(...objects);
      await lab.addExposed('blue');
      // Once this is known, nothing but the claim gives reason to look again.
      await lab.untilCondition('blue', 'Reachable', /^False EdgeRefused/);
      const shop = { name: 'shop', namespace: 'default' };
      const { apiVersion, kind } = resource;
      const claim = { apiVersion, kind, metadata: shop, spec: CLAIMS[driver] };

      await lab.user.apply(claim);

      const said = await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
      expect(said).toContain(`${HOST} is claimed by ${kind} default/shop too`);

      await lab.user.patch(resource, shop, 'merge', { spec: AMENDED[driver] });

      await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);

      await lab.user.apply(claim, { force: true });
      await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
      await lab.user.delete(resource, shop);

      await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);
    },
  );

  test('is named though it says that it belongs to the Exposure', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    const { labels, ownerReferences } = lab.read(resource, 'snicket-blue.haproxy')!.metadata;
    const { apiVersion, kind } = resource;
    const metadata = {
      name: 'snicket-blue.haproxy',
      namespace: 'default',
      labels,
      ownerReferences,
    };

    await lab.user.apply({ apiVersion, kind, metadata, spec: CLAIMS.haproxy } as KubeObject);

    const said = await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
    expect(said).toContain(`${HOST} is claimed by Ingress default/snicket-blue.haproxy too`);

    await lab.user.delete(resource, metadata);

    await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);
  });

  test('takes nothing away from what was routed before', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    const { apiVersion, kind } = resource;
    const metadata = { name: 'shop', namespace: 'default' };

    await lab.user.apply({ apiVersion, kind, metadata, spec: CLAIMS.haproxy });

    await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
    expect(lab.read(resource, 'snicket-blue.haproxy')).toBeDefined();
    expect(lab.statusOf('blue')?.route?.api.host).toBe(HOST);
    expect(lab.condition('blue', 'TenantReady')).toStartWith('True');
  });
});
