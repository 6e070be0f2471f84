import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootId, identityOf } from './identity.ts';
import { parseLedger, worldState, type Entry } from './ledger.ts';

const cgroup: Entry = { kind: 'cgroup', path: '/sys/fs/cgroup/snicket-ab12' };

describe("a ledger's text", () => {
  test('is parsed line by line', () => {
    const text = `${JSON.stringify(cgroup)}\n{"kind":"kept"}\n`;

    expect(parseLedger(text)).toEqual([cgroup, { kind: 'kept' }]);
  });

  test('is parsed without its last line if that is truncated anywhere', () => {
    const line = JSON.stringify(cgroup);
    const cuts = Array.from(line).map((_, end) =>
      parseLedger(`{"kind":"kept"}\n${line.slice(0, end)}`),
    );

    expect(cuts).toEqual(cuts.map(() => [{ kind: 'kept' }]));
  });

  test('is parsed without a damaged line in the middle', () => {
    const entries = parseLedger('{"kind":"ke\n{"kind":"kept"}\n');

    expect(entries).toEqual([{ kind: 'kept' }]);
  });

  test('may be empty', () => {
    expect(parseLedger('')).toEqual([]);
  });
});

describe('a world', () => {
  const self = identityOf(process.pid)!;
  const owned: Entry = { kind: 'owner', process: self, bootId: bootId() };
  const orphaned: Entry = { ...owned, process: { ...self, startTicks: '1' } };
  const beforeBoot: Entry = { ...owned, bootId: 'another' };
  const kept: Entry = { kind: 'kept' };

  test.each([
    ['running', 'while its owner lives', [owned, cgroup]],
    ['running', 'while its owner lives, even if it is marked as kept', [owned, kept]],
    ['kept', 'after its owner has ended, if it is marked as kept', [orphaned, cgroup, kept]],
    ['dead', 'after its owner has ended', [orphaned, cgroup]],
    ['dead', 'after a reboot, even if it is marked as kept', [beforeBoot, kept]],
    ['damaged', 'without an owner', [cgroup, kept]],
  ] as const)('is %s %s', (expected, _, entries) => {
    expect(worldState(entries)).toBe(expected);
  });
});

describe('the folder of all worlds', () => {
  let worlds: string;

  beforeEach(() => {
    worlds = join(mkdtempSync(join(tmpdir(), 'snicket-ledger-')), 'worlds');
  });

  afterEach(() => rmSync(join(worlds, '..'), { recursive: true }));

  test('has a folder for each world, with the owner as the first entry of the ledger', () => {
    const {
      folder,
      cgroup: name,
      entries,
      ids,
      pid,
    } = inOtherProcess(`
      const ledger = Ledger.create('ab12');
      ledger.append({ kind: 'kept' });
      print({ ...ledger, cgroup: ledger.cgroup, entries: ledger.entries(), ids: worldIds(), pid: process.pid });
    `);

    expect(folder).toBe(join(worlds, 'ab12'));
    expect(name).toBe('snicket-ab12');
    expect(ids).toEqual(['ab12']);
    expect(entries).toMatchObject([
      { kind: 'owner', process: { pid }, bootId: bootId() },
      { kind: 'kept' },
    ]);
    expect(readdirSync(worlds)).toEqual(['ab12']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('lets another process find a world and derive its state from its owner', () => {
    inOtherProcess(`Ledger.create('ab12'); print({});`);

    const { found, state, other } = inOtherProcess(`
      const ledger = Ledger.find('ab12');
      print({ found: ledger.id, state: worldState(ledger.entries()), other: Ledger.find('none') ?? null });
    `);

    expect(found).toBe('ab12');
    expect(state).toBe('dead');
    expect(other).toBeNull();
  });

  test('has one world per ID', () => {
    inOtherProcess(`Ledger.create('ab12'); print({});`);

    const { code, entries } = inOtherProcess(`
      let code;
      try { Ledger.create('ab12'); } catch (error) { code = error.code; }
      print({ code, entries: Ledger.find('ab12').entries().length });
    `);

    expect(code).toBe('ENOTEMPTY');
    expect(entries).toBe(1);
  });

  test('does not list the temporary folder of a world', () => {
    const { ids } = inOtherProcess(`
      Ledger.create('ab12');
      mkdirSync(worldsFolder + '/.cd34-1');
      print({ ids: worldIds() });
    `);

    expect(ids).toEqual(['ab12']);
  });

  test('may be missing', () => {
    const { ids } = inOtherProcess(`print({ ids: worldIds() });`);

    expect(ids).toEqual([]);
    expect(existsSync(worlds)).toBe(false);
  });

  test('a sweep removes only dead worlds, and temporary folders of dead processes', () => {
    inOtherProcess(`
      Ledger.create('dead');
      Ledger.create('kept').append({ kind: 'kept' });
      mkdirSync(worldsFolder + '/of-another-program');
      mkdirSync(worldsFolder + '/.snicket-world-cd34-' + process.pid);
      mkdirSync(worldsFolder + '/.another-' + process.pid);
      print({});
    `);
    appendFileSync(join(worlds, 'dead', 'ledger.jsonl'), '{"kind":"cgr');

    const { removed } = inOtherProcess(`
      Ledger.create('mine');
      mkdirSync(worldsFolder + '/.snicket-world-mine-' + process.pid);
      const { removeDeadWorlds } = await import('${import.meta.dir}/sweep.ts');
      print({ removed: await removeDeadWorlds() });
    `);

    expect(removed).toEqual([{ id: 'dead' }]);
    const left = readdirSync(worlds).map((name) => name.replace(/\d+$/, 'PID'));
    expect(left.toSorted()).toEqual([
      '.another-PID',
      '.snicket-world-mine-PID',
      'kept',
      'mine',
      'of-another-program',
    ]);
  });

  /** Runs a script in another process with a temporary folder of worlds. */
  function inOtherProcess(script: string) {
    const child = Bun.spawnSync(
      [
        process.execPath,
        '--eval',
        `import { mkdirSync } from 'node:fs';
         import { Ledger, worldState, worldIds, worldsFolder } from '${import.meta.dir}/ledger.ts';
         const print = (value) => console.log(JSON.stringify(value));
         ${script}`,
      ],
      { env: { ...process.env, SNICKET_WORLDS: worlds } },
    );
    if (child.exitCode !== 0) throw new Error(child.stderr.toString());
    return JSON.parse(child.stdout.toString());
  }
});
