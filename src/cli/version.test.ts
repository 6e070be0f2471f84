import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { Terminal } from './testing/snicket.ts';

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

test.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
])('says the same as %s', (output, read) => {
  const { exitCode, stdout } = version('-o', output);

  expect(read(stdout)).toEqual({
    version: manifest.version,
    bun: manifest.dependencies.bun,
    platform: `${process.platform}-${process.arch}`,
  });
  expect(exitCode).toBe(0);
});

test('refuses an output format it does not know, and names those it does', () => {
  const { exitCode, stderr } = version('-o', 'xml');

  expect(stderr).toContain("'xml' is invalid. Allowed choices are text, json, yaml.");
  expect(exitCode).toBe(2);
});

test('answers --version too', async () => {
  using terminal = new Terminal();

  const asked = await terminal.snicket(['--version']);

  expect(asked).toEqual(await terminal.snicket(['version']));
  expect(asked.exitCode).toBe(0);
});
