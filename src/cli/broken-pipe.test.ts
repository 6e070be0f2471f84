import { expect, setDefaultTimeout, test } from 'bun:test';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(60_000);

test('ends without a word when nobody reads its output any more', async () => {
  using terminal = new Terminal();
  // The program begins when its reader has hung up.
  const program = 'until [ -e gone ]; do sleep 0.01; done; exec "$0" dns --help';
  const line = `set -o pipefail; { ${program}; } | { exec <&-; touch gone; }`;

  const { exitCode, stderr } = await terminal.run(['bash', '-c', line, terminal.program]);

  expect(stderr).toBe('');
  expect(exitCode).toBe(141);
});
