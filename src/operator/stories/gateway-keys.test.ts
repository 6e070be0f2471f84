import { expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { encoded, fileIn } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const MINUTE_MS = 60_000;
/** In this time, the period between two full reconciles grows to an hour. */
const UNTIL_STEADY_MS = 180 * MINUTE_MS;
/** The operator reads the keys every two minutes, with jitter. */
const UNTIL_READ_MS = 3 * MINUTE_MS;

test('a new gateway key reaches a steady tenant long before its next full reconcile', async () => {
  await using lab = await OperatorLab.start({ hasGateway: true });
  const { server, controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True Ready/);
  const { clock } = lab.environment;
  const pass = async (ms: number) => {
    const endMs = clock.nowMs() + ms;
    await lab.until('time has passed', () => clock.nowMs() >= endMs);
  };
  const tenantKey = () => fileIn(server.read(RESOURCES.secret, PROXY), 'tenant.key');
  const first = tenantKey();
  expect(first).not.toBe('');
  await pass(UNTIL_STEADY_MS);
  const reconciles = () => lab.number('reconciles_total', 'controller="exposure"');
  const before = reconciles();
  while (reconciles() === before) await pass(MINUTE_MS);
  expect(tenantKey()).toBe(first);

  const keys = { name: 'snicket-gateway-keys', namespace: SYSTEM_NAMESPACE };
  const data = encoded({ 'master.key': `${Buffer.alloc(32, 7).toString('base64')}\n` });
  await lab.user.patch(RESOURCES.secret, keys, 'merge', { data });
  await pass(UNTIL_READ_MS);

  expect(tenantKey()).not.toBe(first);
});

test('deleted gateway keys are restored, and no tenant gets another key', async () => {
  await using lab = await OperatorLab.start();
  const keys = { name: 'snicket-gateway-keys', namespace: SYSTEM_NAMESPACE };
  const lines = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const text = `${lines.join('\n')}\n`;
  const { server, controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  await lab.user.patch(RESOURCES.secret, keys, 'merge', {
    data: encoded({ 'master.key': `# both are in use\n${text}` }),
  });
  await lab.environment.pass(UNTIL_READ_MS);
  const tenantKey = () => fileIn(server.read(RESOURCES.secret, PROXY), 'tenant.key');
  const before = tenantKey();

  await lab.user.delete(RESOURCES.secret, keys);
  await lab.environment.pass(UNTIL_READ_MS);

  expect(fileIn(lab.management.read(RESOURCES.secret, keys), 'master.key')).toBe(text);
  expect(tenantKey()).toBe(before);
  const warned = lab.log.filter(({ level }) => level === 'warn');
  expect(warned).toMatchObject([
    { msg: 'gateway keys restored', secret: 'snicket-system/snicket-gateway-keys' },
  ]);
});
