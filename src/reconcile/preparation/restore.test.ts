import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  changed,
  clusterDeployment,
  deploymentOf,
  NAMESPACE,
} from '../../providers/testing/provider-objects.ts';
import { Preparer } from './preparer.ts';
import { BLUE, PreparationLab, SPEC } from './testing/preparation-lab.ts';

setDefaultTimeout(240_000);

const ARGUMENTS = 'spec.controlPlane.deployment.extraArgs.apiServer';
const NAMES = 'spec.networkProfile.certSANs';
const HOST = 'spec.controlPlane.ingress.hostname';
const CLASS = 'spec.controlPlane.ingress.ingressClassName';
const NONE = '--endpoint-reconciler-type=none';

function at(lab: PreparationLab, path: string): unknown {
  return valueAt(lab.tenant(), ...path.split('.'));
}

/** All but what changes with every write. */
function content({ metadata, ...object }: KubeObject): unknown {
  const {
    resourceVersion: _,
    generation: __,
    managedFields: ___,
    annotations = {},
    ...rest
  } = metadata;
  return { ...object, metadata: { ...rest, annotations } };
}

function managers(lab: PreparationLab): readonly (string | undefined)[] {
  return (lab.tenant().metadata.managedFields ?? []).map(({ manager }) => manager);
}

