import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { until } from '../operator/testing/until.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import { SHELLS, type Shell } from './completion/scripts.ts';
import { RESOURCES } from '../kube/resource.ts';
import { ObjectStore } from '../kube/store/object-store.ts';
import { startStatusFile } from '../standalone/state/status-file.ts';
import { exposureText } from '../standalone/testing/texts.ts';
import { createLogger } from '../telemetry/log.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let terminal: Terminal;
let path: string;
beforeAll(async () => {
  server = await TestApiServer.start();
  terminal = new Terminal(server);
  for (const name of ['tenants', 'other']) server.seed(objectOf('Namespace', { name }));
  for (const key of ['tenants/blue', 'tenants/black', 'other/blue']) {
    const [namespace = '', name = ''] = key.split('/');
    server.seed(objectOf('Exposure', { name, namespace }, { spec: {} }));
  }
  const folder = join(terminal.folder, 'bin');
  mkdirSync(folder);
  for (const name of ['snicket', 'kubectl-snicket']) {
    symlinkSync(terminal.program, join(folder, name));
  }
  writeFileSync(
    join(folder, 'kubectl_complete-snicket'),
    '#!/bin/sh\nexec kubectl-snicket __complete "$@"\n',
    { mode: 0o755 },
  );
  path = `${folder}:${process.env['PATH']}`;
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

async function completionsOf(...args: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await terminal.snicket(['__complete', ...args]);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return stdout.trimEnd().split('\n');
}

describe('__complete', () => {
  test('prints commands with their description', async () => {
    const completions = await completionsOf('re');

    expect(completions).toEqual([
      'render\tPrint the objects that Exposures result in, from a cluster or from files',
      ':4',
    ]);
  });

  test('prints every command of the help', async () => {
    const { stdout } = await terminal.snicket(['--help']);
    const listed = [...stdout.matchAll(/^ {2}([a-z][-a-z]*) /gm)].map(([, name]) => name ?? '');

    const completions = await completionsOf('');

    expect(listed.length).toBeGreaterThan(8);
    expect(completions.map((line) => line.split('\t')[0] ?? '')).toEqual([...listed, ':4']);
    expect(await completionsOf('help', '')).toEqual(completions);
  });

  test('prints options and their values, and leaves files to the shell', async () => {
    expect(await completionsOf('dns', '--wil')).toEqual([
      '--wildcard\twildcard records, one for hosts that share a parent',
      ':4',
    ]);
    expect(await completionsOf('dns', '--format', 'd')).toEqual(['dnsmasq', ':4']);
    expect(await completionsOf('dns', '--format', 'cloudflared')).toEqual(['cloudflared', ':4']);
    expect(await completionsOf('dns', '--addr')).toEqual([
      expect.stringMatching(/^--address\t/),
      ':4',
    ]);
    expect(await completionsOf('render', '-f', '')).toEqual([':0']);
    expect(await completionsOf('nonsense', '')).toEqual([':4']);
  });

  test('prints the names of Edges', async () => {
    server.seed(objectOf('Edge', { name: 'shared' }, { spec: { driver: 'snicket' } }));

    expect(await completionsOf('expose', '--edge', '')).toEqual(['shared', ':4']);
  });

  test('prints Exposures by name in the selected namespace, and with their namespace', async () => {
    expect(await completionsOf('dns', '')).toEqual([
      ...['black', 'blue', 'other/blue', 'tenants/black', 'tenants/blue', ':4'],
    ]);
    expect(await completionsOf('dns', 'blue', 'bl')).toEqual(['black', ':4']);
    expect(await completionsOf('kubeconfig', '-n', 'other', '')).toEqual([
      'blue',
      'other/blue',
      ':4',
    ]);
    expect(await completionsOf('render', '-n', '')).toEqual(['other', 'tenants', ':4']);
  });

  test('prints the Exposures of the namespace in the context if listing all namespaces is forbidden', async () => {
    // The first list request is for all namespaces.
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    server.inject(refusal, { verb: 'list', plural: 'exposures' });

    expect(await completionsOf('diff', '')).toEqual([
      ...['black', 'blue', 'tenants/black', 'tenants/blue', ':4'],
    ]);
  });

  test('prints the Exposures of a folder, and of the state of snicket run', async () => {
    mkdirSync(join(terminal.folder, 'tenants'));
    terminal.write('tenants/blue.yaml', exposureText('violet'));
    const store = new ObjectStore({ historyLimit: 10 });
    const amber = objectOf('Exposure', { name: 'amber', namespace: 'default' });
    store.put(RESOURCES.exposure, amber);
    startStatusFile({
      state: terminal.folder,
      folder: `${terminal.folder}/tenants`,
      store,
      log: createLogger(),
    }).stop();

    expect(await completionsOf('doctor', '-f', 'tenants', 'v')).toEqual(['violet', ':4']);
    expect(await completionsOf('doctor', '-f', 'none', '')).toEqual([':4']);
    expect(await completionsOf('status', '--state', '.', '')).toEqual([
      'amber',
      'default/amber',
      ':4',
    ]);
    expect(await completionsOf('status', '--state', '.', '-n', '')).toEqual(['default', ':4']);
    expect(await completionsOf('status', '--state', '.', '-n', 'other', '')).toEqual([':4']);
  });

  test('prints no candidates and no error without a cluster', async () => {
    using withoutCluster = new Terminal();

    const completions = await withoutCluster.snicket(['__complete', 'dns', '']);

    expect(completions).toEqual({ exitCode: 0, stdout: ':4\n', stderr: '' });
  });

  test('prints no candidates and exits if the cluster does not respond', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const kubeconfig = writeKubeconfig({
      server: `https://127.0.0.1:${port}`,
      ca: server.ca,
      credentials: { token: 'a' },
      names: { cluster: 'silent', user: 'me' },
    });
    using withoutCluster = new Terminal();
    withoutCluster.write('silent', kubeconfig);

    // With the real timeout of two seconds.
    const completions = await withoutCluster.spawn([
      '__complete',
      'dns',
      '--kubeconfig',
      'silent',
      '',
    ]);

    silent.close();
    expect(completions).toEqual({ exitCode: 0, stdout: ':4\n', stderr: '' });
  });
});

test.skipIf(Bun.which('kubectl') === null)('kubectl completes snicket as a plugin', async () => {
  const { stdout } = await terminal.run([
    ...['env', `PATH=${path}`, 'kubectl', '__complete', 'snicket', 'dns', '--format', 'dn'],
  ]);

  expect(stdout).toBe('dnsmasq\n:4\n');
});

interface Start {
  readonly args: readonly string[];
  readonly setUp: string;
  /** Matches the terminal once the shell waits for input. Completion ignores earlier input. */
  readonly ready: RegExp;
}

/** How to start each shell without startup files of the user, and how to set up completion. */
const STARTS: Readonly<Record<Shell, Start>> = {
  bash: {
    args: ['bash', '--norc', '--noprofile', '-i'],
    setUp: 'source <(snicket completion bash)',
    ready: /set-up-42\s+ready> $/,
  },
  zsh: {
    args: ['zsh', '-f', '-i'],
    setUp: 'autoload -U compinit; compinit -u -D; source <(snicket completion zsh)',
    ready: /set-up-42[^]*ready> $/,
  },
  fish: {
    args: ['fish', '--no-config', '--interactive'],
    setUp: 'snicket completion fish | source',
    ready: /set-up-42/,
  },
};

/** Shorter than the timeout of a test, so that a failure reports the content of the terminal. */
const SEEN_MS = 40_000;
/** How long to wait for a name that Tab completes: longer than the timeout of completion. */
const NAME_MS = 6000;
const KILL_LINE = '\x15';

/** A line whose first part ends with a Tab, which completes `name`. */
interface NamedLine {
  readonly start: string;
  readonly name: string;
  readonly rest: string;
}

/** Types a line at a prompt, and waits until the terminal matches `seen`. */
async function typed(shell: Shell, line: string | NamedLine, seen: RegExp): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  const { args, setUp, ready } = STARTS[shell];
  const running = Bun.spawn([...args], {
    cwd: terminal.folder,
    env: {
      PATH: path,
      HOME: terminal.folder,
      TERM: 'dumb',
      PS1: 'ready> ',
      KUBECONFIG: join(terminal.folder, 'kubeconfig'),
      LC_ALL: 'C.UTF-8',
      LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'],
    },
    terminal: {
      cols: 200,
      rows: 24,
      data: (_, bytes) => (text += decoder.decode(bytes, { stream: true })),
    },
  });
  try {
    // The quotes keep the pattern from matching the echoed command line.
    running.terminal?.write(`${setUp}; echo set-up-"4""2"\r`);
    await until(`${shell} is ready`, () => ready.test(Bun.stripANSI(text)), SEEN_MS);
    text = '';
    if (typeof line === 'string') running.terminal?.write(line);
    else {
      // Completion prints no names after its timeout. The line is typed again then.
      for (let attempt = 1; attempt <= 5; attempt++) {
        text = '';
        running.terminal?.write(`${attempt === 1 ? '' : KILL_LINE}${line.start}`);
        const { name } = line;
        const isShown = () => Bun.stripANSI(text).includes(name);
        if (await until(name, isShown, NAME_MS).catch(() => false)) break;
      }
      running.terminal?.write(line.rest);
    }
    await until(`${shell} shows ${seen}`, () => seen.test(Bun.stripANSI(text)), SEEN_MS);
  } catch (error) {
    throw new Error(`${String(error)}; the terminal shows ${JSON.stringify(text)}`, {
      cause: error,
    });
  } finally {
    running.kill('SIGKILL');
    await running.exited;
    running.terminal?.close();
  }
}

