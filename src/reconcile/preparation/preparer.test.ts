import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { valueAt } from '../../kube/unstructured.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import type { PreparationOutcome } from './next-step.ts';
import { Preparer } from './preparer.ts';
import { BLUE, PreparationLab, SPEC } from './testing/preparation-lab.ts';

setDefaultTimeout(240_000);

const ARGUMENTS = 'spec.controlPlane.deployment.extraArgs.apiServer';
const NAMES = 'spec.networkProfile.certSANs';
const HOST = 'spec.controlPlane.ingress.hostname';
const CLASS = 'spec.controlPlane.ingress.ingressClassName';

function at(lab: PreparationLab, path: string): unknown {
  return valueAt(lab.tenant(), ...path.split('.'));
}

describe.concurrent('prepare: Patch', () => {
  test('records and writes all fields, in one request each, and then no more', async () => {
    await using lab = await PreparationLab.start();
    const before = lab.server.writes().length;

    const outcome = await lab.prepare();
    const again = await lab.prepare();

    expect(outcome).toMatchObject({ isPrepared: true, findings: [] });
    expect(again).toMatchObject({ isPrepared: true, findings: [] });
    expect(lab.server.writes().length).toBe(before + 2);
    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');
    expect(at(lab, ARGUMENTS)).toEqual(['--endpoint-reconciler-type=none']);
    expect(at(lab, 'spec.controlPlane.deployment.replicas')).toBe(2);
    const ours = lab.tenant().metadata.managedFields?.find(({ manager }) => manager === 'snicket');
    expect(ours?.operation).toBe('Apply');
    expect(JSON.stringify(ours?.fieldsV1)).not.toContain('replicas');
  });

  test('overwrites no field of another manager: it reports the manager, the fields and their values', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['own.example.test'] });
    const before = lab.tenant();

    const outcome = await lab.prepare();

    expect(outcome.isPrepared).toBe(false);
    expect(outcome.findings).toEqual([
      {
        code: 'FieldConflict',
        severity: 'error',
        message:
          'Field manager user owns .spec.networkProfile.certSANs (["own.example.test"], desired ["own.example.test","blue.k8s.example.test","blue.konnectivity.example.test"]) of TenantControlPlane tenants/blue, so Snicket wrote nothing.',
        action:
          'Set the fields yourself (snicket render shows them as YAML) where user sets its own, or set prepare: Force.',
      },
    ]);
    expect(lab.paste()).toContain('- own.example.test\n');
    expect(lab.tenant()).toEqual(before);
  });

  test('accepts values that the user has written', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'blue.k8s.example.test:443',
      [NAMES]: ['blue.konnectivity.example.test', 'own.example.test', 'blue.k8s.example.test'],
    });

    const outcome = await lab.prepare();

    expect(outcome.isPrepared).toBe(true);
    expect(at(lab, NAMES)).toEqual([
      'blue.konnectivity.example.test',
      'own.example.test',
      'blue.k8s.example.test',
    ]);
  });

  test('two Exposures with different values for one field: the second reports the first, and the value stays', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    await lab.change({ [HOST]: 'elsewhere.example.test:443' });

    const outcome = await lab.prepare();

    expect(outcome.findings[0]?.message).toContain(
      'argocd-controller owns .spec.controlPlane.ingress.hostname ("elsewhere.example.test:443", desired "blue.k8s.example.test:443")',
    );
    expect(at(lab, HOST)).toBe('elsewhere.example.test:443');
  });

  test('two Exposures for one tenant: the second writes nothing until the first is gone', async () => {
    await using lab = await PreparationLab.start();
    await lab.addExposure('second');
    await lab.prepare();
    const before = lab.tenant();
    const spec = { ...SPEC, hosts: { ...SPEC.hosts, api: 'other.example.test' } };

    const outcome = await lab.prepare('Force', { spec, exposure: lab.exposure('second') });
    const [after, record] = [lab.tenant(), lab.record('second')];
    await lab.restore();
    lab.preparer.forget('tenants/blue');
    const afterwards = await lab.prepare('Force', { spec, exposure: lab.exposure('second') });

    expect(outcome.findings).toMatchObject([
      { code: 'ControlPlaneConflict', message: expect.stringContaining('Exposure tenants/blue') },
    ]);
    expect(after).toEqual(before);
    expect(record).toBeUndefined();
    expect(afterwards.isPrepared).toBe(true);
    expect(at(lab, HOST)).toBe('other.example.test:443');
  });

  test('two Exposures at the same time: one of them has the tenant, before any watch reports it', async () => {
    await using lab = await PreparationLab.start();
    await lab.addExposure('second');
    const spec = { ...SPEC, hosts: { ...SPEC.hosts, api: 'other.example.test' } };

    const outcomes = await Promise.all([
      lab.prepare('Force'),
      lab.prepare('Force', { spec, exposure: lab.exposure('second') }),
    ]);

    expect(outcomes.filter(({ isPrepared }) => isPrepared).length).toBe(1);
    expect(outcomes.flatMap(({ findings }) => findings)).toMatchObject([
      { code: 'ControlPlaneConflict' },
    ]);
    const records = [lab.record('blue'), lab.record('second')];
    expect(records.filter((record) => record !== undefined).length).toBe(1);
  });

  test('an Exposure whose record could not be written does not block another one', async () => {
    await using lab = await PreparationLab.start();
    await lab.addExposure('second');
    lab.server.inject(
      { kind: 'error', status: 403, reason: 'Forbidden' },
      { verb: 'patch', plural: 'exposures', name: 'blue' },
    );

    await expect(lab.prepare()).rejects.toMatchObject({ reason: 'Forbidden' });
    const outcome = await lab.prepare('Patch', { exposure: lab.exposure('second') });

    expect(outcome).toMatchObject({ isPrepared: true, findings: [] });
    expect(lab.record()).toBeUndefined();
  });

  test('an Exposure that removes its record does not block another one, even before the response to the write', async () => {
    await using lab = await PreparationLab.start();
    await lab.addExposure('second');
    await lab.prepare();
    // A tenant with another uid, which has all values: the record has nothing to name any more.
    const { metadata: _, ...tenant } = lab.tenant();
    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);
    await lab.user.create(PROVIDER_RESOURCES.kamaji, { ...tenant, metadata: BLUE });
    let meanwhile: PreparationOutcome | undefined;
    const watched = new Proxy(lab.client, {
      get(target, name: 'get' | 'apply' | 'patch') {
        const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name !== 'patch') return call;
        return async (...args: unknown[]) => {
          const answer = await call(...args);
          meanwhile = await lab.prepare('Patch', { exposure: lab.exposure('second') });
          return answer;
        };
      },
    });
    lab.preparer = new Preparer(watched, { clock: lab.clock });

    await lab.prepare();

    expect(lab.record()).toBeUndefined();
    expect(meanwhile).toMatchObject({ isPrepared: true, findings: [] });
  });

  test('a copy of an Exposure does not own the record that was copied with it', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const annotations = { [RECORD_ANNOTATION]: lab.record() ?? '' };
    await lab.addExposure('copy', annotations);

    expect(await lab.prepare()).toMatchObject({ isPrepared: true });
    expect((await lab.prepare('Force', { exposure: lab.exposure('copy') })).findings).toMatchObject(
      [{ code: 'ControlPlaneConflict' }],
    );
    const before = lab.tenant();
    expect(await lab.restore({ exposure: lab.exposure('copy') })).toBeUndefined();
    expect(lab.tenant()).toEqual(before);
  });

  test('uses the current object, not the one of a watch', async () => {
    await using lab = await PreparationLab.start();
    const stale = lab.tenant();
    await lab.change({ 'spec.kubernetes.version': 'v1.36.0' }, lab.user);

    const outcome = await lab.prepare('Patch', { object: stale });

    expect(outcome.isPrepared).toBe(true);
    expect(at(lab, 'spec.kubernetes.version')).toBe('v1.36.0');
  });

  test('reads again when another client writes in between, and keeps its values', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['own.example.test'] });
    let isFirst = true;
    const watched = new Proxy(lab.client, {
      get(target, name: 'get' | 'apply' | 'patch') {
        const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name !== 'get') return call;
        return async (...args: unknown[]) => {
          const found = await call(...args);
          if (isFirst)
            await lab.change({ [NAMES]: ['his.example.test'], [HOST]: 'his.example.test' });
          isFirst = false;
          return found;
        };
      },
    });
    lab.preparer = new Preparer(watched, { clock: lab.clock });

    const outcome = await lab.prepare('Force');
    const names = at(lab, NAMES);
    await lab.restore();

    expect(outcome.isPrepared).toBe(true);
    expect(names).toEqual(['his.example.test', ...Object.values(SPEC.hosts)]);
    expect(at(lab, HOST)).toBe('his.example.test');
  });

  test('restores a field that another client keeps removing with backoff, and reports it', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const takeAway = async () => lab.change({ 'spec.controlPlane.ingress': null });
    await takeAway();

    const waits = [await lab.prepare()];
    for (let times = 0; times < 3; times++) {
      lab.clock.advance(waits.at(-1)?.requeueAfterMs ?? 0);
      expect(await lab.prepare()).toMatchObject({ isPrepared: true });
      await takeAway();
      waits.push(await lab.prepare());
    }

    expect(waits.map(({ requeueAfterMs }) => requeueAfterMs)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits[0]?.findings).toMatchObject([{ code: 'FieldConflict' }]);
    expect(waits[0]?.findings[0]?.message).toStartWith(
      `Another client reverts Snicket's changes to TenantControlPlane tenants/blue, since 2026-11-16T10:00:00Z (other field managers: user): .spec.controlPlane.ingress.hostname is unset, desired "blue.k8s.example.test:443"; .spec.controlPlane.ingress.ingressClassName is unset, desired "snicket-unhandled".`,
    );
    expect(waits[3]?.findings).toEqual(waits[0]!.findings);
  });

  test('accepts its own values if another client has removed the record', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    await lab.changeRecord(null);
    const before = lab.tenant();

    expect(await lab.prepare()).toMatchObject({ isPrepared: true, findings: [] });

    expect(lab.tenant()).toEqual(before);
    expect(lab.record()).toBeUndefined();
  });

  test('removes nothing with the next write if another client has removed the record', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    await lab.changeRecord(null);
    const spec = { ...SPEC, hosts: { ...SPEC.hosts, api: 'new.k8s.example.test' } };
    const classes: unknown[] = [];
    const watched = new Proxy(lab.client, {
      get(target, name: 'get' | 'apply' | 'patch') {
        const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) =>
          call(...args).finally(() => classes.push(at(lab, CLASS)));
      },
    });
    lab.preparer = new Preparer(watched, { clock: lab.clock });

    expect(await lab.prepare('Patch', { spec })).toMatchObject({ isPrepared: true });

    expect(new Set(classes)).toEqual(new Set(['snicket-unhandled']));
    expect(at(lab, HOST)).toBe('new.k8s.example.test:443');
  });

  test('has no conflict with its own restored values', async () => {
    await using lab = await PreparationLab.start();
    await lab.client.patch(PROVIDER_RESOURCES.kamaji, BLUE, 'merge', {
      spec: { controlPlane: { ingress: { hostname: 'old.example.test' } } },
    });

    const outcome = await lab.prepare();

    expect(outcome).toMatchObject({ isPrepared: true, findings: [] });
    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');
  });

  test('reports only the other managers of a conflict that involves itself', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['own.example.test'] });
    await lab.client.patch(PROVIDER_RESOURCES.kamaji, BLUE, 'merge', {
      spec: { controlPlane: { ingress: { hostname: 'old.example.test' } } },
    });

    const outcome = await lab.prepare();

    expect(outcome.findings).toMatchObject([{ code: 'FieldConflict' }]);
    expect(outcome.findings[0]?.message).toStartWith(
      'Field manager user owns .spec.networkProfile.certSANs (["own.example.test"], desired ["own.example.test","blue.k8s.example.test","blue.konnectivity.example.test"]) of TenantControlPlane tenants/blue, so Snicket wrote nothing.',
    );
    expect(at(lab, HOST)).toBe('old.example.test');
  });

  test('does not create a tenant that was deleted meanwhile', async () => {
    await using lab = await PreparationLab.start();
    const object = lab.tenant();
    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);

    const outcome = await lab.prepare('Force', { object });

    expect(outcome.findings).toMatchObject([
      {
        code: 'ControlPlaneMissing',
        message: 'TenantControlPlane tenants/blue was deleted while Snicket prepared it.',
      },
    ]);
    expect(lab.server.read(PROVIDER_RESOURCES.kamaji, BLUE)).toBeUndefined();
  });

  test('ignores a later tenant of the same name', async () => {
    await using lab = await PreparationLab.start();
    const object = lab.tenant();
    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);
    await lab.userApplies({});

    const outcome = await lab.prepare('Patch', { object });

    expect(outcome.findings).toMatchObject([{ code: 'ControlPlaneMissing' }]);
    expect(at(lab, HOST)).toBeUndefined();
  });

  test('writes nothing if there is an error', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['blue.k8s.example.test:443'] });
    const before = lab.tenant();

    const outcome = await lab.prepare('Force');

    expect(outcome.findings).toMatchObject([{ code: 'FieldInvalid' }]);
    expect(lab.tenant()).toEqual(before);
  });

  test('writes nothing that could not be restored', async () => {
    const long = Array.from({ length: 2_000 }, (_, index) => `own-${index}.example.test`);
    await using lab = await PreparationLab.start({ [HOST]: long.join('.') });

    const outcome = await lab.prepare('Force');

    expect(outcome.findings).toMatchObject([{ code: 'FieldInvalid' }]);
    expect(at(lab, CLASS)).toBeUndefined();
  });

  test('does not continue from an invalid record', async () => {
    await using lab = await PreparationLab.start();
    await lab.changeRecord('{"fields":1}');

    const outcome = await lab.prepare();

    expect(outcome.findings).toMatchObject([{ code: 'PreparationRecordInvalid' }]);
    expect(at(lab, HOST)).toBeUndefined();
  });

  test('changes neither tenant nor record if a newer version has written the record', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const text = `{ "version":2,  "sealed": "${'x'.repeat(40_000)}" }`;
    await lab.changeRecord(text);
    const before = lab.tenant();
    const spec = { ...SPEC, port: 8443 };

    const outcome = await lab.prepare('Force', { spec });
    const restored = await lab.restore({ isLate: true });

    expect(outcome.isPrepared).toBe(false);
    expect(outcome.findings).toMatchObject([
      {
        code: 'PreparationRecordInvalid',
        message:
          "The annotation snicket.dev/preparation of Exposure tenants/blue has version 2, but this version of Snicket reads version 1. Snicket changes neither the control plane's objects nor the annotation.",
      },
    ]);
    expect(restored).toContain('has version 2');
    expect(lab.tenant()).toEqual(before);
    expect(lab.record()).toBe(text);
  });

  test('a later tenant of the same name is prepared again, and the record of the first is removed', async () => {
    await using lab = await PreparationLab.start({ [HOST]: 'old.example.test' });
    await lab.prepare('Force');
    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);
    await lab.userApplies({ [HOST]: 'blue.k8s.example.test:443' });

    expect(await lab.restore()).toBeUndefined();
    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');

    await lab.prepare('Force');
    const [first, ...others] = (JSON.parse(lab.record() ?? '') as { objects: { uid: string }[] })
      .objects;
    expect(others).toEqual([]);
    expect(first?.uid).toBe(lab.tenant().metadata.uid);
  });

  test('another spec changes the fields, and nothing remains of the first one', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['own.example.test'] });
    await lab.prepare('Force');

    const hosts = { api: 'new.k8s.example.test', konnectivity: 'new.konnectivity.example.test' };
    await lab.prepare('Force', { spec: { hosts, port: 8443 } });

    expect(at(lab, HOST)).toBe('new.k8s.example.test:8443');
    expect(at(lab, NAMES)).toEqual(['own.example.test', ...Object.values(hosts)]);
    expect(at(lab, 'spec.addons.konnectivity.agent.extraArgs')).toEqual([
      '--proxy-server-host=new.konnectivity.example.test',
      '--proxy-server-port=8443',
    ]);
  });
});

