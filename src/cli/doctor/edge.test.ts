import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { until } from '../../operator/testing/until.ts';
import { EdgeLab, HOST_A, HOST_B } from '../../probe/edge-conformance/testing/edge-lab.ts';
import { PROGRESS_DELAY_MS } from '../output/progress.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

const LONG_HOST = `${'a.'.repeat(130)}example.com`;

let lab: EdgeLab;
let terminal: Terminal;
let passing: readonly string[];
let bad: readonly string[];
beforeAll(async () => {
  lab = await EdgeLab.create();
  terminal = new Terminal();
  terminal.write('a.crt', lab.a.authority.cert);
  terminal.write('b.crt', lab.b.authority.cert);
  terminal.write('empty.crt', '');
  passing = edge((await lab.gateway()).port);
  bad = edge((await lab.misbehavingEdge({ readsOnce: 'misroutes', noName: 'first' })).port);
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await lab[Symbol.asyncDispose]();
});

function edge(port: number): readonly string[] {
  const args = ['doctor', 'edge', `127.0.0.1:${port}`, '--hosts', `${HOST_A},${HOST_B}`];
  return [...args, '--ca', 'a.crt', 'b.crt', '--idle', '0.2s'];
}

test('prints a table for a good edge, and exits with 0', async () => {
  const { exitCode, stdout, stderr } = await terminal.snicket(passing);

  expect(stdout).toStartWith(
    'CHECK                RESULT  CODE\npassthrough          Pass    Passed\n',
  );
  expect(stdout).toEndWith('\n1 edge: 0 Fail, 0 Warn, 18 Pass, 0 Skip\n');
  expect(stdout).not.toContain('\u001B');
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});

test('prints failures and their fixes below the table', async () => {
  const { exitCode, stdout } = await terminal.snicket(bad);

  expect(stdout).toContain(
    [
      'Fail  no-name  DefaultRouteReachesTenant',
      `  The server at ${bad[2]} presented the certificate CN=kube-apiserver issued by CN=a.k8s.test-ca for a ClientHello without a server name.`,
      '  To do: Remove the default route of the edge, or the wildcard that matches the name.',
    ].join('\n'),
  );
  expect(stdout).toContain('split-hello          Fail    HelloNotRouted\n');
  expect(exitCode).toBe(1);
});

test('prints the same results as JSON', async () => {
  const json = await terminal.snicket([...bad, '-o', 'json']);
  const yaml = await terminal.snicket([...bad, '-o', 'yaml']);

  const value = JSON.parse(json.stdout) as { checks: readonly object[] };
  expect(value).toMatchObject({
    tally: { fail: 2, warn: 0, pass: 16, skip: 0 },
    edge: { host: '127.0.0.1', address: '127.0.0.1' },
    hosts: [HOST_A, HOST_B],
  });
  expect(value.checks).toContainEqual(
    expect.objectContaining({ check: 'no-name', state: 'Fail', code: 'DefaultRouteReachesTenant' }),
  );
  expect(parse(yaml.stdout)).toMatchObject({ tally: { fail: 2 } });
  expect([json.exitCode, yaml.exitCode]).toEqual([1, 1]);
});

test('exits with 0 if there are only warnings', async () => {
  const withoutCa = passing.slice(0, 5);

  const { exitCode, stdout } = await terminal.snicket([...withoutCa, '--idle', '0.2s']);

  expect(stdout).toContain('passthrough          Warn    PassthroughNotProven\n');
  expect(exitCode).toBe(0);
});

describe.each([80, 120])('on a terminal of %i columns', (columns) => {
  test('wraps lines and uses colors', async () => {
    const text = await terminal.show(bad, columns);

    const widths = text.split('\r\n').map((line) => Bun.stringWidth(line));
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    expect(text).toContain('\u001B[31m✗ Fail\u001B[0m');
  });
});

test('prints progress while it waits', async () => {
  const slow = await lab.misbehavingEdge({ noName: 'holds' });
  const args = ['doctor', 'edge', `127.0.0.1:${slow.port}`, '--hosts', HOST_A];

  const running = terminal.begin([...args, '--timeout', '0.2s', '--idle', '0.2s'], 80);

  await until('it says what it waits for', () => {
    running.io.clock.advance(PROGRESS_DELAY_MS);
    return running.text.includes('waiting for 127.0.0.1...');
  });
  await running.ended;
});

