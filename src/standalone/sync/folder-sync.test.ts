import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { createMemoryClient } from '../../kube/store/memory-client.ts';
import { ObjectStore, type ApiObject } from '../../kube/store/object-store.ts';
import { until } from '../../operator/testing/until.ts';
import { createLogger } from '../../telemetry/log.ts';
import { edgeText, exposureText } from '../testing/texts.ts';
import { FolderSync } from './folder-sync.ts';

const SIGNAL = new AbortController().signal;
let root: string;
let folder: string;
let store: ObjectStore;
let clock: ManualClock;
let sync: FolderSync;
let log: { msg: string; level: string }[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'snicket-sync-'));
  folder = join(root, 'folder');
  mkdirSync(folder);
  store = new ObjectStore({ historyLimit: 1_000 });
  log = [];
  open();
});

afterEach(async () => {
  await sync.stop();
  rmSync(root, { recursive: true, force: true });
});

function client(fieldManager: string) {
  return createMemoryClient({
    store,
    fieldManager,
    name: 'test',
    resources: Object.values(RESOURCES),
  });
}

/** Opens the sync like a process that starts with the state of a previous one. */
function open(): void {
  clock = new ManualClock();
  const write = (line: string) => log.push(JSON.parse(line) as (typeof log)[number]);
  sync = new FolderSync({
    folder,
    clock,
    client: client('snicket-folder'),
    log: createLogger({ write }),
  });
}

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text);
}

function names(): readonly string[] {
  return [RESOURCES.edge, RESOURCES.exposure, RESOURCES.secret]
    .flatMap((kind) => store.list(kind))
    .map(objectText);
}

function domain(): unknown {
  const edge = store.get(RESOURCES.edge, { name: 'shared' });
  return (edge?.['spec'] as { domain?: unknown } | undefined)?.domain;
}

async function untilLogged(pattern: RegExp): Promise<void> {
  await until(`the log contains ${pattern}`, () => log.some(({ msg }) => pattern.test(msg)));
}

/** Advances the clock by `ms`, and syncs. */
async function syncAfter(ms: number): Promise<void> {
  clock.advance(ms);
  sync.syncSoon();
  await sync.idle();
}

test('applies the objects of a folder, and later changes', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);
  expect(names()).toEqual(['Edge shared']);

  write('edge.yaml', edgeText('shared', 'other.example.com'));
  write('blue.yaml', exposureText('blue'));

  await until(
    'both files are applied',
    () => names().length === 2 && domain() === 'other.example.com',
  );
});

test('removes a field that a file no longer has, and keeps fields of other clients', async () => {
  write('blue.yaml', exposureText('blue').replace('spec:', 'spec:\n  edgeRef: {name: shared}'));
  await sync.start(SIGNAL);
  const key = { name: 'blue', namespace: 'default' };
  const operator = client('snicket');
  await operator.patch(RESOURCES.exposure, key, 'merge', { metadata: { finalizers: ['a.b/c'] } });
  const status = { status: { endpoint: 'x:443' } };
  await operator.patch(RESOURCES.exposure, key, 'merge', status, { subresource: 'status' });

  write('blue.yaml', exposureText('blue'));
  const spec = () =>
    store.get(RESOURCES.exposure, key)?.['spec'] as { edgeRef?: unknown } | undefined;
  await until('the field is gone', () => spec()?.edgeRef === undefined);

  expect(store.get(RESOURCES.exposure, key)).toMatchObject({
    ...status,
    metadata: { finalizers: ['a.b/c'], generation: 2 },
  });
});

test('an invalid file keeps its last valid content, is reported once with its line, and again when it is fixed', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);

  write('edge.yaml', edgeText('shared', 'NO DOMAIN'));
  await untilLogged(/^edge\.yaml:7:11: .*; its last valid objects stay applied$/);
  await syncAfter(60_000);
  await syncAfter(60_000);

  expect(domain()).toBe('example.com');
  expect(sync.state).toMatchObject({ faults: 1, files: 1 });
  expect(log.filter(({ level }) => level === 'error')).toMatchObject([
    { line: 7, column: 11, excerpt: expect.stringMatching(/^7 \| .*NO DOMAIN\n +\^$/) },
  ]);
  write('edge.yaml', edgeText('shared', 'good.example.com'));
  await untilLogged(/file is valid again/);
  expect(domain()).toBe('good.example.com');
  expect(sync.state.faults).toBe(0);
});

test('an invalid file that is removed is reported as removed, not as fixed', async () => {
  write('edge.yaml', edgeText('shared'));
  write('wrong.yaml', 'kind: [');
  await sync.start(SIGNAL);

  rmSync(join(folder, 'wrong.yaml'));
  await untilLogged(/^invalid file was removed$/);

  expect(log.map(({ msg }) => msg)).not.toContain('file is valid again');
  expect(sync.state.faults).toBe(0);
});

