import { expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RunLab } from '../standalone/testing/run-lab.ts';
import { edgeText } from '../standalone/testing/texts.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000); // a busy machine needs seconds to start it

const NOWHERE = ['--listen', '127.0.0.1:0', '--http', 'off', '--workers', '1'];

test('the help describes the folder and the flags', async () => {
  using terminal = new Terminal();

  const { stdout, exitCode } = await terminal.snicket(['run', '--help']);

  expect(exitCode).toBe(0);
  expect(stdout).toContain('Usage: snicket run [options] <folder>');
  expect(stdout).toContain('--listen <address>');
  expect(stdout).toContain('--cleanup-timeout <duration>');
  expect(stdout).toContain('Exit codes:');
});

test('rejects a state that other users can read, and prints the chmod command', async () => {
  using terminal = new Terminal();
  mkdirSync(join(terminal.folder, 'folder'));
  mkdirSync(join(terminal.folder, 'state'));
  chmodSync(join(terminal.folder, 'state'), 0o755);

  // As a process, so that the name is relative to its folder, as a user types it.
  const ended = await terminal.spawn(['run', 'folder', '--state', 'state', ...NOWHERE]);

  expect(ended).toEqual({
    exitCode: 2,
    stdout: '',
    stderr:
      'error: state has the mode 755: other users could read the keys of tenants\nhint: run: chmod 700 state\n',
  });
});

test('rejects a missing folder, and creates no state', async () => {
  using terminal = new Terminal();

  const { exitCode, stderr } = await terminal.snicket([
    ...['run', 'folder', '--state', 'state', ...NOWHERE],
  ]);

  expect(exitCode).toBe(2);
  expect(stderr).toBe(`error: the folder ${terminal.folder}/folder cannot be read (ENOENT)\n`);
  expect(existsSync(join(terminal.folder, 'state'))).toBeFalse();
});

test('rejects a state in use, and accepts it after the other process was killed', async () => {
  await using lab = new RunLab();
  await lab.start();
  using terminal = new Terminal();
  const args = ['run', lab.folder, '--state', lab.state, ...NOWHERE];

  const { exitCode, stderr } = await terminal.snicket(args);

  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    `error: the state ${lab.state} is in use by another snicket process\nhint: stop it, or pass another directory with --state\n`,
  );
  await lab.stop('SIGKILL');
  await lab.start();
});

test('exits with 1 if it cannot listen', async () => {
  using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  using terminal = new Terminal();
  terminal.write('edge.yaml', edgeText('shared'));
  const place = `127.0.0.1:${taken.port}`;

  const { exitCode, stderr } = await terminal.spawn([
    ...['run', '.', '--state', '.state'],
    ...['--listen', place, '--http', 'off', '--workers', '1'],
  ]);

  expect(exitCode).toBe(1);
  expect(stderr).toContain(place);
});

test('on a terminal, the log quotes an invalid line with a caret below it', async () => {
  using terminal = new Terminal();
  terminal.write('edge.yaml', edgeText('shared').replace('driver: snicket', 'driver: nginx'));
  const args = ['run', '.', '--state', '.state', ...NOWHERE, '--grace', '0'];
  const session = terminal.open(args, 120, { NO_COLOR: '1' });

  const deadline = performance.now() + 200_000;
  while (!session.text.includes('running') && performance.now() < deadline) await Bun.sleep(10);
  session.type('\u0003');
  await session.ended;

  expect(session.text).toMatch(/^\d\d:\d\d:\d\d {2}error {2}edge\.yaml:6:11: Edge shared: /);
  expect(session.text).toContain('\n  6 |   driver: nginx\r\n                ^\r\n');
});
