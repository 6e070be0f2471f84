import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { edgeText, exposureText } from '../../standalone/testing/texts.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

test
  .skipIf(!existsSync('/dev/full'))
  .each(['version', 'completion bash', 'render -f tenants', 'dns --help'])(
  'says that a disk is full: %s',
  async (line) => {
    using terminal = new Terminal();
    mkdirSync(join(terminal.folder, 'tenants'));
    terminal.write('tenants/edge.yaml', edgeText('shared'));
    terminal.write('tenants/a.yaml', exposureText('a'));

    const { exitCode, stderr } = await terminal.run([
      ...['sh', '-c', 'exec "$0" "$@" > /dev/full', terminal.program, ...line.split(' ')],
    ]);

    expect(stderr).toEndWith('cannot write standard output: ENOSPC; the output is incomplete\n');
    expect(exitCode).toBe(2);
  },
);

test.skipIf(!existsSync('/dev/full'))(
  'keeps the exit code if the output cannot be written',
  async () => {
    using terminal = new Terminal();
    const line = 'exec "$0" status --state nowhere 2> /dev/full';

    const { exitCode } = await terminal.run(['sh', '-c', line, terminal.program]);

    expect(exitCode).toBe(2);
  },
);

test('ends silently when the reader has closed the pipe', async () => {
  using terminal = new Terminal();
  // The program starts after its reader has closed the pipe.
  const program = 'until [ -e gone ]; do sleep 0.01; done; exec "$0" dns --help';
  const line = `set -o pipefail; { ${program}; } | { exec <&-; touch gone; }`;

  const { exitCode, stderr } = await terminal.run(['bash', '-c', line, terminal.program]);

  expect(stderr).toBe('');
  expect(exitCode).toBe(141);
});
