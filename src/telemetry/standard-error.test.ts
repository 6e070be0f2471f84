import { expect, test } from 'bun:test';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LINES = 1000;

const IMPORTS = `
  import { createLogger } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
  import { linesLost } from ${JSON.stringify(import.meta.resolve('./standard-error.ts'))};`;

/** Returns both ends of a pipe. */
function openPipe(readerFlags = 0): { readonly reader: number; readonly writer: number } {
  const folder = mkdtempSync(join(tmpdir(), 'snicket-log-'));
  const fifo = join(folder, 'fifo');
  Bun.spawnSync(['mkfifo', fifo]);
  const readWrite = openSync(fifo, constants.O_RDWR); // opening one end alone would block until the other is opened
  const reader = openSync(fifo, constants.O_RDONLY | readerFlags);
  const writer = openSync(fifo, 'w');
  closeSync(readWrite);
  rmSync(folder, { recursive: true });
  return { reader, writer };
}

/** Returns all bytes that the pipe holds now. */
function readPipe(reader: number): string {
  const bytes = Buffer.alloc(1024 * 1024);
  let length = 0;
  try {
    for (let count = -1; count !== 0; length += count) {
      count = readSync(reader, bytes, length, bytes.length - length, null);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
  }
  return bytes.toString('utf8', 0, length);
}

test.skipIf(process.platform !== 'linux')(
  'drops and counts lines that cannot be written, and the program continues',
  async () => {
    const program = `
      ${IMPORTS}
      const log = createLogger();
      log.error('one');
      log.error('two');
      console.log(linesLost());`;
    const full = openSync('/dev/full', 'w');
    const child = Bun.spawn([process.execPath, '-e', program], { stderr: full });

    const output = await new Response(child.stdout).text();

    expect(await child.exited).toBe(0);
    expect(output).toBe('2\n');
    closeSync(full);
  },
);

test.skipIf(process.platform !== 'linux')(
  'does not wait for a stalled reader, and continues with whole lines',
  async () => {
    const program = `
      ${IMPORTS}
      const log = createLogger();
      for (let count = 0; count < ${LINES}; count++) log.info('x'.repeat(5000));
      console.log(linesLost());
      await Bun.stdin.text();
      log.info('last');`;
    const { reader, writer } = openPipe(constants.O_NONBLOCK);
    const child = Bun.spawn([process.execPath, '-e', program], { stdin: 'pipe', stderr: writer });
    closeSync(writer);

    const { value } = await child.stdout.getReader().read();
    const lost = Number(new TextDecoder().decode(value));
    let text = '';
    const lineCount = () => text.split('\n').length - 1;
    while (lineCount() < LINES - lost && child.exitCode === null) {
      text += readPipe(reader);
      await Bun.sleep(1);
    }
    void child.stdin.end();
    await child.exited;
    text += readPipe(reader);
    closeSync(reader);

    expect(lost).toBeGreaterThan(LINES / 2);
    expect(lineCount()).toBe(LINES - lost + 1);
    const messages = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(new Set(messages)).toEqual(new Set(['x'.repeat(5000), 'last']));
  },
);

test('writes pending lines of a full pipe at exit', async () => {
  const program = `
    ${IMPORTS}
    const log = createLogger();
    for (let count = 0; count < 400; count++) log.info('x'.repeat(2000));
    console.log(linesLost());`;
  const { reader, writer } = openPipe();
  // Started before the program, because the program waits only a second for a reader when it exits.
  const counter = Bun.spawn(['wc', '-l'], { stdin: reader });
  closeSync(reader);
  const child = Bun.spawn([process.execPath, '-e', program], { stderr: writer });
  closeSync(writer);

  const output = await Promise.all([child.stdout.text(), counter.stdout.text()]);

  expect(output.map((text) => text.trim())).toEqual(['0', '400']);
});
