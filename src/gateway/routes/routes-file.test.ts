/** Tests a routes file with more routes than free slots. ../routes-file.test.ts tests a gateway with a file. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import { routesJson, until } from '../testing/lab.ts';
import { RETRY_MS } from './routes-feed.ts';
import { RoutesFile } from './routes-file.ts';

/** A routes file, and a gateway with slots for `room` routes. */
class FileLab implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-routes-'));
  readonly clock = new ManualClock();
  readonly log: Record<string, unknown>[] = [];
  readonly file: RoutesFile;
  slots = 2;
  active: readonly string[] = [];
  attempts = 0;

  constructor() {
    const write = (line: string) => this.log.push(JSON.parse(line) as Record<string, unknown>);
    this.file = new RoutesFile(
      { path: join(this.folder, 'routes.json'), clock: this.clock },
      {
        log: createLogger({ level: 'debug', write }),
        onRoutes: (routes) => {
          this.attempts++;
          this.active = routes.slice(0, this.slots).map(({ host }) => host);
          const waiting = routes.length - this.active.length;
          return { added: this.active.length, changed: 0, removed: 0, waiting };
        },
        onUpdate: () => {
          throw new Error('a file has all routes');
        },
        known: () => undefined,
      },
    );
  }

  write(...hosts: readonly string[]): void {
    this.writeText(routesJson(hosts.map((host) => ({ host }))));
  }

  writeText(text: string): void {
    writeFileSync(join(this.folder, 'routes.json'), text);
  }

  errors(): readonly string[] {
    return this.log.filter(({ level }) => level === 'error').map(({ error }) => String(error));
  }

  /** Advances the clock to the next poll of the file, which finds no change, and the next try of the waiting routes. */
  retry(): void {
    this.clock.advance(RETRY_MS);
  }

  [Symbol.dispose](): void {
    this.file.stop();
    rmSync(this.folder, { recursive: true });
  }
}

test('retries a version until all its routes are active, and logs it once', async () => {
  using lab = new FileLab();
  lab.write('a.test', 'b.test', 'c.test');

  await lab.file.start();
  lab.retry();

  expect(lab.active).toEqual(['a.test', 'b.test']);
  expect(lab.attempts).toBe(2);
  expect(lab.errors()).toEqual([expect.stringContaining('1 routes wait for a free slot')]);
  expect(lab.file.state).toMatchObject({ isCurrent: false, loads: 0, failures: 1 });
  expect(lab.file.state.problem).toContain('1 routes wait for a free slot');

  lab.slots = 3;
  lab.retry();
  lab.retry();

  expect(lab.active).toEqual(['a.test', 'b.test', 'c.test']);
  expect(lab.attempts).toBe(3);
  expect(lab.file.state).toMatchObject({
    isCurrent: true,
    problem: undefined,
    loads: 1,
    failures: 1,
  });
});

test('uses the next version, even if routes of the previous one waited', async () => {
  using lab = new FileLab();
  lab.write('a.test', 'b.test', 'c.test');
  await lab.file.start();

  lab.write('d.test');
  await until(() => lab.file.state.isCurrent, 'the next version');
  lab.slots = 3;
  lab.retry();

  expect(lab.active).toEqual(['d.test']);
  expect(lab.attempts).toBe(2);
});

test('keeps retrying a waiting version when the next version is invalid, and keeps reporting the invalid one', async () => {
  using lab = new FileLab();
  lab.write('a.test', 'b.test', 'c.test');
  await lab.file.start();
  lab.writeText('routes: [');
  await until(() => lab.file.state.failures === 2, 'the load error');
  const { problem } = lab.file.state;

  lab.slots = 3;
  lab.retry();

  expect(lab.active).toEqual(['a.test', 'b.test', 'c.test']);
  expect(lab.file.state).toMatchObject({ isCurrent: false, problem, loads: 1 });
});

test('stops retrying when it is stopped', async () => {
  using lab = new FileLab();
  lab.write('a.test', 'b.test', 'c.test');
  await lab.file.start();

  lab.file.stop();
  lab.retry();

  expect(lab.attempts).toBe(1);
});
