import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A folder below the system's temporary one that is gone when the demo is, however that ends: somebody else removes it, who
 * notices the end by a pipe that closes. `await using` waits until it is gone.
 */
export class DemoFolder implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), 'snicket-demo-'));
  readonly #remover = Bun.spawn(['sh', '-c', 'cat; rm -rf "$0"', this.path], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'inherit',
    // Ctrl-C is for the demo alone: this one is needed afterwards.
    detached: true,
  });

  /** Path of a file in it. */
  join(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** Writes a file, for its owner only, and returns its path. One that is so already is left alone: it may be watched. */
  write(name: string, text: string): string {
    const path = this.join(name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return path;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** What is in a file of it. */
  read(name: string): string {
    return readFileSync(this.join(name), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remover.stdin.end();
    await this.#remover.exited;
  }
}