describe('exits with 2 and checks nothing if', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    [
      'the edge refuses connections',
      ['127.0.0.1:1'],
      'hint: check that the edge is running and reachable from here, or correct its address or port\n',
    ],
    [
      'the name does not resolve',
      ['edge.invalid'],
      'error: cannot resolve edge.invalid: no address found\nhint: correct the name or pass an IP address',
    ],
    ['the edge is not an address', ['edge:port'], "error: 'edge:port' is neither a DNS name"],
    ['there are no brackets', ['::1'], "error: '::1' requires brackets\nhint: pass [::1]:443"],
    [
      'the edge is a URL',
      ['https://127.0.0.1:8443/'],
      "error: 'https://127.0.0.1:8443/' is a URL\nhint: pass 127.0.0.1:8443\n",
    ],
    ['the edge is missing', ['--hosts', `${HOST_A},${HOST_B}`], "argument 'host[:port]'"],
    ['a host is none', ['127.0.0.1', '--hosts', '*.example.com'], 'invalid host'],
    ['a host is too long', ['127.0.0.1', '--hosts', LONG_HOST], 'must have at most 253 characters'],
    ['a CA has no name', ['127.0.0.1', '--ca', ''], 'must be the name of a file'],
    ['a CA is a comma', ['127.0.0.1', '--ca', ','], 'must be the name of a file'],
    ['a CA is not there', ['127.0.0.1', '--ca', 'none.crt'], '--ca none.crt: ENOENT'],
    ['a CA is empty', ['127.0.0.1', '--ca', 'empty.crt'], 'there is no certificate in it'],
    [
      'it is to wait for ever',
      ['127.0.0.1', '--idle', '9999s'],
      "error: invalid value '9999s' for --idle: must be a duration from 1ms to 2h",
    ],
  ];

  test.each(cases)('%s', async (_, args, message) => {
    const hosts = args.includes('--hosts') ? [] : ['--hosts', HOST_A];

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['doctor', 'edge', ...args, ...hosts],
    ]);

    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('there are no hosts', async () => {
    const { exitCode, stderr } = await terminal.snicket(['doctor', 'edge', '127.0.0.1']);

    expect(stderr).toBe(
      "error: required option '--hosts <host...>' not specified\nhint: see: snicket doctor edge --help\n",
    );
    expect(exitCode).toBe(2);
  });

  test('there are too many hosts', async () => {
    const hosts = Array.from({ length: 17 }, (__, index) => `t${index}.example.com`).join(',');

    const { exitCode, stderr } = await terminal.snicket([
      ...['doctor', 'edge', '127.0.0.1', '--hosts', hosts],
    ]);

    expect(stderr).toContain('error: too many hosts: 17\nhint: pass at most 16');
    expect(exitCode).toBe(2);
  });
});

describe('accepts several hosts and several CAs', () => {
  const proven = 'passthrough          Pass    Passed\n';
  const idle = ['--idle', '0.2s'];

  test.each([
    ['apart', [HOST_A, HOST_B], ['a.crt', 'b.crt']],
    ['with commas', [`${HOST_A},${HOST_B}`], ['a.crt,b.crt']],
    ['with commas and spaces', [`${HOST_A},`, HOST_B], ['a.crt,', 'b.crt']],
  ])('%s', async (_, hosts, files) => {
    const args = [...passing.slice(0, 3), '--hosts', ...hosts, '--ca', ...files, ...idle];

    const { stdout } = await terminal.snicket(args);

    expect(stdout).toContain(proven);
    expect(stdout).toContain('own-certificates     Pass    Passed\n');
  });

  test('before the edge', async () => {
    const [, , at = ''] = passing;
    const args = [...idle, '--ca', 'a.crt,b.crt', '--hosts', `${HOST_A},${HOST_B}`, at];

    const { stdout } = await terminal.snicket(['doctor', 'edge', ...args]);

    expect(stdout).toContain(proven);
  });

  test('in a file with a comma in its name', async () => {
    terminal.write('a,b.crt', lab.authorities);

    const { stdout } = await terminal.snicket([...passing.slice(0, 5), '--ca', 'a,b.crt', ...idle]);

    expect(stdout).toContain(proven);
  });
});

test('the help has examples and exit codes, in 80 columns', async () => {
  const { stdout, exitCode } = await terminal.snicket(['doctor', 'edge', '--help']);

  expect(stdout).toContain('Examples:');
  expect(stdout).toContain('Exit codes:');
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(exitCode).toBe(0);
});
