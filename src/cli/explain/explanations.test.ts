import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { FINDING_CODES } from '../../api/finding-codes/catalog.ts';
import type { FindingEntry } from '../../api/finding-codes/entry.ts';
import { CONDITION_REASONS, EVENT_REASONS } from '../../api/finding-codes/reasons.ts';
import {
  CONDITION_ORDER,
  conditionUnknownUntil,
} from '../../reconcile/conditions/condition-state.ts';
import { RESULT_CODES, type CodeEntry } from '../../probe/codes.ts';
import { explanations } from './explanations.ts';

const root = resolve(import.meta.dir, '../../..');

/** The parts that write conditions and events, and `snicket status`, which adds a reason. */
const FOLDERS = [
  'reconcile',
  'operator',
  'plan',
  'edges',
  'standalone',
  'management',
  'cli/status',
];

/** The forms of a reason in the code. Each may have several, as in `isX ? 'One' : 'Other'`. */
const FORMS = [
  /\breason: ('[^,}\n]+)/g,
  /\bconst reason = ([^;]+)/g,
  /\b(?:conditionTrue|conditionPending)\(\s*('[^']+')/g,
  /^export const [A-Z_]+ = ('[A-Z][a-z]\w+');/gm,
];

async function source(): Promise<string> {
  const files = FOLDERS.flatMap((folder) => [
    ...new Bun.Glob(`src/${folder}/**/*.ts`).scanSync(root),
  ]).filter((path) => !path.includes('.test.') && !path.includes('/testing/'));
  const texts = await Promise.all(files.map(async (path) => Bun.file(join(root, path)).text()));
  // Polls have reasons too, which only metrics show.
  return texts.join('\n').replaceAll(/^const [A-Z_]+: Poll = .*$/gm, '');
}

function reasonsIn(text: string): readonly string[] {
  const places = FORMS.flatMap((form) => [...text.matchAll(form)].map(([, place = '']) => place));
  return places.flatMap((place) =>
    [...place.matchAll(/'([A-Z]\w+)'/g)].map(([, name = '']) => name),
  );
}

test('every reason of a condition or an event is explained', async () => {
  const explained = new Set(explanations().map(({ code }) => code));
  const gates = CONDITION_ORDER.slice(0, 4).map((type) => conditionUnknownUntil(type).reason);

  const reasons = [...new Set([...reasonsIn(await source()), ...gates])];

  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.filter((reason) => !explained.has(reason))).toEqual([]);
});

test('every explained reason is one that the code uses, and no code of another catalog', async () => {
  const text = await source();
  const gates = CONDITION_ORDER.map((type) => conditionUnknownUntil(type).reason);
  const reasons = [CONDITION_REASONS, EVENT_REASONS].flatMap(Object.keys);

  expect(reasons.filter((name) => !text.includes(`'${name}'`) && !gates.includes(name))).toEqual(
    [],
  );
  const others = { ...FINDING_CODES, ...RESULT_CODES };
  expect(reasons.filter((name) => name in others)).toEqual([]);
});

test('a code of both hops and findings is explained once, with the same words', () => {
  const both = Object.entries<FindingEntry>(FINDING_CODES).flatMap(([code, entry]) => {
    const result = Object.entries<CodeEntry>(RESULT_CODES).find(([name]) => name === code);
    return result === undefined ? [] : [{ code, entry, result: result[1] }];
  });

  expect(both).not.toEqual([]);
  for (const { code, entry, result } of both) {
    expect(result).toMatchObject(entry);
    const found = explanations().filter((one) => one.code === code);
    expect(found.map(({ reportedBy }) => reportedBy)).toEqual([
      expect.stringMatching(/Findings \(hop plan of doctor, .*\)$/),
    ]);
  }
});
