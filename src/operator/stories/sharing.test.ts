import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../exposure/finalizers.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { until } from '../testing/until.ts';

setDefaultTimeout(120_000);

function holder(proxies: KubeObject | undefined): string | undefined {
  return proxies?.metadata.annotations?.['snicket.dev/exposure'];
}

describe.concurrent('two Exposures of one control plane', () => {
  test('do not fight over its proxies: the second is told whose they are', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const { server } = await lab.addExposed('blue');
    await lab.expose('copy', {}, 'blue');

    const said = await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);

    expect(said).toContain('those of Exposure tenants/blue');
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/blue');
    await lab.untilQuiet(6);
    const before = server.writes().length;
    await lab.untilLookedAt(6);
    expect(server.writes().length).toBe(before);
  });

  test('the second leaves without touching what is of the first', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    const before = server.writes().length;
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);
    // As if it had written there once, before the other one did.
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await lab.change(RESOURCES.exposure, 'copy', { metadata: { finalizers } });

    await lab.untilGone('copy');

    expect(server.writes().length).toBe(before);
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/blue');
  });

  test('the second takes over when the first is gone', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);

    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'TenantReady', /^True/);
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/copy');
  });

  test('both at the same moment come to rest with one of them', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const { server } = await lab.addTenant('blue');

    await Promise.all([lab.expose('blue'), lab.expose('copy', {}, 'blue')]);

    const verdict = (name: string) => lab.condition(name, 'TenantReady') ?? '';
    await until('one has it', () => {
      const both = [verdict('blue'), verdict('copy')];
      return (
        both.some((text) => text.startsWith('True')) &&
        both.some((text) => text.startsWith('False TenantTaken'))
      );
    });
    await lab.untilQuiet(6);
    const winner = verdict('blue').startsWith('True') ? 'tenants/blue' : 'tenants/copy';
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe(winner);
  });
});
