import { expect, test } from 'bun:test';
import { join } from 'node:path';

test('the demo shows that only the pods are lost, and ends by itself', async () => {
  const demo = Bun.spawn([process.execPath, join(import.meta.dir, 'run.ts')]);

  const output = await new Response(demo.stdout).text();

  expect(await demo.exited).toBe(0);
  expect(output.match(/its own tenant, a$/gm)).toHaveLength(2);
  expect(output.match(/its own tenant, b$/gm)).toHaveLength(1);
  expect(output).toMatch(/a pod +b +10\.96\.0\.1 +none +another tenant/);
});