describe.concurrent('prepare: Report', () => {
  test('writes nothing, and reports the fields that the user has to write', async () => {
    await using lab = await PreparationLab.start();
    const before = lab.tenant();

    const outcome = await lab.prepare('Report');

    expect(outcome.isPrepared).toBe(false);
    expect(outcome.findings).toMatchObject([{ code: 'PreparationRequired' }]);
    expect(outcome.findings[0]?.message).toContain(
      'TenantControlPlane tenants/blue lacks fields that it needs behind the edge: .spec.controlPlane.ingress.hostname is unset, desired "blue.k8s.example.test:443"; .spec.controlPlane.ingress.ingressClassName is unset, desired "snicket-unhandled"; .spec.networkProfile.certSANs is unset, desired ["blue.k8s.example.test","blue.konnectivity.example.test"]; .spec.controlPlane.deployment.extraArgs.apiServer is unset, desired ["--endpoint-reconciler-type=none"]; .spec.addons.konnectivity.agent.extraArgs is unset, desired ["--proxy-server-host=blue.konnectivity.example.test","--proxy-server-port=443"].',
    );
    expect(lab.paste()).toContain('hostname: blue.k8s.example.test:443\n');
    expect(lab.record()).toBeUndefined();
    expect(lab.tenant()).toEqual(before);
  });

  test('is prepared once the user has written it', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare('Patch');

    expect(await lab.prepare('Report')).toMatchObject({ isPrepared: true, findings: [] });
  });
});

