/** What the documents show does what they say. */
import { expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../world/machine/command.ts';
import { repository } from '../world/repository.ts';

test('the example for tests in docs/world.md runs', async () => {
  const text = readFileSync(join(repository, 'docs', 'world.md'), 'utf8');
  const example = /```ts\n([^]*?)```/.exec(text)?.[1];
  // Beside e2e/, so that the example's imports mean the same.
  const script = join(repository, 'build', 'example.ts');
  mkdirSync(join(script, '..'), { recursive: true });
  writeFileSync(script, `${example}\nconsole.log('done');\n`);

  const { stdout } = await run([process.execPath, script], { timeoutMs: 150_000 });

  expect(stdout).toBe('done\n');
});
