import { expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Exposure } from '../../api/exposure.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { LabTenant } from '../../operator/testing/lab-tenant.ts';
import { fileIn } from '../../operator/testing/objects.ts';
import { OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { tenantText } from '../testing/folder-lab.ts';
import { RunLab } from '../testing/run-lab.ts';
import { PROXY_IMAGE, StandaloneLab } from '../testing/standalone-lab.ts';
import { exposureText } from '../testing/texts.ts';

function hasProxies({ server }: LabTenant): boolean {
  return server.read(RESOURCES.daemonSet, PROXY) !== undefined;
}

/** Returns how many writes the API server of a tenant has received, except renewals of the Lease. */
function changesOf({ server }: LabTenant): number {
  return server.writes().filter(({ plural }) => plural !== RESOURCES.lease.plural).length;
}

/** Returns all objects of Snicket in a tenant. */
function traces({ server }: LabTenant): readonly string[] {
  return server
    .readAll()
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'snicket')
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

test('an invalid file changes nothing in the tenant, a fixed one is applied, and a removed one is cleaned up', async () => {
  await using lab = new StandaloneLab();
  const blue = await lab.addTenant('blue');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True/);

  // 1. The user makes a mistake.
  lab.write('blue/tenant.yaml', tenantText(blue).replace('endpoints:', 'endpoint:'));
  const fault = await lab.logged(/^blue\/tenant\.yaml:9:5: .* unknown field "endpoint"/);
  expect(fault).toMatchObject({
    level: 'error',
    file: 'blue/tenant.yaml',
    line: 9,
    column: 5,
    excerpt: '9 |     endpoint:\n        ^',
  });
  expect(await lab.get(blue, '/version')).toContain('v1.');
  expect(await lab.number('snicket_folder_faults')).toBe(2); // the unknown field, and the missing endpoints that type Endpoints requires
  expect((await lab.http('/readyz')).status).toBe(200);

  // 2. The user fixes it, with another change.
  const changed = tenantText(blue).replace('spec:', 'spec:\n  worker: {healthPort: 7555}');
  lab.write('blue/tenant.yaml', changed);
  await lab.until('the change is in the tenant', () =>
    JSON.stringify(blue.server.read(RESOURCES.daemonSet, PROXY)).includes('7555'),
  );
  expect(await lab.number('snicket_folder_faults')).toBe(0);

  // 3. The file is removed with its Secrets. Snicket cleans up the tenant, and then removes its route.
  lab.remove('blue');
  await lab.untilLater('the Exposure is gone', () => lab.exposure('blue') === undefined);
  expect(traces(blue)).toEqual([]);
  await lab.until(
    'the route is gone',
    async () => (await lab.number('snicket_gateway_routes')) === 0,
  );
  await expect(lab.get(blue, '/version')).rejects.toThrow(/unrecognized.name/i);
}, 240_000);

test('warns if no program listens on the port of the Edge, at the start and later', async () => {
  await using lab = new StandaloneLab();
  await lab.addTenant('blue');
  lab.write(
    'edge.yaml',
    readFileSync(join(lab.folder, 'edge.yaml'), 'utf8').replace(`port: ${lab.port}`, 'port: 7'),
  );

  await lab.start();

  const warning = await lab.logged(/^no --listen address has the port of Edge shared, 7/);
  expect(warning.level).toBe('warn');
  lab.writeEdge();
  await lab.stop();
  await lab.start();
  expect(lab.log.filter(({ msg }) => msg.includes('--listen'))).toEqual([]);

  lab.write(
    'edge.yaml',
    readFileSync(join(lab.folder, 'edge.yaml'), 'utf8').replace(`port: ${lab.port}`, 'port: 8'),
  );
  await lab.logged(/^no --listen address has the port of Edge shared, 8/);
}, 240_000);

test('a restart keeps the keys, and cleans up tenants whose files were removed meanwhile', async () => {
  await using before = new RunLab();
  await using lab = new StandaloneLab(before);
  const blue = await before.addTenant('blue');
  const red = await before.addTenant('red');
  await before.start('--proxy-image', PROXY_IMAGE);
  await before.untilCondition('blue', 'WorkersReady', /^True/);
  await before.untilCondition('red', 'WorkersReady', /^True/);
  const key = readFileSync(join(lab.state, 'master.key'), 'utf8');
  const uid = lab.exposure('red')?.metadata.uid;
  await before.stop('SIGKILL');

  // 1. While Snicket is stopped, the files of one tenant are removed with the kubeconfig, and those of the other become
  // invalid.
  lab.remove('blue');
  lab.write('red/tenant.yaml', 'kind: [');
  const writes = changesOf(red);
  await lab.start();

  // 2. The other tenant is served from the start, and nothing in it is written again.
  expect(await lab.get(red, '/version')).toContain('v1.');
  expect(readFileSync(join(lab.state, 'master.key'), 'utf8')).toBe(key);
  expect(lab.exposure('red')?.metadata.uid).toBe(uid);

  // 3. Snicket cleans up the removed tenant with the kubeconfig from the state.
  await lab.untilLater('the Exposure is gone', () => lab.exposure('blue') === undefined);
  expect(traces(blue)).toEqual([]);
  expect(hasProxies(red)).toBe(true);
  expect(changesOf(red)).toBe(writes);
}, 240_000);