test('keeps the objects of a previous process for a file that is invalid at the start', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);
  await sync.stop();

  write('edge.yaml', 'kind: [');
  open();
  await sync.start(SIGNAL);
  await syncAfter(60_000);
  await syncAfter(60_000);

  expect(domain()).toBe('example.com');
});

test('a file that was removed without an event is found missing', async () => {
  write('edge.yaml', edgeText('shared'));
  write('other.yaml', edgeText('other'));
  await sync.start(SIGNAL);
  await sync.stop();

  rmSync(join(folder, 'other.yaml'));
  open();
  await sync.start(SIGNAL);
  await syncAfter(60_000);

  expect(names()).toEqual(['Edge shared']);
});

test('keeps an object whose file is renamed', async () => {
  write('a.yaml', edgeText('shared'));
  write('b.yaml', '# nothing yet');
  await sync.start(SIGNAL);
  const uid = () => store.get(RESOURCES.edge, { name: 'shared' })?.metadata.uid;
  const before = uid();

  renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
  await syncAfter(60_000);
  await syncAfter(60_000);

  expect(uid()).toBe(before);
  expect(store.get(RESOURCES.edge, { name: 'shared' })?.metadata.annotations).toEqual({
    'snicket.dev/file': 'b.yaml',
  });
});

test('deletes no objects of a file that is written in place and empty for a moment', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);
  const gone: KubeObject[] = [];
  store.listen(({ before, after }) => {
    if (after === undefined && before !== undefined) gone.push(before);
  });

  for (let round = 1; round <= 5; round++) {
    truncateSync(join(folder, 'edge.yaml'));
    await syncAfter(1_000);
    const text = edgeText('shared', `round-${round}.example.com`);
    appendFileSync(join(folder, 'edge.yaml'), text.slice(0, 60));
    await syncAfter(1_000);
    appendFileSync(join(folder, 'edge.yaml'), text.slice(60));
    await until('the file is applied', () => domain() === `round-${round}.example.com`);
  }

  expect(gone).toEqual([]);
});

test('a file that an editor replaces is read again', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);

  write('.edge.yaml.swp', 'half of a');
  renameSync(join(folder, 'edge.yaml'), join(folder, 'edge.yaml~'));
  write('4913', '');
  rmSync(join(folder, '4913'));
  write('edge.yaml', edgeText('shared', 'edited.example.com'));

  await until('the file is applied', () => domain() === 'edited.example.com');
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
});

test('keeps all objects, and reports why, if the folder is missing or has no files', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);

  renameSync(folder, `${folder}-away`);
  await syncAfter(60_000);
  await syncAfter(60_000);
  expect(names()).toEqual(['Edge shared']);
  expect(sync.state.problem).toBe(
    `the folder ${folder} cannot be read (ENOENT); its last objects stay applied`,
  );

  mkdirSync(folder);
  await syncAfter(60_000);
  await syncAfter(60_000);
  expect(names()).toEqual(['Edge shared']);
  expect(sync.state.problem).toContain('no longer has any YAML or JSON files');

  write('empty.yaml', '# delete all objects\n');
  await syncAfter(60_000);
  await syncAfter(60_000);
  expect(names()).toEqual([]);
  expect(sync.state.problem).toBeUndefined();
});

test.each([
  ['without files', () => rmSync(join(folder, 'blue.yaml'))],
  ['that was removed', () => rmSync(folder, { recursive: true })],
])(
  'restarts the grace period of missing objects after a folder %s and its files are back',
  async (_, removeRest) => {
    const all = ['Edge shared', 'Exposure default/blue', 'Exposure default/red'];
    write('edge.yaml', edgeText('shared'));
    write('blue.yaml', exposureText('blue'));
    write('red.yaml', exposureText('red'));
    await sync.start(SIGNAL);

    // 1. The files disappear one after another, and then all objects are kept.
    rmSync(join(folder, 'red.yaml'));
    await syncAfter(400);
    rmSync(join(folder, 'edge.yaml'));
    removeRest();
    await syncAfter(6_000);
    expect(sync.state.problem).toBeDefined();

    // 2. The files return one after another.
    mkdirSync(folder, { recursive: true });
    write('edge.yaml', edgeText('shared'));
    await syncAfter(400);
    expect(names()).toEqual(all);
    write('blue.yaml', exposureText('blue'));
    await syncAfter(400);
    expect(names()).toEqual(all);

    // 3. The object that is still missing three seconds later is deleted.
    await syncAfter(3_000);
    expect(names()).toEqual(all.slice(0, 2));
  },
);

test('watches a folder again after it was removed and recreated', async () => {
  write('edge.yaml', edgeText('shared'));
  await sync.start(SIGNAL);
  rmSync(folder, { recursive: true });
  await syncAfter(5_000);

  mkdirSync(folder);
  write('edge.yaml', edgeText('shared', 'back.example.com'));
  await syncAfter(5_000);
  expect(domain()).toBe('back.example.com');

  write('edge.yaml', edgeText('shared', 'again.example.com'));
  await until('the file is applied', () => domain() === 'again.example.com');
});

