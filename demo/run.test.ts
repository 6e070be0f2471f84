import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { STATUS_FILE } from '../src/standalone/state/status-file.ts';
import { waitFor } from '../world/wait.ts';
import { TRY_IT, TRY_IT_ON_A_TERMINAL } from './play.ts';
import { STATE_FOLDER } from './stage/edge.ts';
import { DemoOnTerminal } from './testing/demo-on-terminal.ts';
import { findKubectl } from './testing/kubectl.ts';

const kubectl = findKubectl();

/** Time limit for starting a dozen programs on a busy machine. */
const TIMEOUT_MS = 240_000;

/** Expected output of each printed command. A command that is not listed fails the test. */
const EXPECTED: readonly (readonly [command: RegExp, output: RegExp])[] = [
  [/^cd /, /^$/],
  [/^kubectl .* (?:pod-of-)?a\.kubeconfig get namespaces$/, /^home-of-a +Active/m],
  [/^kubectl .* (?:pod-of-)?b\.kubeconfig get namespaces$/, /^home-of-b +Active/m],
  [/^kubectl .* get daemonsets,endpointslices/, /daemonset\S*\/snicket-proxy[^]*\/kubernetes /],
  [/^curl .* https:\/\/a\.k8s\.localhost\/version$/, /"gitVersion":"v1\./],
  [/^curl .* https:\/\/10\.96\.0\.1\/version$/, /unrecognized name/],
  [/^curl .* https:\/\/10\.96\.0\.1\/api\/v1\/namespaces .*a\/token/, /"home-of-a"/],
  [/^curl .* https:\/\/10\.96\.0\.1\/api\/v1\/namespaces .*b\/token/, /"home-of-b"/],
  [/^sed /, /^$/],
  [/^\.\/snicket status /, /^default\/b +b\.k8s\.localhost +shared +Terminate +1\/1/m],
  [/^\.\/snicket doctor /, /^1 Exposure: [01] Fail, 0 Warn/m],
  [/^curl \S+\/metrics$/, /^snicket_gateway_routes 2$/m],
  [/^curl \S+\/readyz$/, /^ready$/m],
];

describe('on a terminal', () => {
  let demo: DemoOnTerminal;
  const occupant = createServer();

  beforeAll(async () => {
    occupant.listen(8443, '127.0.0.1');
    // If another program already listens there, the test uses that one.
    await Promise.race([once(occupant, 'listening'), once(occupant, 'error')]).catch(() => {});
    demo = await DemoOnTerminal.start(80);
  }, TIMEOUT_MS);

  afterAll(async () => {
    occupant.close();
    await demo[Symbol.asyncDispose]();
  });

  test('without proxies only pods are rejected, and with proxies they reach their tenant', () => {
    const output = demo.lines.join('\n');

    // 1. The problem.
    expect(output).toMatch(/kubectl, tenant a +a\.k8s\.localhost +tenant a$/m);
    expect(output).toMatch(/kubectl, tenant b +b\.k8s\.localhost +tenant b$/m);
    expect(output.match(/a pod of tenant [ab] +none +alert unrecognized_name$/gm)).toHaveLength(2);
    // 2. The solution.
    for (const name of ['a', 'b']) {
      for (const mode of ['Passthrough', 'Terminate']) {
        const row = `${name} +${mode} +token +tenant ${name} +system:serviceaccount:default:pod$`;
        expect(output).toMatch(new RegExp(row, 'm'));
      }
    }
    // 3. All checks of snicket doctor pass.
    expect(output.match(/^ {2}api +✓ Pass +Passed/gm)).toHaveLength(2);
    expect(output.match(/^ {2}proxies +✓ Pass +ProxiesReady/gm)).toHaveLength(2);
    // 4. A port in use is skipped.
    expect(output).toMatch(/snicket run: the shared address +127\.0\.0\.1:\d+$/m);
    expect(output).not.toContain('127.0.0.1:8443');
  });

  test('prints in color, and fits into 80 columns except for the commands', () => {
    const beforeCommands = demo.lines.slice(0, demo.lines.indexOf(TRY_IT));

    expect(demo.output).toContain('\u001B[32mtenant a\u001B[0m');
    expect(beforeCommands.length).toBeGreaterThan(50);
    expect(beforeCommands.filter((line) => line.length > 80)).toEqual([]);
  });

  test(
    'each printed command has the described output',
    async () => {
      const commands = demo.commands.filter(
        (line) => kubectl !== undefined || !line.startsWith('kubectl'),
      );

      for (const line of commands) {
        const expected = EXPECTED.filter(([command]) => command.test(line));
        expect({ line, expectations: expected.length }).toEqual({ line, expectations: 1 });
        await expectOutput(line, expected[0]![1], demo.folder);
      }
      expect(commands.length).toBeGreaterThan(8);
    },
    TIMEOUT_MS,
  );

  test(
    'a change of a file takes effect',
    async () => {
      const { folder } = demo; // the previous test has changed tenants/a.yaml in it

      const isTerminating = () => {
        const status = exposuresIn(folder).get('a');
        return status?.mode === 'Terminate' && status.proxies?.summary === '1/1';
      };
      await waitFor('the proxy of tenant a is in mode Terminate', isTerminating, {
        deadlineMs: 200_000,
      });

      // The proxy may still be restarting in the other mode.
      const asPodOfA = demo.commands.find((line) => line.includes('a/token'))!;
      const getsThrough = async () => (await outputOf(asPodOfA, folder)).includes('"home-of-a"');
      await waitFor('a pod of tenant a gets through', getsThrough, { deadlineMs: 200_000 });
    },
    TIMEOUT_MS,
  );

  test(
    'removing the file of a tenant cleans up that tenant only',
    async () => {
      const { folder, commands } = demo;
      const toB = commands.find((line) => line.includes('b/token'))!;
      const toA = commands.find((line) => line.includes('a/token'))!;

      await outputOf('rm tenants/b.yaml', folder);

      const isGone = () => !exposuresIn(folder).has('b');
      await waitFor('the Exposure of tenant b is gone', isGone, { deadlineMs: 200_000 });
      // The proxy stops a moment later.
      const isRefused = async () => (await outputOf(toB, folder)).includes('curl: (7)');
      await waitFor('the proxy of tenant b has stopped', isRefused, { deadlineMs: 200_000 });
      expect(await outputOf(toA, folder)).toContain('"home-of-a"');
    },
    TIMEOUT_MS,
  );

  test('Ctrl-C stops the demo and removes everything', async () => {
    expect(demo.leftovers()).not.toEqual([]);

    const exitCode = await demo.interrupt();

    expect(exitCode).toBe(0);
    expect(demo.leftovers()).toEqual([]);
  });
});

test(
  'without a terminal, ends with a sentence in place of commands for a folder that is gone',
  async () => {
    const demo = Bun.spawn([process.execPath, join(import.meta.dir, 'run.ts')], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    });

    const output = await demo.stdout.text();

    expect(output).toEndWith(`\n${TRY_IT_ON_A_TERMINAL}\n`);
    expect(output).not.toContain('--kubeconfig');
    expect(await demo.exited).toBe(0);
  },
  TIMEOUT_MS,
);