test('an Exposure waits for an Edge whose file was never valid, until that is fixed or removed', async () => {
  await using lab = new StandaloneLab();
  await lab.addTenant('blue');
  lab.write('edge.yaml', `${readFileSync(join(lab.folder, 'edge.yaml'), 'utf8')}  domain: {\n`);

  await lab.start();

  await lab.untilCondition(
    'blue',
    'Accepted',
    /^False EdgeNotFound: .* It may be defined in edge\.yaml, which cannot be used\. Correct edge\.yaml\.$/,
  );
  lab.remove('edge.yaml');
  await lab.untilCondition('blue', 'Accepted', /no Edge exists\. Create an Edge/);
  lab.writeEdge();
  await lab.untilCondition('blue', 'Accepted', /^True/);
}, 240_000);

test('after a restart the log lists the Exposures that are still not Ready', async () => {
  await using lab = new StandaloneLab();
  await lab.addTenant('blue');
  lab.write('blue/tenant.yaml', exposureText('blue'));
  await lab.start();
  const before = await lab.logged(/Secret default\/blue-ca does not exist\./);
  await lab.stop();

  await lab.start();

  const after = await lab.logged(/^exposure not ready$/);
  expect(before).toMatchObject({ object: 'Exposure default/blue', reason: 'SecretMissing' });
  const { level, msg: message, reason } = before;
  expect(after).toMatchObject({ level, exposure: 'default/blue', reason, message });
}, 240_000);

test('tenants stay if the folder disappears', async () => {
  await using lab = new StandaloneLab();
  const blue = await lab.addTenant('blue');
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True/);

  lab.remove('.');
  await lab.logged(/cannot be read \(ENOENT\); its last objects stay applied/);

  expect(await lab.get(blue, '/version')).toContain('v1.');
  expect(await lab.number('snicket_folder_readable')).toBe(0);
  expect(hasProxies(blue)).toBe(true);

  // A start without the folder keeps the tenant too.
  await lab.stop();
  await lab.start();
  expect(await lab.get(blue, '/version')).toContain('v1.');
}, 240_000);

test('a replaced kubeconfig is used without a change of the YAML', async () => {
  await using lab = new StandaloneLab();
  const blue = await lab.addTenant('blue');
  const right = blue.kubeconfig;
  lab.write('blue/admin.conf', right.replace(/token: .*/, 'token: of-another-time'));
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^False TenantUnauthorized/);
  expect(hasProxies(blue)).toBe(false);

  lab.write('blue/admin.conf', right);

  await lab.untilCondition('blue', 'WorkersReady', /^True/);
}, 240_000);

test('a lost state is recreated: tenants are adopted again, with the keys of the new state', async () => {
  await using lab = new StandaloneLab();
  const blue = await lab.addTenant('blue');
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  const key = () => fileIn(blue.server.read(RESOURCES.secret, { ...PROXY }), 'tenant.key');
  const before = key();
  await lab.stop();

  rmSync(lab.state, { recursive: true });
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^False TenantOwnedElsewhere/);
  // Follows the advice of the finding instead of waiting.
  await blue.user.delete(RESOURCES.lease, OWNER_LEASE);
  await lab.stop();
  await lab.start();

  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  await lab.until('the tenant has the new key', () => key() !== before);
  expect(await lab.get(blue, '/version')).toContain('v1.');
}, 240_000);

test('terminates during the first read of a large folder, before it accepts connections', async () => {
  await using lab = new RunLab();
  for (let at = 0; at < 3_000; at++) lab.write(`tenant-${at}.yaml`, exposureText(`tenant-${at}`));
  const process = await lab.launch();
  await lab.until('it has begun', async () => (await lab.http('/healthz')).status === 200);

  process.kill('SIGTERM');

  expect(await process.exited).toBe(0);
  const messages = lab.log.map(({ msg }) => msg);
  expect(messages).toContain('stopped');
  expect(messages).not.toContain('accepting connections');
}, 240_000);

test('an Edge is deleted and recreated with its file, and the tenant stays reachable', async () => {
  await using lab = new StandaloneLab();
  const blue = await lab.addTenant('blue');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True/);

  lab.remove('edge.yaml');

  // No finalizer protects the Edge: the file is the spec, and restoring it undoes the removal.
  await lab.untilLater('the removal takes effect', () => {
    const { conditions = [] } = (lab.exposure('blue') as Partial<Exposure>).status ?? {};
    return conditions.some(({ type, reason }) => type === 'Accepted' && reason === 'EdgeNotFound');
  });
  expect(await lab.get(blue, '/version')).toContain('v1.');

  lab.writeEdge();

  await lab.untilCondition('blue', 'Accepted', /^True/);
}, 240_000);
