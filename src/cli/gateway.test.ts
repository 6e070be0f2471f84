import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { snicket } from './testing/in-process.ts';
import { Terminal } from './testing/snicket.ts';

const main = resolve(import.meta.dir, '../main.ts');

async function gateway(...flags: string[]) {
  return snicket(['gateway', ...flags]);
}

test('explains itself, with units, defaults and examples', async () => {
  const { exitCode, stdout } = await gateway('--help');

  expect(exitCode).toBe(0);
  for (const text of [
    '--drain <duration>',
    '(default: 20s)',
    ':443',
    'SNICKET_ENGINE',
    'Examples:',
  ]) {
    expect(stdout).toContain(text);
  }
});

test('takes the engine from the environment, and rejects an unknown one', () => {
  const env = { ...process.env, SNICKET_ENGINE: 'turbo' };
  const ended = Bun.spawnSync([process.execPath, main, 'gateway', '--routes', 'x'], { env });

  expect(ended.stderr.toString()).toContain(
    "error: invalid value 'turbo' for $SNICKET_ENGINE: must be one of auto, epoll, bun",
  );
  expect(ended.exitCode).toBe(2);
});

test.each([
  [[], 'error: no source of routes\nhint: pass --routes FILE or --kubernetes'],
  [
    ['--routes', 'a', '--kubernetes'],
    "error: --routes 'a' and --kubernetes are mutually exclusive\nhint: remove one of them",
  ],
  [
    ['--routes', 'a', '--state', 'b'],
    "error: --state 'b' requires --kubernetes\nhint: pass --kubernetes or remove --state",
  ],
])('requires exactly one source of routes: %p', async (args, message) => {
  const { exitCode, stderr } = await gateway(...args);

  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

test('prints one error line for a missing kubeconfig', async () => {
  const { exitCode, stderr } = await gateway('--kubernetes', '--kubeconfig', '/nowhere/config');

  expect(stderr).toBe('error: kubeconfig not found: /nowhere/config\n');
  expect(exitCode).toBe(2);
});

test.each([
  [['--listen', 'example.com:443'], "'example.com' in 'example.com:443' is not an IP address"],
  [['--listen', '::1:443'], 'write [::1]:443'],
  [['--http', '9440'], "'9440' has no port from 0 to 65535"],
  [['--workers', '0'], "error: invalid value '0' for --workers: must be an integer from 1 to 256"],
  [
    ['--workers', '1.5'],
    "error: invalid value '1.5' for --workers: must be an integer from 1 to 256",
  ],
  [
    ['--engine', 'turbo'],
    "error: invalid value 'turbo' for --engine: must be one of auto, epoll, bun",
  ],
  [['--proxy-protocol', '10.0.0.0/99'], "'10.0.0.0/99' has no prefix length from 0 to 32"],
  [['--proxy-protocol', '10.0.0.1/8'], "'10.0.0.1/8' has host bits set"],
  [['--routes', ''], 'must be the name of a file'],
  [['--key-file', ''], 'must be the name of a file'],
  [['--access-log', ''], 'must be the name of a file'],
  [
    ['--grace', '10'],
    "error: invalid value '10' for --grace: must be a duration such as 30s or 1m30s",
  ],
  [['--drain', '25h'], "error: invalid value '25h' for --drain: must be a duration from 0s to 24h"],
  [
    ['--max-connections', '0'],
    "error: invalid value '0' for --max-connections: must be an integer from 1 to 10000000",
  ],
  [
    ['--max-tenant-connection-rate', 'many'],
    "error: invalid value 'many' for --max-tenant-connection-rate: must be an integer from 0 to 1000000",
  ],
  [
    ['--log-level', 'loud'],
    "error: invalid value 'loud' for --log-level: must be one of debug, info, warn, error",
  ],
])('rejects %p with exit code 2 and a hint', async (flags, message) => {
  const { exitCode, stderr } = await gateway('--routes', 'routes.yaml', ...flags);

  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

describe('with --validate', () => {
  const key = Buffer.alloc(32, 1).toString('base64');

  test('prints the valid files, exits with 0 and starts nothing', async () => {
    using terminal = new Terminal();
    terminal.write('good.json', '{"routes":[]}');
    terminal.write('good.keys', key);

    const ended = await terminal.snicket([
      ...['gateway', '--validate', '--routes', 'good.json', '--key-file', 'good.keys'],
    ]);

    expect(ended).toEqual({
      exitCode: 0,
      stdout: 'good.json: valid, 0 routes\ngood.keys: valid, 1 key\n',
      stderr: '',
    });
  });

  test('prints each error with its line, and exits with 2', async () => {
    using terminal = new Terminal();
    terminal.write('bad.yaml', 'routes:\n  - tenant: a\n    host: a..test\n');
    terminal.write('bad.keys', 'short');

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['gateway', '--validate', '--routes', 'bad.yaml', '--key-file', 'bad.keys'],
    ]);

    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('error: bad.yaml:3:11: ');
    expect(stderr).toContain('error: bad.keys:1: ');
  });

  test('prints only the error for a key file that is a YAML mapping', async () => {
    using terminal = new Terminal();
    terminal.write('keys.yaml', 'routes:\n  - {a: b}: c\n');

    const { stderr } = await terminal.snicket([
      ...['gateway', '--validate', '--routes', 'keys.yaml'],
    ]);

    expect(stderr).toBe(
      'error: keys.yaml:2:5: a list or mapping cannot be a key\nhint: write a name as the key\n',
    );
  });

  test('requires a routes file', async () => {
    const { exitCode, stderr } = await gateway('--kubernetes', '--validate');

    expect(stderr).toBe('error: --validate requires --routes\nhint: pass --routes FILE\n');
    expect(exitCode).toBe(2);
  });
});
