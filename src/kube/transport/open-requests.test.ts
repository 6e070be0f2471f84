import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openRequestLimit } from './open-requests.ts';

/**
 * Runs a process that opens `count` watches or requests, of which some are expected to be sent, and then sends one
 * more.
 */
async function askBeside(
  kind: 'watches' | 'requests',
  count: number,
  expected: number,
  env: Record<string, string> = {},
): Promise<unknown> {
  const program = join(import.meta.dir, 'testing/open-requests-program.ts');
  const { BUN_CONFIG_MAX_HTTP_REQUESTS: _, ...inherited } = process.env;
  const child = Bun.spawn([process.execPath, program, kind, String(count), String(expected)], {
    env: { ...inherited, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return JSON.parse(await child.stdout.text());
}

describe('beside a thousand watches', () => {
  test('a request is answered without any environment variable', async () => {
    expect(await askBeside('watches', 1000, 1000)).toEqual({ open: 1000, response: 'v1.36.0' });
  });
});

describe('beside more hanging requests than Bun sends at once', () => {
  test('a request waits for them, and its error says so', async () => {
    const seen = (await askBeside('requests', 300, 256)) as { open: number; response: string };

    expect(seen.open).toBe(256);
    expect(seen.response).toContain(
      'has 301 requests open and can send 256 at once: start it with BUN_CONFIG_MAX_HTTP_REQUESTS=65535',
    );
  });

  test('a request is answered if the limit was raised at process start', async () => {
    const env = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };

    expect(await askBeside('requests', 300, 300, env)).toEqual({ open: 300, response: 'v1.36.0' });
  });
});

test.each([
  [undefined, 256],
  ['65535', 65535],
  ['many', 256],
])('with %p in the environment the limit is %d', (value, limit) => {
  expect(openRequestLimit({ BUN_CONFIG_MAX_HTTP_REQUESTS: value })).toBe(limit);
});
