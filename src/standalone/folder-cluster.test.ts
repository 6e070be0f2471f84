import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ApiObject } from '../kube/store/object-store.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { until } from '../operator/testing/until.ts';
import { createLogger } from '../telemetry/log.ts';
import { FolderCluster } from './folder-cluster.ts';
import { StateRefused } from './state/state-folder.ts';

let root: string;
let folder: string;
let state: string;
let log: Record<string, unknown>[];
const opened: FolderCluster[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'snicket-cluster-'));
  folder = join(root, 'folder');
  state = join(root, 'state');
  mkdirSync(folder);
  log = [];
});
afterEach(() => {
  for (const cluster of opened.splice(0)) cluster.close();
  rmSync(root, { recursive: true });
});

function open(from = folder): FolderCluster {
  const write = (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>);
  const cluster = new FolderCluster({ folder: from, state, log: createLogger({ write }) });
  opened.push(cluster);
  return cluster;
}

function close(cluster: FolderCluster): void {
  opened.splice(opened.indexOf(cluster), 1);
  cluster.close();
}

const KEY = { name: 'blue', namespace: 'default' };
const EXPOSURE = objectOf('Exposure', KEY, { spec: { edgeRef: { name: 'shared' } } });

test('an annotation of the operator survives a restart and another apply of the file', async () => {
  const record = { 'snicket.dev/preparation': '{"version":1}' };
  const first = open();
  await first.client('folder').apply(EXPOSURE, { force: true });
  await first
    .client('snicket')
    .patch(RESOURCES.exposure, KEY, 'merge', { metadata: { annotations: record } });
  close(first);

  const second = open();
  const file = { 'snicket.dev/file': 'blue.yaml' };
  const applied = { ...EXPOSURE, metadata: { ...EXPOSURE.metadata, annotations: file } };
  await second.client('folder').apply(applied, { force: true });
  await second.client('folder').apply(EXPOSURE, { force: true });

  expect(second.store.get(RESOURCES.exposure, KEY)?.metadata.annotations).toEqual(record);
});

test('the status file names the folder', () => {
  open();

  expect(parse(readFileSync(join(state, 'status.yaml'), 'utf8'))).toMatchObject({ folder });
});

describe('a damaged state is rejected with an action:', () => {
  test.each([
    ['null instead of an object', "UPDATE objects SET object = 'null'"],
    ['half an object', `UPDATE objects SET object = '{"metadata":'`],
    ['another table', 'ALTER TABLE objects DROP COLUMN object'],
  ])('%s', async (_, damage) => {
    const before = open();
    await before.client('snicket').create(RESOURCES.exposure, EXPOSURE);
    close(before);
    const database = new Database(join(state, 'objects.db'));
    database.run(damage);
    database.close();

    expect(() => open()).toThrow(StateRefused);
    expect(() => open()).toThrow(
      /objects\.db cannot be used \(.*\); move it away to start with an empty state/,
    );
  });
});

