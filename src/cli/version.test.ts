import { expect, test } from 'bun:test';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { snicket } from './testing/in-process.ts';

async function version(...options: string[]) {
  return snicket(['version', ...options]);
}

test('prints the versions of snicket and Bun in one line', async () => {
  const { exitCode, stdout } = await version();

  const { version: snicket, dependencies } = manifest;
  const platform = `${process.platform}-${process.arch}`;
  expect(stdout).toBe(`snicket ${snicket} (bun ${dependencies.bun}, ${platform})\n`);
  expect(exitCode).toBe(0);
});

test.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
])('prints the same as %s', async (output, read) => {
  const { exitCode, stdout } = await version('-o', output);

  expect(read(stdout)).toEqual({
    version: manifest.version,
    bun: manifest.dependencies.bun,
    platform: `${process.platform}-${process.arch}`,
  });
  expect(exitCode).toBe(0);
});

test('rejects an unknown output format, and names the known ones', async () => {
  const { exitCode, stderr } = await version('-o', 'xml');

  expect(stderr).toContain(
    "error: invalid value 'xml' for --output: must be one of text, json, yaml",
  );
  expect(exitCode).toBe(2);
});

test('runs for --version too', async () => {
  const version = await snicket(['--version']);

  expect(version).toEqual(await snicket(['version']));
  expect(version.exitCode).toBe(0);
});
