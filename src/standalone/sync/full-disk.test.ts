import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { createMemoryClient } from '../../kube/store/memory-client.ts';
import { ObjectStore } from '../../kube/store/object-store.ts';
import { createLogger } from '../../telemetry/log.ts';
import { edgeText } from '../testing/texts.ts';
import { FolderSync } from './folder-sync.ts';

test('logs a full disk once, and deletes removed objects once there is space', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'snicket-full-'));
  let isFull = false;
  const persist = () => {
    if (isFull) throw new Error('database or disk is full');
  };
  const store = new ObjectStore({
    historyLimit: 100,
    persistence: { put: persist, remove: persist },
  });
  const resources = Object.values(RESOURCES);
  const client = createMemoryClient({ store, resources, name: 'test' });
  const messages: string[] = [];
  const write = (line: string) => messages.push((JSON.parse(line) as { msg: string }).msg);
  const clock = new ManualClock();
  const sync = new FolderSync({ folder, client, clock, log: createLogger({ write }) });
  const syncOnce = async () => {
    clock.advance(5_000);
    sync.syncSoon();
    await sync.idle();
  };
  writeFileSync(join(folder, 'a.yaml'), edgeText('a'));
  writeFileSync(join(folder, 'b.yaml'), edgeText('b'));
  await sync.start(new AbortController().signal);

  isFull = true;
  rmSync(join(folder, 'b.yaml'));
  for (let attempt = 0; attempt < 5; attempt++) await syncOnce();

  expect(messages.filter((msg) => msg.includes('disk is full'))).toHaveLength(1);
  expect(messages.at(-1)).toStartWith(
    'b.yaml: Edge b was removed from the folder but cannot be deleted: ',
  );
  expect(sync.state).toMatchObject({ faults: 1, problem: undefined });

  isFull = false;
  await syncOnce();

  expect(store.list(RESOURCES.edge).map(({ metadata }) => metadata.name)).toEqual(['a']);
  expect(sync.state.faults).toBe(0);
  await sync.stop();
  rmSync(folder, { recursive: true });
});
