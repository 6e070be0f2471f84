/**
 * The process of all simulated tenants: `main.ts PLAN ACCESS SOCKET`. Reads the planned tenants, writes their
 * credentials, and serves requests of the bench on the socket.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { RESOURCES } from '../../../src/kube/resource.ts';
import { KUBERNETES } from '../../../src/tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY } from '../../../src/tenant/proxy-names.ts';
import type { TenantPlan } from '../plan.ts';
import { RequestCounts } from '../request-counts.ts';
import { serveControl } from './control.ts';
import { reachesApiServer } from './handshake.ts';
import { Tenant } from './tenant.ts';

const [plan = '', access = '', socket = ''] = process.argv.slice(2);
const DRIFT = {
  slice: { resource: RESOURCES.endpointSlice, key: KUBERNETES },
  daemonSet: { resource: RESOURCES.daemonSet, key: PROXY },
} as const;
const DEADLINE_MS = 60_000;
const EVERY_MS = 10;

const counts = new RequestCounts();
const tenants = new Map<string, Tenant>();
for (const tenantPlan of JSON.parse(readFileSync(plan, 'utf8')) as readonly TenantPlan[]) {
  tenants.set(tenantPlan.name, await Tenant.start(tenantPlan, counts));
}
const accesses = Object.fromEntries([...tenants].map(([name, tenant]) => [name, tenant.access]));
writeFileSync(`${access}.new`, JSON.stringify(accesses), { mode: 0o600 });
renameSync(`${access}.new`, access);

serveControl(socket, {
  counts: () => counts.requests,
  page: async ({ url }) => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text(),
  repair: async ({ tenant, object }) => {
    const { resource, key } = DRIFT[object];
    return tenantOf(tenant).deleteAndAwait(resource, key, DEADLINE_MS);
  },
  served: async ({ tenant, edge }) => {
    const { access: tenantAccess, plan: planned } = tenantOf(tenant);
    const deadline = Date.now() + DEADLINE_MS;
    while (!(await reachesApiServer(edge, planned.apiHost, tenantAccess.caCertificate))) {
      if (Date.now() > deadline) throw new Error(`the edge does not route to ${planned.apiHost}`);
      await Bun.sleep(EVERY_MS);
    }
    return Date.now();
  },
});

function tenantOf(name: string): Tenant {
  const tenant = tenants.get(name);
  if (tenant === undefined) throw new Error(`no tenant ${name}`);
  return tenant;
}
