import { expect, test } from 'bun:test';
import { certificateNameFindings } from './host-names.ts';

test('names with a port are reported by the first few only', () => {
  const names = Array.from({ length: 900 }, (_, index) => `h${index}.example.test:443`);

  const findings = certificateNameFindings(['a.example.test', ...names], 'the list');

  expect(findings.map(({ action }) => action)).toEqual(
    [0, 1, 2, 3, 4].map((index) => `Change the entry to "h${index}.example.test".`),
  );
});