describe.each(SHELLS)('%s', (shell) => {
  const isInstalled = Bun.which(shell) !== null;

  test.skipIf(!isInstalled)(
    'completes a command and the value of an option, and runs it',
    async () => {
      await typed(shell, 'snicket vers\t-o js\t\r', /"platform": "/);
    },
  );

  test.skipIf(!isInstalled)('completes the name of an Exposure', async () => {
    const start = 'kubectl-snicket dns tenants/bla\t';
    const line = { start, name: 'tenants/black', rest: '--format hosts\r' };

    await typed(shell, line, /tenants\/black: /);
  });

  test.skipIf(!isInstalled)('completes the name of a file', async () => {
    terminal.write('unmistakable.yaml', 'a: [');

    await typed(shell, 'snicket render -f unmis\t\r', /error: unmistakable\.yaml/);
  });
});

test('bash parses the script, and the help explains the kubectl plugin', async () => {
  const { stdout, exitCode } = await terminal.snicket(['completion', 'bash']);
  const help = await terminal.snicket(['completion', '--help']);
  const refused = await terminal.snicket(['completion', 'tcsh']);

  expect(exitCode).toBe(0);
  expect(Bun.spawnSync(['bash', '-n'], { stdin: Buffer.from(stdout) }).success).toBe(true);
  expect(help.stdout).toContain('kubectl_complete-snicket');
  expect(Math.max(...help.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(refused.stderr).toContain(
    "error: invalid value 'tcsh' for argument shell: must be one of bash, zsh, fish",
  );
  expect(refused.exitCode).toBe(2);
});
