import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const launcher = resolve(import.meta.dir, '../../snicket');

function version(...options: string[]) {
  const ended = Bun.spawnSync([launcher, 'version', ...options]);
  return {
    exitCode: ended.exitCode,
    stdout: ended.stdout.toString(),
    stderr: ended.stderr.toString(),
  };
}

test('says which snicket runs on which Bun, in one line', () => {
  const { exitCode, stdout } = version();

  const { version: snicket, dependencies } = manifest;
  const platform = `${process.platform}-${process.arch}`;
  expect(stdout).toBe(`snicket ${snicket} (bun ${dependencies.bun}, ${platform})\n`);
  expect(exitCode).toBe(0);
});

test('says the same as JSON', () => {
  const { exitCode, stdout } = version('-o', 'json');

  expect(JSON.parse(stdout)).toEqual({
    version: manifest.version,
    bun: manifest.dependencies.bun,
    platform: `${process.platform}-${process.arch}`,
  });
  expect(exitCode).toBe(0);
});

test('refuses an output format it does not know, and names those it does', () => {
  const { exitCode, stderr } = version('-o', 'yaml');

  expect(stderr).toContain("'yaml' is invalid. Allowed choices are text, json.");
  expect(exitCode).toBe(2);
});