test('an Exposure whose file is back during its deletion is recreated afterwards', async () => {
  write('edge.yaml', edgeText('shared'));
  write('blue.yaml', exposureText('blue'));
  await sync.start(SIGNAL);
  const key = { name: 'blue', namespace: 'default' };
  const operator = client('snicket');
  await operator.patch(RESOURCES.exposure, key, 'merge', { metadata: { finalizers: ['a.b/c'] } });
  const uid = store.get(RESOURCES.exposure, key)?.metadata.uid;
  rmSync(join(folder, 'blue.yaml'));
  await syncAfter(0);
  await syncAfter(60_000);
  expect(store.get(RESOURCES.exposure, key)?.metadata.deletionTimestamp).toBeDefined();

  write('blue.yaml', exposureText('blue'));
  await syncAfter(60_000);
  expect(store.get(RESOURCES.exposure, key)?.metadata).toMatchObject({ uid });
  await operator.patch<ApiObject>(RESOURCES.exposure, key, 'merge', {
    metadata: { finalizers: null },
  });
  await syncAfter(0);

  const recreated = store.get(RESOURCES.exposure, key)?.metadata;
  expect(recreated?.deletionTimestamp).toBeUndefined();
  expect(recreated?.uid).not.toBe(uid);
});

test('fails to start without a folder and without objects of a previous process', async () => {
  rmSync(folder, { recursive: true });

  await expect(sync.start(SIGNAL)).rejects.toMatchObject({ code: 'FolderUnreadable' });
});

test('keeps the objects of an unmounted directory until its mount point is removed', async () => {
  const disk = join(root, 'disk');
  mkdirSync(disk);
  symlinkSync(disk, join(folder, 'linked'));
  mkdirSync(join(folder, 'mounted'));
  write('edge.yaml', edgeText('shared'));
  write('linked/blue.yaml', exposureText('blue'));
  write('mounted/green.yaml', exposureText('green'));
  await sync.start(SIGNAL);
  const all = ['Edge shared', 'Exposure default/blue', 'Exposure default/green'];
  expect(names()).toEqual(all);

  rmSync(disk, { recursive: true });
  rmSync(join(folder, 'mounted/green.yaml'));
  await syncAfter(0);
  await syncAfter(60_000);

  expect(names()).toEqual(all);
  for (const path of ['linked', 'mounted']) {
    expect(log.filter(({ msg }) => msg.startsWith(`${path}: now empty`))).toHaveLength(1);
  }

  rmSync(join(folder, 'linked'));
  rmdirSync(join(folder, 'mounted'));
  await syncAfter(0);
  await syncAfter(60_000);

  expect(names()).toEqual(['Edge shared']);
});

test('keeps the objects of a file that is renamed and made invalid, or emptied', async () => {
  write('blue.yaml', exposureText('blue'));
  write('green.yaml', exposureText('green'));
  await sync.start(SIGNAL);
  const all = ['Exposure default/blue', 'Exposure default/green'];

  rmSync(join(folder, 'blue.yaml'));
  write('moved.yaml', exposureText('blue').replace('spec:', 'spce:'));
  truncateSync(join(folder, 'green.yaml'));
  await syncAfter(0);
  await syncAfter(60_000);

  expect(names()).toEqual(all);
  const faults = log.filter(({ level }) => level === 'error').map(({ msg }) => msg);
  expect(faults.filter((msg) => !msg.startsWith('moved.yaml:'))).toEqual([
    expect.stringMatching(/^green\.yaml: now empty/),
    expect.stringMatching(/^blue\.yaml: Exposure default\/blue .* and moved\.yaml/),
  ]);

  write('moved.yaml', exposureText('blue'));
  rmSync(join(folder, 'green.yaml'));
  await syncAfter(0);
  await syncAfter(60_000);

  expect(names()).toEqual(['Exposure default/blue']);
});

test('stops while a sync hangs', async () => {
  const hanging = { ...client('snicket-folder'), list: async () => new Promise<never>(() => {}) };
  const stuck = new FolderSync({
    folder,
    clock,
    client: hanging,
    log: createLogger({ write() {} }),
  });
  write('edge.yaml', edgeText('shared'));
  stuck.syncSoon();

  await stuck.stop();

  expect(names()).toEqual([]);
});

test('a hanging start ends when it is aborted', async () => {
  const listing = Promise.withResolvers<void>();
  const list = async () => (listing.resolve(), new Promise<never>(() => {}));
  const stuck = new FolderSync({
    folder,
    clock,
    client: { ...client('snicket-folder'), list },
    log: createLogger({ write() {} }),
  });
  const interruption = new AbortController();
  const started = stuck.start(interruption.signal);
  await listing.promise;

  interruption.abort(new Error('interrupted'));

  await expect(started).rejects.toThrow('interrupted');
  await stuck.stop();
});