describe('after a restart', () => {
  test('objects keep their uids, finalizers, statuses and field managers', async () => {
    const before = open();
    const client = before.client('snicket');
    await client.create(RESOURCES.exposure, EXPOSURE);
    await client.patch(RESOURCES.exposure, KEY, 'merge', { metadata: { finalizers: ['a.b/c'] } });
    const status = { status: { endpoint: 'x:443' } };
    await client.patch(RESOURCES.exposure, KEY, 'merge', status, { subresource: 'status' });
    await client.create(RESOURCES.secret, objectOf('Secret', KEY, { data: { a: 'YQ==' } }));
    await client.delete(RESOURCES.exposure, KEY);
    const [exposure, secret] = [RESOURCES.exposure, RESOURCES.secret].map((kind) =>
      before.store.get(kind, KEY),
    );
    close(before);

    const { store } = open();

    expect(store.get(RESOURCES.exposure, KEY)).toEqual(exposure);
    expect(store.get(RESOURCES.secret, KEY)).toEqual(secret);
    expect(exposure?.metadata.deletionTimestamp).toBeDefined();
  });

  test('nothing is written before the first change, since the disk may be full', async () => {
    const before = open();
    await before.client('snicket').create(RESOURCES.exposure, EXPOSURE);
    close(before);
    const kept = readFileSync(join(state, 'objects.db'));

    close(open());

    expect(readFileSync(join(state, 'objects.db')).equals(kept)).toBeTrue();
  });

  test('deleted objects stay deleted', async () => {
    const before = open();
    await before.client('snicket').create(RESOURCES.exposure, EXPOSURE);
    await before.client('snicket').delete(RESOURCES.exposure, KEY);
    close(before);

    expect(open().store.list(RESOURCES.exposure)).toEqual([]);
  });

  test('the next write gets a higher resourceVersion', async () => {
    const before = open();
    const created = await before.client('snicket').create(RESOURCES.exposure, EXPOSURE);
    close(before);

    const written = await open()
      .client('snicket')
      .patch<ApiObject>(RESOURCES.exposure, KEY, 'merge', { spec: { edgeRef: { name: 'other' } } });

    expect(Number(written.metadata.resourceVersion)).toBeGreaterThan(
      Number(created.metadata.resourceVersion),
    );
  });

  test('all writes of a killed process still exist', async () => {
    const code = `
      const { FolderCluster } = await import(${JSON.stringify(join(import.meta.dir, 'folder-cluster.ts'))});
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const cluster = new FolderCluster({ folder: ${JSON.stringify(folder)}, state: ${JSON.stringify(state)}, log });
      const client = cluster.client('snicket');
      await client.create(${JSON.stringify(RESOURCES.exposure)}, ${JSON.stringify(EXPOSURE)});
      process.kill(process.pid, 'SIGKILL');`;
    const killed = Bun.spawnSync([process.execPath, '-e', code]);

    expect(killed.signalCode).toBe('SIGKILL');
    expect(open().store.get(RESOURCES.exposure, KEY)).toMatchObject(EXPOSURE);
  });
});

