import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hasSameEntries, withEntries, withoutEntries } from './list-edit.ts';
import { flagEntry } from './preparation.ts';

describe('entries in a list', () => {
  test('are appended, or replace another value of the same flag, or stay as they are', () => {
    const list = ['--a=1', '--b=1', '--c'];
    const desired = [
      flagEntry('--b', '2'),
      flagEntry('--c', '3'),
      flagEntry('--d', '4'),
      { entry: '--a=1' },
    ];

    expect(withEntries(list, desired)).toEqual({
      list: ['--a=1', '--b=2', '--c=3', '--d=4'],
      records: [
        { entry: '--b=2', was: '--b=1' },
        { entry: '--c=3', was: '--c' },
        { entry: '--d=4' },
      ],
    });
  });

  test('are compared by content', () => {
    const entry = { target: { kind: 'ConfigMap' } };

    expect(withEntries([structuredClone(entry)], [{ entry }]).records).toEqual([]);
    expect(withoutEntries([structuredClone(entry), 1], [{ entry }])).toEqual([1]);
  });

  test('do not replace a flag whose name only starts the same', () => {
    expect(withEntries(['--v-module=1'], [flagEntry('--v', '2')]).list).toEqual([
      '--v-module=1',
      '--v=2',
    ]);
  });
});

describe('removing entries', () => {
  const flag = fc.constantFrom('--a', '--b', '--c', '--d', '--e');
  const argument = fc.tuple(flag, fc.nat(3)).map(([name, value]) => `${name}=${value}`);
  /** Lists with each flag once, as on a command line. */
  const list = fc.uniqueArray(argument, { selector: (entry) => entry.slice(0, 3) });
  const desired = fc
    .uniqueArray(fc.tuple(flag, fc.nat(3)), { selector: ([name]) => name })
    .map((all) => all.map(([name, value]) => flagEntry(name, String(value))));

  test('restores the previous list', () => {
    fc.assert(
      fc.property(list, desired, (before, wanted) => {
        const { list: edited, records } = withEntries(before, wanted);

        expect(edited).toEqual(expect.arrayContaining(wanted.map(({ entry }) => entry)));
        expect(withoutEntries(edited, records)).toEqual(before);
      }),
    );
  });

  test('keeps entries that were added since, and does not restore entries that were removed', () => {
    fc.assert(
      fc.property(
        list,
        desired,
        fc.array(fc.nat(), { maxLength: 3 }),
        (before, wanted, numbers) => {
          const { list: edited, records } = withEntries(before, wanted);
          const added = numbers.map((number) => `added-${number}`);
          const removedEntry = before.find((entry) => edited.includes(entry));
          const current = [...edited.filter((entry) => entry !== removedEntry), ...added];

          const remaining = withoutEntries(current, records);

          expect(remaining).toEqual(expect.arrayContaining(added));
          if (removedEntry !== undefined) expect(remaining).not.toContain(removedEntry);
        },
      ),
    );
  });
});

describe('two lists', () => {
  test('are equal if only the order of entries, or of fields in an entry, differs', () => {
    const patch = { target: { kind: 'ConfigMap', component: 'a' }, type: 'merge' };
    const read = { type: 'merge', target: { component: 'a', kind: 'ConfigMap' } };

    expect(hasSameEntries(['b', patch, 'a'], [read, 'a', 'b'])).toBe(true);
  });

  test('differ if an entry is repeated, missing, or of another type', () => {
    expect(hasSameEntries(['a', 'a', 'b'], ['a', 'b', 'b'])).toBe(false);
    expect(hasSameEntries(['a', 'b'], ['a', 'b', 'b'])).toBe(false);
    expect(hasSameEntries(['1'], [1])).toBe(false);
    expect(hasSameEntries(['a'], ['b'])).toBe(false);
  });

  test('are compared in linear time', () => {
    let reads = 0;
    const counted = (name: number) => ({
      get name() {
        reads++;
        return name;
      },
    });
    const list = Array.from({ length: 1_000 }, (_, index) => counted(index));

    expect(hasSameEntries(list, list.toReversed())).toBe(true);

    expect(reads).toBe(2 * list.length);
  });
});
