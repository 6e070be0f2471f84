import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { openRequestLimit } from './transport-limits.ts';

const MANY = 400;

/** Opens so many watches in a process of its own, and says what came of it. */
async function openWatches(count: number, env: Record<string, string>): Promise<unknown> {
  const program = join(import.meta.dir, 'transport-open-requests-program.ts');
  const { BUN_CONFIG_MAX_HTTP_REQUESTS: _, ...inherited } = process.env;
  const child = Bun.spawn([process.execPath, program, String(count)], {
    env: { ...inherited, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return JSON.parse(await child.stdout.text());
}

test('more watches than Bun allows leave a request without an answer, and it says why', async () => {
  const { open, answer } = (await openWatches(MANY, {})) as { open: number; answer: string };

  expect(open).toBe(256);
  expect(answer).toContain('start it with BUN_CONFIG_MAX_HTTP_REQUESTS=65535');
});

test('with the limit lifted, requests go through beside any number of watches', async () => {
  const seen = await openWatches(MANY, { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' });

  expect(seen).toEqual({ open: MANY, answer: 'v1.36.0' });
});

test.each([
  [{}, 256],
  [{ BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }, 65535],
  [{ BUN_CONFIG_MAX_HTTP_REQUESTS: 'many' }, 256],
])('the limit that %p gives is known', (env, limit) => {
  expect(openRequestLimit(env)).toBe(limit);
});