describe('on a full disk', () => {
  /** Opens the cluster in a process whose files are limited to this many blocks of 512 bytes. */
  function openWithin(blocks: number, from: string): string {
    const code = `
      const { FolderCluster } = await import(${JSON.stringify(join(import.meta.dir, 'folder-cluster.ts'))});
      const log = { debug() {}, info() {}, warn() {}, error: (msg) => console.log(msg) };
      try {
        const { store } = new FolderCluster({ folder: ${JSON.stringify(from)}, state: ${JSON.stringify(state)}, log });
        console.log(store.list(${JSON.stringify(RESOURCES.exposure)}).length, 'served');
      } catch (error) {
        console.log(error.name, error.message);
      }
      process.exit();`;
    const limited = ['sh', '-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" -e "$1"`];
    return Bun.spawnSync([...limited, process.execPath, code]).stdout.toString();
  }

  test('the known objects of a moved folder are served', async () => {
    const before = open();
    await before.client('snicket').create(RESOURCES.exposure, EXPOSURE);
    close(before);
    const moved = join(root, 'moved');
    renameSync(folder, moved);

    const output = openWithin(0, moved);

    expect(output).toStartWith('moved folder not recorded in the state');
    expect(output).toEndWith('1 served\n');
  });

  test.each([0, 16, 32, 48, 60])('of %d blocks, the first start fails', (blocks) => {
    expect(openWithin(blocks, folder)).toMatch(
      /^StateRefused .*objects\.db cannot be used \(.*\); repair the disk, and start again\n$/,
    );
  });
});

describe('a lost database', () => {
  const warnings = () => log.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  const path = () => join(state, 'objects.db');

  test.each([
    ['missing', () => rmSync(path())],
    ['empty', () => truncateSync(path())],
  ])('is reported at the start if it is %s', (_, damage) => {
    close(open());
    close(open());
    expect(warnings()).toEqual([]);

    damage();
    close(open());

    expect(warnings()).toEqual([
      expect.stringContaining('object database missing or empty, previous objects are unknown'),
    ]);
  });

  test.each([
    ['removed', () => rmSync(path())],
    [
      'replaced',
      () => (copyFileSync(path(), `${path()}.copy`), renameSync(`${path()}.copy`, path())),
    ],
  ])('is reported once, and in the status file, if it is %s during the run', async (_, damage) => {
    const cluster = open();
    cluster.reportFaults(['a.yaml: wrong']);
    expect(log).toEqual([]);

    damage();
    cluster.reportFaults(['a.yaml: wrong']);
    cluster.reportFaults(['a.yaml: wrong']);

    const sentence = expect.stringContaining(`${path()} was removed or replaced`);
    expect(log).toMatchObject([{ level: 'error', msg: sentence }]);
    const faults = () =>
      (parse(readFileSync(join(state, 'status.yaml'), 'utf8')) as { faults?: string[] }).faults;
    await until('the status file has the fault', () => faults()?.length === 2);
    expect(faults()).toEqual([sentence, 'a.yaml: wrong']);
  });
});

describe('a state', () => {
  test('can be used by one process at a time', () => {
    const first = open();

    expect(() => open()).toThrow(
      `the state ${state} is in use by another snicket process; stop it, or pass another directory with --state`,
    );
    close(first);
    expect(() => open()).not.toThrow();
  });

  test('belongs to one folder while that exists, and to the same folder after a move', () => {
    close(open());
    const other = join(root, 'other');
    mkdirSync(other);

    expect(() => open(other)).toThrow(`the state ${state} belongs to the folder ${folder}`);

    rmSync(other, { recursive: true });
    renameSync(folder, other);
    close(open(other));
    mkdirSync(folder);
    expect(() => open(folder)).toThrow(`belongs to the folder ${other}`);
  });

  test('belongs to the same folder through another path, and through a link to a new version', () => {
    close(open());
    const [link, next] = [join(root, 'link'), join(root, 'next')];
    symlinkSync(folder, link);
    mkdirSync(next);

    close(open(link));
    close(open(folder));
    close(open(link));
    rmSync(link);
    symlinkSync(next, link);

    expect(() => open(folder)).toThrow(`belongs to the folder ${link}, which still exists`);
    expect(() => open(link)).not.toThrow();
  });

  test('with an invalid database is rejected with an action', () => {
    close(open());
    const path = join(state, 'objects.db');
    Bun.spawnSync(['sh', '-c', `echo "not a database" > ${path}`]);

    expect(() => open()).toThrow(`${path} cannot be used (file is not a database); move it away`);
  });

  test('has no files that other users can read', () => {
    open();

    for (const name of ['objects.db', 'objects.db-wal', 'status.yaml']) {
      expect([name, statSync(join(state, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });
});

test('objects of an Exposure are deleted with it', async () => {
  const cluster = open();
  const { store } = cluster;
  const client = cluster.client('snicket');
  const { metadata } = await client.create<KubeObject>(RESOURCES.exposure, EXPOSURE);
  const { apiVersion, kind } = RESOURCES.exposure;
  const owner = { apiVersion, kind, name: 'blue', uid: metadata.uid ?? '' };
  const owned = objectOf('Service', { ...KEY, ownerReferences: [owner] }, { spec: {} });
  await client.create(RESOURCES.service, owned);
  await client.create(RESOURCES.service, objectOf('Service', { ...KEY, name: 'other' }, {}));

  await client.delete(RESOURCES.exposure, KEY);

  await until('the Service is gone', () => store.list(RESOURCES.service).length === 1);
});

test('the status file has Edges and Exposures, and no Secrets', async () => {
  const cluster = open();
  const client = cluster.client('snicket');
  const data = { a: btoa('hunter2') };
  await client.create(RESOURCES.secret, objectOf('Secret', KEY, { data }));
  await client.create(RESOURCES.exposure, EXPOSURE);
  const read = () => readFileSync(join(state, 'status.yaml'), 'utf8');

  await until('it is written', () => read().includes('blue'));

  expect(parse(read())).toMatchObject({
    apiVersion: 'v1',
    kind: 'List',
    items: [{ kind: 'Exposure', metadata: KEY, spec: { edgeRef: { name: 'shared' } } }],
  });
  expect(read()).not.toContain('managedFields');
  expect(read()).not.toContain(data.a);
});

test('a new Event is logged, and its repetition is not', async () => {
  const client = open().client('snicket');
  const regarding = { kind: 'Exposure', ...KEY };
  const event = objectOf('Event', KEY, {
    type: 'Warning',
    reason: 'Odd',
    note: 'This is odd.',
    regarding,
  });

  await client.create(RESOURCES.event, event);
  await client.patch(RESOURCES.event, KEY, 'merge', { series: { count: 2 } });

  expect(log).toMatchObject([
    { level: 'warn', msg: 'This is odd.', object: 'Exposure default/blue', reason: 'Odd' },
  ]);
});

test('only the last of a thousand Events are kept', async () => {
  const cluster = open();
  const client = cluster.client('snicket');

  for (let at = 0; at < 1_000; at++) {
    await client.create(RESOURCES.event, objectOf('Event', { ...KEY, name: `event-${at}` }));
  }

  const names = cluster.store.list(RESOURCES.event).map(({ metadata }) => metadata.name);
  expect(names).toHaveLength(500);
  expect(names).toContain('event-999');
});
