import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A temporary folder that is removed when the demo ends, even if it is killed. A separate process removes the folder
 * when its input pipe closes. `await using` waits until the folder is removed.
 */
export class DemoFolder implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), 'snicket-demo-'));
  readonly #remover = Bun.spawn(['sh', '-c', 'cat; rm -rf "$0"', this.path], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'inherit',
    // Ctrl-C must not reach the remover, which runs after the demo has ended.
    detached: true,
  });

  /** Returns the path of a file in the folder. */
  join(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /**
   * Writes a file with mode 0600 and returns its path. A file with the same content is not written, because a program
   * may watch it.
   */
  write(name: string, text: string): string {
    const path = this.join(name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return path;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Returns the content of a file in the folder. */
  read(name: string): string {
    return readFileSync(this.join(name), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remover.stdin.end();
    await this.#remover.exited;
  }
}
