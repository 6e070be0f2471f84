import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { olderThan } from './requirements.ts';

test.each([
  ['1.26.7', '1.26.7', false],
  ['1.26.6', '1.26.7', true],
  ['1.9.0', '1.26.7', true],
  ['1.27rc1', '1.26.7', false],
  ['2.0', '1.26.7', false],
  ['', '1.26.7', true],
])('version %p against %p: older is %p', (version, minimum, older) => {
  expect(olderThan(version, minimum)).toBe(older);
});

test.skipIf(process.platform !== 'linux')('the requirements list programs to install', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'requirements-'));
  const script = `import { missingRequirements } from ${JSON.stringify(join(import.meta.dir, 'requirements.ts'))};
    console.log(JSON.stringify(await missingRequirements()));`;

  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { XDG_CACHE_HOME: cache, PATH: cache },
  });
  const missing = JSON.parse(await new Response(child.stdout).text()) as string[];
  rmSync(cache, { recursive: true });

  expect(missing.join('\n')).toMatch(
    /^Go is not on the PATH, and the parts are not built yet: install Go \d/m,
  );
  expect(missing).toContain('ip is not on the PATH: install iproute2');
});

test.skipIf(process.platform !== 'linux')(
  'make e2e fails if it cannot run, and skips the tests with E2E=auto',
  async () => {
    const cache = mkdtempSync(join(tmpdir(), 'requirements-'));
    const run = async (e2e: string) => {
      const argv = [process.execPath, join(import.meta.dir, '..', 'e2e', 'run.ts')];
      const child = Bun.spawn(argv, {
        cwd: cache,
        env: { XDG_CACHE_HOME: cache, PATH: cache, E2E: e2e },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const output =
        (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
      return { code: await child.exited, output };
    };

    const plain = await run('');
    const auto = await run('auto');
    rmSync(cache, { recursive: true });

    expect(plain.code).toBe(1);
    expect(plain.output).toContain('cannot run here');
    expect(auto.code).toBe(0);
    expect(auto.output).toStartWith('skipped: ');
  },
);