describe('before it is ready', () => {
  test(
    'Ctrl-C removes all processes and files',
    async () => {
      await using demo = await DemoOnTerminal.start(120, 'WHERE');

      const exitCode = await demo.interrupt();

      expect(exitCode).toBe(1);
      expect(demo.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'SIGKILL removes all processes and files',
    async () => {
      await using demo = await DemoOnTerminal.start(120, 'WHERE');
      expect(demo.leftovers()).not.toEqual([]);

      await demo.kill();

      await waitFor('everything is gone', () => demo.leftovers().length === 0, {
        deadlineMs: 200_000,
      });
    },
    TIMEOUT_MS,
  );
});

interface Status {
  readonly mode?: string;
  readonly proxies?: { readonly summary: string };
}

/**
 * Returns the status of Exposures by name, from the file that `snicket status` reads. Running the command repeatedly is
 * slow.
 */
function exposuresIn(folder: string): ReadonlyMap<string, Status> {
  const text = readFileSync(join(folder, STATE_FOLDER, STATUS_FILE), 'utf8');
  const { items } = parse(text) as {
    items: readonly { kind: string; metadata: { name: string }; status?: Status }[];
  };
  const exposures = items.filter(({ kind }) => kind === 'Exposure');
  return new Map(exposures.map(({ metadata, status = {} }) => [metadata.name, status]));
}

/** Repeats a command until its output matches, because a paused proxy is not ready for a moment. */
async function expectOutput(line: string, expected: RegExp, folder: string): Promise<void> {
  let output = '';
  const matches = async () => {
    output = await outputOf(line, folder);
    return expected.test(output);
  };
  try {
    await waitFor(`${line} prints ${expected}`, matches, { deadlineMs: 200_000 });
  } finally {
    // Shows the last output, which the error of waitFor does not contain.
    expect({ line, output }).toEqual({ line, output: expect.stringMatching(expected) });
  }
}

/** Returns the output of a command, run as a user runs it. */
async function outputOf(line: string, folder: string): Promise<string> {
  const path = `${kubectl === undefined ? '' : `${dirname(kubectl)}:`}${process.env['PATH']}`;
  const shell = Bun.spawn(['sh', '-c', `${line} 2>&1`], {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    // kubectl caches API discovery in the home folder.
    env: { ...process.env, PATH: path, HOME: folder, KUBECONFIG: undefined },
  });
  return shell.stdout.text();
}