describe.concurrent('an Exposure that goes', () => {
  test('restores a tenant without previous fields: no field, no record, no field manager', async () => {
    await using lab = await PreparationLab.start();
    const before = content(lab.tenant());
    await lab.prepare();

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
    expect(managers(lab)).toEqual(['user']);
  });

  test('restores values that were overwritten by force, and lists', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'old.example.test',
      [CLASS]: 'haproxy',
      [NAMES]: ['own.example.test', 'blue.k8s.example.test'],
      [ARGUMENTS]: ['--audit-log-path=-', '--endpoint-reconciler-type=lease', '--v=2'],
    });
    const before = content(lab.tenant());
    await lab.prepare('Force');
    expect(at(lab, ARGUMENTS)).toEqual(['--audit-log-path=-', NONE, '--v=2']);

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
    // The previous owner of the values can apply others without a conflict with Snicket.
    expect(managers(lab)).toEqual(['user']);
    await lab.userApplies({ [HOST]: 'new.example.test', [NAMES]: ['new.example.test'] });
    expect(at(lab, NAMES)).toEqual(['new.example.test']);
  });

  test('keeps hosts that the user had written and that the final spec has', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'blue.k8s.example.test:443',
      [NAMES]: ['10.0.0.1', ...Object.values(SPEC.hosts)],
    });
    const before = content(lab.tenant());
    const hosts = { api: 'made.k8s.example.test', konnectivity: 'made.konnectivity.example.test' };
    await lab.prepare('Force', { spec: { ...SPEC, hosts } });
    await lab.prepare('Force');

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
  });

  test('keeps values without an owner that already satisfied the spec', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'blue.k8s.example.test:443',
      [CLASS]: 'snicket-unhandled',
      [NAMES]: ['10.0.0.1', 'blue.k8s.example.test'],
      [ARGUMENTS]: ['--v=2', NONE],
    });
    await lab.change({ metadata: { managedFields: [{}] } });
    const before = content(lab.tenant());
    expect(await lab.prepare()).toMatchObject({ isPrepared: true });

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
  });

  test('keeps values that a user has written since then', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    await lab.change({
      [HOST]: 'his.example.test:443',
      [NAMES]: [...Object.values(SPEC.hosts), 'his.example.test'],
      [ARGUMENTS]: ['--v=4', NONE],
    });

    expect(await lab.restore()).toBeUndefined();

    expect(at(lab, HOST)).toBe('his.example.test:443');
    expect(at(lab, NAMES)).toEqual(['his.example.test']);
    expect(at(lab, ARGUMENTS)).toEqual(['--v=4']);
    expect(at(lab, CLASS)).toBeUndefined();
  });

  test('keeps fields that a user has copied to git, as recommended', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const his = {
      [HOST]: 'blue.k8s.example.test:443',
      [NAMES]: Object.values(SPEC.hosts),
    };
    await lab.userApplies(his);

    expect(await lab.restore()).toBeUndefined();

    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');
    expect(at(lab, NAMES)).toEqual(Object.values(SPEC.hosts));
    expect(at(lab, ARGUMENTS)).toBeUndefined();
  });

  test('keeps an overwritten value that its owner has written since', async () => {
    await using lab = await PreparationLab.start({
      [HOST]: 'old.example.test',
      [NAMES]: ['own.example.test'],
    });
    await lab.prepare('Force');
    const names = ['own.example.test', ...Object.values(SPEC.hosts)];
    await lab.userApplies({ [HOST]: 'blue.k8s.example.test:443', [NAMES]: names });

    expect(await lab.restore()).toBeUndefined();

    expect(at(lab, HOST)).toBe('blue.k8s.example.test:443');
    expect(at(lab, NAMES)).toEqual(names);
    expect(managers(lab)).toEqual(['user']);
  });

  test('removes its lists, although another client had an entry in them for a while', async () => {
    await using lab = await PreparationLab.start();
    const before = content(lab.tenant());
    await lab.prepare();
    for (const path of [NAMES, ARGUMENTS, 'spec.addons.konnectivity.agent.extraArgs']) {
      const list = at(lab, path) as readonly string[];
      await lab.change({ [path]: [...list, 'his'] });
      await lab.change({ [path]: list });
    }

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
  });

  test('does not restore an entry that its owner has removed from the list', async () => {
    await using lab = await PreparationLab.start({
      [NAMES]: ['one.example.test', 'two.example.test'],
    });
    await lab.prepare('Force');
    await lab.change({ [NAMES]: ['two.example.test', ...Object.values(SPEC.hosts)] });

    await lab.restore();

    expect(at(lab, NAMES)).toEqual(['two.example.test']);
  });

  test('waits until no API server runs with the flag before it removes the empty list', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const runs = async (...args: readonly string[]) =>
      lab.other.apply(withoutIdentity(deploymentOf('blue', args)), {
        resource: PROVIDER_RESOURCES.deployment,
        force: true,
      });
    await runs('--v=1', NONE);

    const waiting = await lab.restore();
    const meanwhile = at(lab, ARGUMENTS);
    const still = await lab.restore();
    await runs('--v=1');
    const done = await lab.restore();

    expect(waiting).toBe(`Deployment tenants/blue still runs with ${NONE}`);
    expect(still).toBe(waiting);
    expect(meanwhile).toEqual([]);
    expect(done).toBeUndefined();
    expect(at(lab, 'spec.controlPlane.deployment')).toEqual({ replicas: 2 });
  });

  test('removes a whole block that did not exist, including defaults of the provider', async () => {
    await using lab = await PreparationLab.start();
    const before = content(lab.tenant());
    await lab.prepare();
    await lab.change({ 'spec.controlPlane.ingress.additionalMetadata': {} });
    await lab.prepare();

    expect(await lab.restore()).toBeUndefined();

    expect(content(lab.tenant())).toEqual(before);
  });

  test('keeps a block that another client has written to since', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    await lab.change({ 'spec.controlPlane.ingress.additionalMetadata': { labels: { a: 'b' } } });

    expect(await lab.restore()).toBeUndefined();

    expect(at(lab, 'spec.controlPlane.ingress')).toEqual({
      additionalMetadata: { labels: { a: 'b' } },
    });
  });

  test('does not wait forever', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    const deployment = withoutIdentity(deploymentOf('blue', [NONE]));
    await lab.other.create(PROVIDER_RESOURCES.deployment, deployment);

    expect(await lab.restore({ isLate: true })).toBeUndefined();

    expect(at(lab, ARGUMENTS)).toBeUndefined();
    expect(lab.record()).toBeUndefined();
  });

  test('continues where a previous process has stopped, after any step', async () => {
    const start = { [HOST]: 'old.example.test', [NAMES]: ['own.example.test'] };
    await using reference = await PreparationLab.start(start);
    const before = content(reference.tenant());
    await reference.prepare('Force');
    await reference.restore();
    // Without the two writes of the preparation.
    const steps =
      reference.server.writes().filter(({ manager }) => manager === 'snicket').length - 2;
    expect(steps).toBeGreaterThan(1);

    for (let step = 0; step < steps; step++) {
      await using lab = await PreparationLab.start(start);
      await lab.prepare('Force');
      const ended = new Error('the process ended');
      let left = step;
      const dying = new Proxy(lab.client, {
        get(target, name: 'apply' | 'patch' | 'get') {
          const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
          if (name === 'get') return call;
          return async (...args: unknown[]) => {
            if (left-- <= 0) throw ended;
            return call(...args);
          };
        },
      });
      const failure = await lab.restore({ client: dying }).catch((error: unknown) => error);
      expect(failure).toBe(ended);

      // A new process knows only what is on the objects.
      lab.preparer = new Preparer(lab.server.client(), { clock: lab.clock });
      expect(await lab.restore()).toBeUndefined();

      expect(lab.tenant()).toMatchObject({ spec: (before as { spec: object }).spec });
      expect(managers(lab)).toEqual(['user']);
      expect(lab.record()).toBeUndefined();
    }
  });

  test('ignores a tenant that is gone, or that another Exposure has prepared', async () => {
    await using lab = await PreparationLab.start();
    await lab.addExposure('second');
    await lab.prepare();
    const prepared = lab.tenant();

    expect(await lab.restore({ exposure: lab.exposure('second') })).toBeUndefined();
    expect(lab.tenant()).toEqual(prepared);

    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);
    expect(await lab.restore()).toBeUndefined();
    expect(lab.server.read(PROVIDER_RESOURCES.kamaji, BLUE)).toBeUndefined();
    expect(lab.record()).toBeUndefined();
  });

  test('ignores a later tenant of the same name', async () => {
    await using lab = await PreparationLab.start({ [HOST]: 'old.example.test' });
    await lab.prepare('Force');
    await lab.user.delete(PROVIDER_RESOURCES.kamaji, BLUE);
    await lab.userApplies({ [HOST]: 'blue.k8s.example.test:443' });
    // Without owners, only the uid distinguishes the two.
    await lab.change({ metadata: { managedFields: [{}] } });
    const before = lab.tenant();

    expect(await lab.restore()).toBeUndefined();

    expect(lab.tenant()).toEqual(before);
    expect(lab.record()).toBeUndefined();
  });

  test('changes nothing if the record is invalid, and reports what to do', async () => {
    await using lab = await PreparationLab.start({ [NAMES]: ['own.example.test'] });
    await lab.prepare('Force');
    await lab.changeRecord('scrambled');
    const before = lab.tenant();

    const said = await lab.restore({ isLate: true });

    // To own a list is not to have written all of it.
    expect(lab.tenant()).toEqual(before);
    expect(lab.record()).toBe('scrambled');
    expect(said).toContain('The annotation snicket.dev/preparation of Exposure tenants/blue');
    expect(said).toContain(
      'kubectl annotate -n tenants exposures.snicket.dev blue snicket.dev/preparation-',
    );

    await lab.changeRecord(null);

    expect(await lab.restore()).toBeUndefined();
  });

  test('keeps values that another client writes to the Exposure at the same time', async () => {
    await using lab = await PreparationLab.start();
    await lab.prepare();
    let isFirst = true;
    const watched = new Proxy(lab.client, {
      get(target, name: 'get' | 'apply' | 'patch') {
        const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name !== 'get') return call;
        return async (...args: unknown[]) => {
          const found = await call(...args);
          const metadata = { annotations: { 'example.test/note': 'kept' } };
          if (isFirst) await lab.other.patch(RESOURCES.exposure, BLUE, 'merge', { metadata });
          isFirst = false;
          return found;
        };
      },
    });

    expect(await lab.restore({ client: watched })).toBeUndefined();

    expect(lab.exposure().metadata.annotations).toEqual({ 'example.test/note': 'kept' });
  });

  test('writes nothing if a record has a path outside of the spec', async () => {
    await using lab = await PreparationLab.start();
    const fields = [{ path: ['metadata', 'labels'], wrote: ['a'], was: 'evil' }];
    await lab.prepare();
    await lab.changeRecord(withFields(lab, () => fields));

    expect(await lab.restore()).toContain('was not written by Snicket');

    expect(lab.tenant().metadata.labels).toBeUndefined();
  });

  test.each([
    [
      'a field that Snicket never writes',
      { path: ['spec', 'dataStore'], wrote: ['own'], was: 'x' },
    ],
    [
      'another flag in the place of ours',
      { path: ARGUMENTS.split('.'), entries: [{ entry: NONE, was: '--anonymous-auth=true' }] },
    ],
    [
      'an entry of others',
      { path: ARGUMENTS.split('.'), entries: [{ entry: '--audit-log-path=-' }] },
    ],
  ])('writes nothing where a user has put into the record %s', async (_, forged) => {
    await using lab = await PreparationLab.start({
      'spec.dataStore': 'own',
      [ARGUMENTS]: ['--audit-log-path=-'],
    });
    await lab.prepare('Force');
    const others = (field: { path: string[] }) => field.path.join() !== forged.path.join();
    await lab.changeRecord(withFields(lab, (fields) => [...fields.filter(others), forged]));
    // Without an owner, as any client that may write an object can have it.
    await lab.change({ metadata: { managedFields: [{}] } });
    const before = lab.tenant();

    const said = await lab.restore();
    const { findings } = await lab.prepare();

    expect(lab.tenant()).toEqual(before);
    expect(said).toContain('was not written by Snicket');
    expect(findings).toMatchObject([{ code: 'PreparationRecordInvalid' }]);
  });
});

