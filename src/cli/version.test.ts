import { expect, test } from 'bun:test';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { snicket } from './testing/in-process.ts';

async function version(...options: string[]) {
  return snicket(['version', ...options]);
}

test('says which snicket runs on which Bun, in one line', async () => {
  const { exitCode, stdout } = await version();

  const { version: snicket, dependencies } = manifest;
  const platform = `${process.platform}-${process.arch}`;
  expect(stdout).toBe(`snicket ${snicket} (bun ${dependencies.bun}, ${platform})\n`);
  expect(exitCode).toBe(0);
});

test.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
])('says the same as %s', async (output, read) => {
  const { exitCode, stdout } = await version('-o', output);

  expect(read(stdout)).toEqual({
    version: manifest.version,
    bun: manifest.dependencies.bun,
    platform: `${process.platform}-${process.arch}`,
  });
  expect(exitCode).toBe(0);
});

test('refuses an output format it does not know, and names those it does', async () => {
  const { exitCode, stderr } = await version('-o', 'xml');

  expect(stderr).toContain(
    "error: invalid value 'xml' for --output: must be one of text, json, yaml",
  );
  expect(exitCode).toBe(2);
});

test('answers --version too', async () => {
  const asked = await snicket(['--version']);

  expect(asked).toEqual(await snicket(['version']));
  expect(asked.exitCode).toBe(0);
});
