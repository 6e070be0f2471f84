import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { objectOf } from '../../operator/testing/objects.ts';
import { until } from '../../operator/testing/until.ts';
import { ObjectDatabase } from '../../standalone/state/object-database.ts';
import { RunLab } from '../../standalone/testing/run-lab.ts';
import { valueText } from '../output/output.ts';
import { Terminal } from '../testing/snicket.ts';
import { condition, READY, SINCE, StatusCluster } from '../testing/status-cluster.ts';

setDefaultTimeout(240_000);

describe('status --state', () => {
  const metadata = { name: 'blue', namespace: 'tenants', creationTimestamp: SINCE };
  const items = [
    objectOf(
      'Edge',
      { name: 'shared' },
      {
        spec: { driver: 'snicket' },
        status: { conditions: [condition('Ready', 'True', 'Ready', '')] },
      },
    ),
    objectOf('Exposure', metadata, { spec: {}, status: READY }),
  ];
  const list = { apiVersion: 'v1', kind: 'List', items };

  /** Opens a state as `snicket run` does. */
  function held(state: string): Disposable {
    const database = new ObjectDatabase(state);
    return { [Symbol.dispose]: () => database.close() };
  }

  test('shows the status of `snicket run` without a cluster', async () => {
    using nowhere = new Terminal();
    mkdirSync(`${nowhere.folder}/state`);
    nowhere.write('state/status.yaml', valueText(list, 'yaml'));
    using _held = held(`${nowhere.folder}/state`);

    const all = await nowhere.snicket(['status', '--state', 'state']);
    const one = await nowhere.snicket(['status', '--state', 'state', 'blue']);
    const none = await nowhere.snicket(['status', '--state', 'state', 'gone']);
    const json = await nowhere.snicket(['status', '--state', 'state', '-o', 'json']);

    expect(all.stdout).toMatch(/^tenants\/blue .*12\/12 +True/m);
    expect(all.stdout).toEndWith('\nsnicket run: running (state state)\n');
    expect(all.exitCode).toBe(0);
    expect(one.stdout).toMatch(/^Exposure +tenants\/blue$/m);
    expect(none.stderr).toBe(
      'error: Exposure not found: gone (existing: tenants/blue)\nhint: list all: snicket status --state state\n',
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ operator: { state: 'running' }, faults: [] });
  });

  test('reports that `snicket run` is not running, and writes nothing', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));
    held(nowhere.folder)[Symbol.dispose]();

    const all = await nowhere.snicket(['status', '--state', '.']);
    const json = await nowhere.snicket(['status', '--state', '.', '-o', 'json']);

    expect(all.stdout).toContain(
      'snicket run: not running (state .); showing its last status; start it: snicket run FOLDER --state .',
    );
    expect(all.stdout).toMatch(/^shared .*Unknown +NotRunning$/m);
    expect(all.stdout).toMatch(/^tenants\/blue .*Unknown +- +NotRunning /m);
    // JSON has the last report too.
    const unknown = { ready: 'Unknown', reason: 'NotRunning' };
    const conditions = expect.arrayContaining([
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    ]) as unknown;
    expect(JSON.parse(json.stdout)).toMatchObject({
      operator: { state: 'down' },
      edges: [{ ...unknown, conditions }],
      exposures: [{ ...unknown, conditions }],
    });
    expect([all.exitCode, json.exitCode]).toEqual([1, 1]);
    const files = readdirSync(nowhere.folder).filter((name) => !name.startsWith('.'));
    expect(files.toSorted()).toEqual(['objects.db', 'status.yaml']);
  });

  test('defaults to the default state with -f', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText({ ...list, folder: nowhere.folder }, 'yaml'));
    const env = { STATE_DIRECTORY: '.' };

    const all = await nowhere.snicket(['status', '-f', '.', '-o', 'name'], '', env);
    const absent = await nowhere.snicket(['status', '-f', 'absent'], '', env);

    expect(all.stdout).toContain('exposure.snicket.dev/blue\n');
    expect(absent.stderr).toBe(
      'error: folder not found: absent\nhint: pass the folder of snicket run\n',
    );
    expect(absent.exitCode).toBe(2);
  });

  test('must belong to the folder of -f', async () => {
    using terminal = new Terminal();
    for (const folder of ['mine', 'other', 'state']) mkdirSync(`${terminal.folder}/${folder}`);
    symlinkSync('mine', `${terminal.folder}/link`);
    const folder = `${terminal.folder}/mine`;
    terminal.write('state/status.yaml', valueText({ ...list, folder }, 'yaml'));
    terminal.write('file.yaml', '');
    const env = { STATE_DIRECTORY: 'state' };
    const status = async (...args: readonly string[]) => {
      const { exitCode, stdout, stderr } = await terminal.snicket(
        ['status', ...args, '-o', 'name'],
        '',
        env,
      );
      return [exitCode, stdout.includes('exposure.snicket.dev/blue'), stderr];
    };

    const refused = (name: string) => [
      ...[2, false],
      `error: the state state belongs to the folder ${folder}, not to ${name}\nhint: pass -f ${folder}, or --state with the state folder of ${name}\n`,
    ];
    expect(await status('-f', 'other')).toEqual(refused('other'));
    expect(await status('-f', 'other', '--state', 'state')).toEqual(refused('other'));
    expect((await status('-f', 'mine')).slice(1)).toEqual([true, '']);
    expect((await status('-f', 'link')).slice(1)).toEqual([true, '']);
    terminal.write('state/status.yaml', valueText(list, 'yaml'));
    expect(await status('-f', 'mine')).toEqual([
      ...[2, false],
      'error: the state state does not name its folder\nhint: restart `snicket run`, which adds it, or pass --state state without -f\n',
    ]);
    expect(await status('-f', 'file.yaml')).toEqual([
      ...[2, false],
      'error: not a folder: file.yaml\nhint: pass the folder of snicket run\n',
    ]);
  });

  test('reports at the top of a small screen that `snicket run` is not running', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));
    const running = held(nowhere.folder);
    const session = nowhere.begin(['status', 'blue', '--state', '.', '--watch'], 80);
    const lastFrame = () => Bun.stripANSI(session.text.split('\u001B[H').at(-1) ?? '');
    await until('blue is Ready', () => /^Ready +✓ True/m.test(lastFrame()));

    running[Symbol.dispose]();

    await until('that is said', () => lastFrame().startsWith('snicket run: not running (state .)'));
    expect(lastFrame()).toContain('NotRunning (Edge shared, Ready)');
    expect(lastFrame()).toMatch(/^Ready +! Unknown/m);
    session.signal('SIGINT');
    expect(await session.ended).toBe(1);
  });

  test('shows what a real `snicket run` writes, with the errors in its folder', async () => {
    await using lab = new RunLab();
    await lab.addTenant('blue');
    lab.write('a.yaml', 'kind: Nonsense');
    await lab.start();
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const status = ['status', '--state', lab.state];
    using nowhere = new Terminal();
    const running = nowhere.begin([...status, '-w']);
    await until('it is told', () => /Folder: a\.yaml:1/.test(running.text));

    const wrong = await nowhere.snicket(status);
    lab.write('a.yaml', '');
    await until('it is mended', () => running.text.includes('Folder: no errors'));
    await lab.stop();
    await until('the end is told', () => running.text.includes('snicket run: not running (state'));
    running.signal('SIGINT');
    const exitCode = await running.ended;

    expect(wrong.stdout).toMatch(/^shared +snicket +example\.test +127\.0\.0\.1 +1 +True +-$/m);
    expect(wrong.stdout).toMatch(
      /^tenants\/blue +tenants-blue\.k8s\.example\.test +shared +Passthrough /m,
    );
    expect(wrong.stdout).toMatch(
      /^Errors in the folder:\n  a\.yaml:1:1: not an object; set apiVersion/m,
    );
    expect(wrong.stdout).toMatch(/^snicket run: running \(state /m);
    expect([wrong.exitCode, exitCode]).toEqual([1, 1]);
  });

  test('follows changes with --watch', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));
    using _held = held(nowhere.folder);
    const running = nowhere.begin(['status', '--state', '.', '-w']);
    await until('blue is told', () => running.text.includes('Exposure tenants/blue: Ready=True'));

    nowhere.write('status.yaml', valueText({ ...list, items: items.slice(0, 1) }, 'yaml'));

    await until('blue is gone', () => running.text.includes('Exposure tenants/blue: deleted'));
    running.signal('SIGINT');
    expect(await running.ended).toBe(0);
  });

  test.each([
    [
      'no content at all',
      undefined,
      /cannot read nowhere\/status\.yaml: ENOENT\nhint: pass the --state folder/,
    ],
    ['something else', 'a: 1', /status\.yaml was not written by `snicket run`: it is not a List/],
    ['nonsense', 'a: [', /status\.yaml is not valid YAML/],
  ])('rejects a status file with %s', async (_, text, message) => {
    using nowhere = new Terminal();
    if (text !== undefined) nowhere.write('status.yaml', text);

    const folder = text === undefined ? 'nowhere' : '.';
    const { exitCode, stderr } = await nowhere.snicket(['status', '--state', folder]);

    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });

  test.each(['FIFO', 'device'])('does not wait for a %s in place of the file', async (kind) => {
    using nowhere = new Terminal();
    if (kind === 'FIFO') await nowhere.run(['mkfifo', 'status.yaml']);
    else symlinkSync('/dev/zero', `${nowhere.folder}/status.yaml`);

    const { exitCode, stderr } = await nowhere.snicket(['status', '--state', '.']);

    expect(stderr).toContain(
      'error: cannot read status.yaml: file_not_regular\nhint: pass the --state folder of `snicket run`, and check that it is running',
    );
    expect(exitCode).toBe(2);
  });

  test.each([
    [['--state', ''], "error: invalid value '' for --state: must be the name of a folder"],
    [
      ['--state', '.', '-n', ''],
      "error: invalid value '' for --namespace: must be a lowercase RFC 1123 label of at most 63 characters",
    ],
  ])('rejects an empty value, as of an unset variable: %j', async (args, message) => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));

    const { exitCode, stdout, stderr } = await nowhere.snicket(['status', ...args]);

    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('quotes the folder name in commands for the shell', async () => {
    using nowhere = new Terminal();
    mkdirSync(`${nowhere.folder}/sp ace;x`);
    nowhere.write('sp ace;x/status.yaml', valueText(list, 'yaml'));

    const all = await nowhere.snicket(['status', '--state', 'sp ace;x']);
    const none = await nowhere.snicket(['status', '--state', 'sp ace;x', 'gone']);

    expect(all.stdout).toContain("start it: snicket run FOLDER --state 'sp ace;x'\n");
    expect(none.stderr).toEndWith("hint: list all: snicket status --state 'sp ace;x'\n");
  });

  test('cannot be combined with flags of a cluster', async () => {
    await using cluster = await StatusCluster.start();

    const args = ['status', '--state', '.', '--context', 'a'];
    const { exitCode, stderr } = await cluster.terminal.snicket(args);

    expect(stderr).toContain(
      'error: --context cannot be combined with --state\nhint: remove --context',
    );
    expect(exitCode).toBe(2);
  });
});