interface RecordText {
  readonly objects: readonly { readonly fields: readonly { readonly path: string[] }[] }[];
}

/** The record with other fields of the first object. */
function withFields(
  lab: PreparationLab,
  change: (fields: RecordText['objects'][0]['fields']) => readonly object[],
): string {
  const record = JSON.parse(lab.record() ?? '') as RecordText;
  const [first] = record.objects;
  return JSON.stringify({ ...record, objects: [{ ...first, fields: change(first!.fields) }] });
}

describe('a field that is no longer desired', () => {
  const key = { name: 'violet', namespace: NAMESPACE };
  const resource = PROVIDER_RESOURCES.clusterDeployment;

  test('has its previous value again, or is removed', async () => {
    await using lab = await PreparationLab.start();
    const deployment = clusterDeployment('violet', 'openstack-hosted-cp-1-0-40');
    const desired = changed(withoutIdentity(deployment), {
      'spec.config.ingress': { enabled: false, className: 'nginx' },
    });
    await lab.user.apply(desired, { resource });
    const config = () => valueAt(lab.server.read(resource, key), 'spec', 'config');
    const prepare = async () => {
      const [live] = [lab.server.read(resource, key)];
      const provided = { provider: 'k0rdent' as const, objects: live === undefined ? [] : [live] };
      const input = { policy: 'Force', provided, spec: SPEC, owner: lab.owner() } as const;
      return lab.preparer.prepare(input, AbortSignal.timeout(200_000));
    };
    await prepare();
    expect(valueAt(config(), 'ingress')).toMatchObject({ enabled: true, apiHost: SPEC.hosts.api });

    // Another template, whose chart has no such values.
    await lab.user.patch(resource, key, 'merge', { spec: { template: 'own-hosted-cp-2-0-0' } });
    const outcome = await prepare();

    expect(outcome.isPrepared).toBe(true);
    expect(config()).toEqual({
      workersNumber: 2,
      flavor: 'm1.medium',
      ingress: { enabled: false, className: 'nginx' },
    });
  });
});

function withoutIdentity({ metadata, ...object }: KubeObject): KubeObject {
  const { uid: _uid, resourceVersion: _version, ...rest } = metadata;
  return { ...object, metadata: rest };
}
