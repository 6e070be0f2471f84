import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

test('the command ignores bunfig.toml in the current folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./preload.ts"]');
  writeFileSync(join(folder, 'preload.ts'), 'console.log("preloaded code");');

  const child = Bun.spawn([join(import.meta.dir, 'world'), '--help'], { cwd: folder });
  const output = await new Response(child.stdout).text();
  rmSync(folder, { recursive: true });

  expect(await child.exited).toBe(0);
  expect(output).toContain('Usage: world');
  expect(output).not.toContain('preloaded');
});
