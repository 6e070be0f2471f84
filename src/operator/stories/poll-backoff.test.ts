import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { objectOf, secretOf } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const TEN_MINUTES_MS = 600_000;

/** How many reconciles take place within ten minutes. */
async function reconcilesOf(lab: OperatorLab): Promise<number> {
  const count = () => lab.number('reconciles_total', 'controller="exposure"');
  const before = count();
  await lab.environment.pass(TEN_MINUTES_MS);
  return count() - before;
}

describe.concurrent('an Exposure that waits is reconciled less and less often', () => {
  test('for a Secret, which is found within a minute or so', async () => {
    await using lab = await OperatorLab.start();
    const { authority } = await lab.addTenant('blue');
    const key = { name: 'blue-ca', namespace: TENANTS };
    await lab.user.delete(RESOURCES.secret, key);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'Prepared', /^False SecretMissing/);

    expect(await reconcilesOf(lab)).toBeLessThan(25);

    const files = { 'tls.crt': authority.certificate, 'tls.key': authority.key };
    lab.management.seed(secretOf(key, files));
    await lab.environment.pass(70_000);
    expect(lab.condition('blue', 'Prepared')).toStartWith('True');
  });

  test('for a Service, which is found at once', async () => {
    await using lab = await OperatorLab.start();
    const { port } = await lab.addTenant('blue');
    const key = { name: 'blue', namespace: TENANTS };
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.user.delete(RESOURCES.service, key);
    await lab.untilCondition('blue', 'Prepared', /^False ServiceMissing/);

    expect(await reconcilesOf(lab)).toBeLessThan(8);

    const ports = [{ name: 'api', port, protocol: 'TCP' }];
    const spec = { clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1'], ports };
    lab.management.seed(objectOf('Service', key, { spec }));
    await lab.environment.pass(1_000);
    expect(lab.condition('blue', 'Prepared')).toStartWith('True');
  });
});
