import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { faultText } from './folder/fault.ts';
import { fileObjects } from './folder/file-objects.ts';

test('the files in docs/tasks/run-from-a-folder.md are valid', () => {
  const page = readFileSync(
    resolve(import.meta.dir, '../../docs/tasks/run-from-a-folder.md'),
    'utf8',
  );
  const texts = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);

  const readings = texts.map((text) =>
    fileObjects({ name: 'docs/tasks/run-from-a-folder.md', text }),
  );

  expect(readings.flatMap(({ faults }) => faults.map(faultText))).toEqual([]);
  expect(readings.flatMap(({ objects }) => objects.map(({ object }) => object.kind))).toEqual([
    'Edge',
    'Exposure',
    'Secret',
    'Secret',
  ]);
});
