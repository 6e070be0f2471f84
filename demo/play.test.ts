import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DemoFolder } from './stage/folder.ts';

const PLAY = join(import.meta.dir, 'play.ts');

test('a story that is as claimed ends with 0, and what it has started ends after it', async () => {
  const { output, exitCode } = await tell(`
    stack.defer(() => page.text('ended'));
    page.text('told');
    return { faults: [], broken: new Promise(() => {}) };`);

  expect(output).toBe('told\nended\n');
  expect(exitCode).toBe(0);
});

test('in a pipe there are no colors', async () => {
  const { output } = await tell(`
    page.heading('A heading');
    page.file('a.yaml', 'kind: A');
    page.table(['WHO', 'GETS'], [['kubectl', { text: 'tenant a', color: 'green' }]]);
    page.command({ line: 'kubectl version', shows: 'versions' });
    return { faults: [], broken: new Promise(() => {}) };`);

  expect(output).toMatch(/^ {2}kubectl +tenant a$/m);
  expect(output).not.toContain('\u001B');
});

test('a story that is not as claimed says so, and ends with 1', async () => {
  const { output, exitCode } = await tell(`
    return { faults: ['not as it should be: x'], broken: new Promise(() => {}) };`);

  expect(output).toBe('\nnot as it should be: x\n');
  expect(exitCode).toBe(1);
});

test('a story that fails says why, ends what it has started, and ends with 1', async () => {
  const { output, stderr, exitCode } = await tell(`
    stack.defer(() => page.text('ended'));
    throw new Error('no port is free');`);

  expect({ output, stderr }).toEqual({ output: 'ended\n', stderr: 'demo: no port is free\n' });
  expect(exitCode).toBe(1);
});

test('on a terminal a story stays, until it cannot go on', async () => {
  const { output, exitCode } = await tell(
    `return { faults: [], broken: Promise.resolve('the gateway has ended') };`,
    'terminal',
  );

  expect(output).toMatch(/Ctrl-C ends it, and nothing is left\.\r\nthe gateway has ended\r\n$/);
  expect(exitCode).toBe(1);
});

test.each([['--once'], ['ONCE=1']])('on a terminal with %s a story ends', async (how) => {
  const story = `page.text('told'); return { faults: [], broken: new Promise(() => {}) };`;

  const { output, exitCode } = await tell(story, 'terminal', how);

  expect(output).toBe('told\r\n');
  expect(exitCode).toBe(0);
});

/** Runs a story, given by its code, in another process. */
async function tell(
  story: string,
  where: 'pipe' | 'terminal' = 'pipe',
  how = '',
): Promise<{ readonly output: string; readonly stderr: string; readonly exitCode: number }> {
  await using folder = new DemoFolder();
  const code = `import { play } from '${PLAY}'; await play(async ({ page, stack }) => {${story}});`;
  const words = [process.execPath, folder.write('story.ts', code)];
  const [flags, env] =
    how === 'ONCE=1' ? [[], { ONCE: '1' }] : [how === '' ? [] : [how], { ONCE: undefined }];
  let output = '';
  let stderr = '';
  const options = {
    env: { ...process.env, ...env },
    killSignal: 'SIGKILL',
    timeout: 20_000,
  } as const;
  if (where === 'pipe') {
    const running = Bun.spawn([...words, ...flags], { ...options, stdout: 'pipe', stderr: 'pipe' });
    [output, stderr] = [await running.stdout.text(), await running.stderr.text()];
    return { output, stderr, exitCode: await running.exited };
  }
  const data = (_: unknown, bytes: Uint8Array) => (output += Buffer.from(bytes).toString());
  const running = Bun.spawn([...words, ...flags], { ...options, terminal: { data } });
  const exitCode = await running.exited;
  return { output, stderr, exitCode };
}
