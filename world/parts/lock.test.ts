import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.ts';

let folder: string;
let path: string;
let holders: Bun.Subprocess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-lock-'));
  path = join(folder, 'below', '.lock');
  holders = [];
});

afterEach(async () => {
  for (const holder of holders) holder.kill('SIGKILL');
  await Promise.all(holders.map((holder) => holder.exited));
  rmSync(folder, { recursive: true });
});

/**
 * Starts another process that holds the lock until its input ends, and that has a child. Returns when it holds the
 * lock.
 */
async function holdElsewhere() {
  const holder = Bun.spawn(
    [
      process.execPath,
      '--eval',
      `const { withLock } = await import('${import.meta.dir}/lock.ts');
       await withLock('${path}', () => {}, async () => {
         const child = Bun.spawn(['sleep', '600'], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
         console.log(child.pid);
         await new Promise((resolve) => process.stdin.once('end', resolve).resume());
         child.kill('SIGKILL');
       });`,
    ],
    { stdin: 'pipe', stdout: 'pipe' },
  );
  holders.push(holder);
  const { value } = await holder.stdout.getReader().read();
  const child = Number(new TextDecoder().decode(value));
  // kill(0) would signal the whole process group of this test.
  expect(child).toBeGreaterThan(1);
  return { holder, child };
}

/** Starts to wait for the lock. `waiting` resolves with the owner's PID, `done` with the content of the lock file. */
function waitHere() {
  const waiting = Promise.withResolvers<string>();
  const done = withLock(path, waiting.resolve, async () => readFileSync(path, 'utf8'));
  return { waiting: waiting.promise, done };
}

test('a free lock is acquired at once, and records its owner', async () => {
  const owners: string[] = [];

  const seen = await withLock(
    path,
    (holder) => owners.push(holder),
    async () => readFileSync(path, 'utf8'),
  );

  expect(seen).toBe(`${process.pid}\n`);
  expect(owners).toEqual([]);
});

test('a second process gets the owner of the lock, and acquires it after the work is done', async () => {
  const { holder } = await holdElsewhere();

  const { waiting, done } = waitHere();
  const owners = await waiting;
  await holder.stdin.end();
  const seen = await done;

  expect(owners).toBe(String(holder.pid));
  expect(seen).toBe(`${process.pid}\n`);
});

test('the lock is released when its owner is killed, even if a child of the owner still runs', async () => {
  const { holder, child } = await holdElsewhere();

  const { waiting, done } = waitHere();
  await waiting;
  holder.kill('SIGKILL');
  const seen = await done;
  const childLived = process.kill(child, 'SIGKILL');

  expect(seen).toBe(`${process.pid}\n`);
  expect(childLived).toBe(true);
});

test('two callers in one process run one after the other', async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const owners = Promise.withResolvers<string>();

  const first = withLock(
    path,
    () => {},
    async () => {
      order.push('first begins');
      await gate.promise;
      order.push('first ends');
    },
  );
  const second = withLock(path, owners.resolve, async () => order.push('second'));
  await owners.promise;
  gate.resolve();
  await Promise.all([first, second]);

  expect(order).toEqual(['first begins', 'first ends', 'second']);
});

test('failed work releases the lock and throws its error', async () => {
  const failing = withLock(
    path,
    () => {},
    async () => {
      throw new Error('the build failed');
    },
  );
  const failure = await failing.catch((error: unknown) => error);
  const owners: string[] = [];
  await withLock(
    path,
    (holder) => owners.push(holder),
    async () => {},
  );

  expect(String(failure)).toBe('Error: the build failed');
  expect(owners).toEqual([]);
});
