import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DemoFolder } from './stage/folder.ts';

const PLAY = join(import.meta.dir, 'play.ts');

test('a successful demo stops everything that it started and exits with 0', async () => {
  const { output, exitCode } = await runDemo(`
    stack.defer(() => page.text('ended'));
    page.text('done');
    return { failures: [], broken: new Promise(() => {}) };`);

  expect(output).toBe('done\nended\n');
  expect(exitCode).toBe(0);
});

test('does not print colors to a pipe', async () => {
  const { output } = await runDemo(`
    page.heading('A heading');
    page.file('a.yaml', 'kind: A');
    page.table(['WHO', 'GETS'], [['kubectl', { text: 'tenant a', color: 'green' }]]);
    page.command({ line: 'kubectl version', description: 'versions' });
    return { failures: [], broken: new Promise(() => {}) };`);

  expect(output).toMatch(/^ {2}kubectl +tenant a$/m);
  expect(output).not.toContain('\u001B');
});

test('a demo with an unexpected result prints it and exits with 1', async () => {
  const { output, exitCode } = await runDemo(`
    return { failures: ['unexpected result: x'], broken: new Promise(() => {}) };`);

  expect(output).toBe('\nunexpected result: x\n');
  expect(exitCode).toBe(1);
});

test('a failed demo prints the error, stops everything that it started and exits with 1', async () => {
  const { output, stderr, exitCode } = await runDemo(`
    stack.defer(() => page.text('ended'));
    throw new Error('no port is free');`);

  expect({ output, stderr }).toEqual({ output: 'ended\n', stderr: 'demo: no port is free\n' });
  expect(exitCode).toBe(1);
});

test('on a terminal, a demo keeps running until one of its programs fails', async () => {
  const { output, exitCode } = await runDemo(
    `return { failures: [], broken: Promise.resolve('the gateway has ended') };`,
    'terminal',
  );

  expect(output).toMatch(
    /Press Ctrl-C to stop the demo and remove everything it created\.\r\nthe gateway has ended\r\n$/,
  );
  expect(exitCode).toBe(1);
});

test.each([['--once'], ['ONCE=1']])(
  'on a terminal with %s, a demo exits when it is complete',
  async (choice) => {
    const code = `page.text('done'); return { failures: [], broken: new Promise(() => {}) };`;

    const { output, exitCode } = await runDemo(code, 'terminal', choice);

    expect(output).toBe('done\r\n');
    expect(exitCode).toBe(0);
  },
);

/** Runs a demo, given by its code, in another process. */
async function runDemo(
  code: string,
  destination: 'pipe' | 'terminal' = 'pipe',
  choice = '',
): Promise<{ readonly output: string; readonly stderr: string; readonly exitCode: number }> {
  await using folder = new DemoFolder();
  const program = `import { play } from '${PLAY}'; await play(async ({ page, stack }) => {${code}});`;
  const command = [process.execPath, folder.write('demo.ts', program)];
  const [flags, env] =
    choice === 'ONCE=1'
      ? [[], { ONCE: '1' }]
      : [choice === '' ? [] : [choice], { ONCE: undefined }];
  let output = '';
  let stderr = '';
  const options = {
    env: { ...process.env, ...env },
    killSignal: 'SIGKILL',
    timeout: 20_000,
  } as const;
  if (destination === 'pipe') {
    const running = Bun.spawn([...command, ...flags], {
      ...options,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    [output, stderr] = [await running.stdout.text(), await running.stderr.text()];
    return { output, stderr, exitCode: await running.exited };
  }
  const data = (_: unknown, bytes: Uint8Array) => (output += Buffer.from(bytes).toString());
  const running = Bun.spawn([...command, ...flags], { ...options, terminal: { data } });
  const exitCode = await running.exited;
  return { output, stderr, exitCode };
}
