import { expect, test } from 'bun:test';
import { snicket } from './testing/in-process.ts';

test.each([
  [
    ['--kubeconfig', 'FILE', 'status'],
    'write options after the command: snicket status --kubeconfig ...',
  ],
  [['--kubeconfig', 'FILE'], 'see: snicket --help'],
  [['status', '--nonsense'], 'see: snicket status --help'],
])('%p has a hint', async (words, hint) => {
  const { exitCode, stdout, stderr } = await snicket(words);

  expect(stdout).toBe('');
  expect(stderr).toEndWith(`\nhint: ${hint}\n`);
  expect(exitCode).toBe(2);
});