describe.concurrent('prepare: Force', () => {
  test('takes over fields, and keeps the entries of others', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'old.example.test',
      [NAMES]: ['own.example.test'],
    });

    const outcome = await lab.prepare('Force');

    expect(outcome.isPrepared).toBe(true);
    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');
    expect(at(lab, NAMES)).toEqual(['own.example.test', ...Object.values(SPEC.hosts)]);
  });

  test('backs off from a client that writes another value each time', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare('Force');

    const waits: (number | undefined)[] = [];
    for (const name of ['one', 'two', 'three']) {
      await lab.change({ [NAMES]: [`${name}.example.test`] });
      const { requeueAfterMs } = await lab.prepare('Force');
      waits.push(requeueAfterMs);
      lab.clock.advance(requeueAfterMs ?? 0);
      expect(await lab.prepare('Force')).toMatchObject({ isPrepared: true });
    }

    expect(waits).toEqual([1_000, 2_000, 4_000]);
  });

  test('backs off from a client that reverts it, and reports the same until that ends', async () => {
    await using lab = await PreparationLab.start({ [HOST]: 'old.example.test' });
    await lab.prepare('Force');
    await lab.userApplies({ [HOST]: 'old.example.test' }, true);

    const contested = await lab.prepare('Force');
    lab.clock.advance(500);
    const still = await lab.prepare('Force');
    lab.clock.advance(1_500);
    const later = await lab.prepare('Force');
    await lab.userApplies({ [HOST]: 'old.example.test' }, true);
    const again = await lab.prepare('Force');

    expect(contested.findings).toMatchObject([{ code: 'FieldConflict' }]);
    expect(contested.findings[0]?.message).toBe(
      `Field manager user reverts Snicket's changes to TenantControlPlane tenants/blue, since 2026-11-16T10:00:00Z: .spec.controlPlane.ingress.hostname is "old.example.test", desired "blue.k8s.example.test:443".`,
    );
    expect(contested.requeueAfterMs).toBe(1_000);
    expect(still.findings).toEqual(contested.findings);
    expect(later.isPrepared).toBe(true);
    expect(again.findings).toEqual(contested.findings);
    expect(again.requeueAfterMs).toBe(2_000);
  });

  /** A lab with a webhook that changes what Snicket writes. */
  async function startWithWebhook(): Promise<PreparationLab> {
    const lab = await PreparationLab.start();
    const changing = new Proxy(lab.client, {
      get(target, name: 'get' | 'apply' | 'patch') {
        const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name !== 'apply') return call;
        return async (...args: unknown[]) => {
          await call(...args);
          await lab.change({ [CLASS]: 'haproxy' });
          return lab.tenant();
        };
      },
    });
    lab.preparer = new Preparer(changing, { clock: lab.clock });
    return lab;
  }

  test('reports a webhook that changes it in the same way after an attempt and during backoff', async () => {
    await using lab = await startWithWebhook();

    const tried = await lab.prepare('Force');
    const waiting = await lab.prepare('Force');

    expect(tried.findings).toMatchObject([{ code: 'PreparationRejected' }]);
    expect(waiting.findings).toEqual(tried.findings);
    expect(waiting.requeueAfterMs).toBe(1_000);
  });

  test('forgets a webhook with the Exposure', async () => {
    await using lab = await startWithWebhook();
    const found = await lab.prepare('Force');

    lab.preparer.forget('tenants/blue');

    const waiting = await lab.prepare('Force');
    expect(found.findings).toMatchObject([{ code: 'PreparationRejected' }]);
    expect(waiting.findings).toMatchObject([{ code: 'FieldConflict' }]);
  });
});
