import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import { Terminal } from './testing/snicket.ts';
import { EDGE, exposureOf, terminalWithFiles } from './testing/yaml-objects.ts';

setDefaultTimeout(240_000);

describe('render -f', () => {
  let terminal: Terminal;
  beforeAll(() => {
    terminal = terminalWithFiles();
    terminal.write('torn.yaml', 'kind: {');
  });
  afterAll(() => terminal[Symbol.dispose]());

  test('has the exit codes of the documentation in its help', async () => {
    const page = readFileSync(join(import.meta.dir, '../../docs/tasks/render.md'), 'utf8');
    const [, section = ''] = page.split('## Exit codes');
    const rows = section.split('\n## ')[0]!.matchAll(/^\| (\d) \| (.+) \|$/gm);
    const documented = [...rows].map(
      ([, code, text = '']) => `${code} ${text.replaceAll('`', '')}`,
    );

    const { stdout } = await terminal.snicket(['render', '--help']);

    const exitCodesText = stdout.split('Exit codes:')[1]?.replaceAll(/\s+/g, ' ').trim();
    expect(exitCodesText).toBe(documented.join(' '));
  });

  test('reports errors with file and line, and prints nothing', async () => {
    terminal.write(
      'wrong.yaml',
      `# Two mistakes.
${exposureOf('blue', '  hosts:\n    api: Blue.example.com\n')}---
${EDGE.replace('haproxy', 'haproxi')}`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-f', 'wrong.yaml']);

    expect(stderr).toBe(
      [
        'error: wrong.yaml:13:10: Exposure tenants/blue: spec.hosts.api: invalid host "Blue.example.com": must be a lowercase DNS name with a dot, and not an IP address, such as tenant-01.k8s.example.com',
        'error: wrong.yaml:18:16: Edge shared: spec.driver: invalid value "haproxi": must be one of snicket, haproxy, haproxy-ingress, nginx, nginx-inc, traefik, contour, gateway-api, ingress, None',
        '',
      ].join('\n'),
    );
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test.each([
    [['-f', 'absent.yaml'], 2, 'error: cannot read absent.yaml: no such file'],
    [['-f', 'edge.yaml', 'absent.yaml'], 2, 'error: cannot read absent.yaml: no such file'],
    [
      ['-f', 'blue.yaml', 'tenants/bleu'],
      2,
      'error: Exposure not found: tenants/bleu\nhint: existing Exposures: tenants/blue\n',
    ],
    [
      ['-f', 'blue.yaml', 'tenants/blue', 'tenants/red'],
      2,
      'error: -f supports the name of one Exposure\nhint: remove tenants/red, or remove all names to select all Exposures',
    ],
    [
      ['tenants/blue', '-f', 'blue.yaml', 'red'],
      2,
      'error: -f supports the name of one Exposure\nhint: remove red, or remove all names to select all Exposures',
    ],
    [
      ['-f', '.'],
      2,
      'note: . is read as a folder of snicket run; for files of a cluster, pass ./*.yaml',
    ],
    [
      ['-f', 'edge.yaml', '.'],
      2,
      'error: folder . of snicket run cannot be combined with edge.yaml\nhint: pass the name of an Exposure before -f; for files of a cluster, pass ./*.yaml',
    ],
    [
      ['-f', '.', 'edge.yaml'],
      2,
      'error: folder . of snicket run cannot be combined with edge.yaml\nhint: pass the name of an Exposure before -f; for files of a cluster, pass ./*.yaml',
    ],
    [
      ['-f', '.', '--operator-namespace', 'x'],
      2,
      'error: --operator-namespace cannot be combined with -f\nhint: remove --operator-namespace',
    ],
    [
      ['-f', 'blue.yaml', '--context', 'x'],
      2,
      'error: --context cannot be combined with -f\nhint: remove --context',
    ],
    [
      ['-f', 'blue.yaml', 'tenants/blue', '-A'],
      2,
      'error: -A cannot be combined with a name or -n\nhint: remove -A, or the others',
    ],
    [['-f', 'torn.yaml'], 2, 'error: torn.yaml:'],
    [
      ['-f', 'edge.yaml'],
      2,
      'error: no Exposures in these files, and no control plane with the annotation snicket.dev/edge\nhint: add a file with an Exposure',
    ],
    [
      ['-f', 'blue.yaml'],
      1,
      'error: tenants/blue: EdgeNotFound: Edge shared does not exist.\nhint: Create it, or correct spec.edgeRef (no Edge exists).',
    ],
    [
      ['--service-address', '10.0.0.1'],
      2,
      'error: --service-address requires -f\nhint: remove --service-address',
    ],
    [
      ['-f', 'blue.yaml', '--service-address', 'x'],
      2,
      "error: invalid value 'x' for --service-address: must be an IP address such as 10.96.0.1",
    ],
    [
      ['a/b/c'],
      2,
      "error: invalid value 'a/b/c' for argument exposure: must be NAMESPACE/NAME or NAME",
    ],
    [
      ['tenants/blue', '-A'],
      2,
      'error: -A cannot be combined with a name or -n\nhint: remove -A, or the others',
    ],
    [
      ['tenants/blue', '-n', 'other'],
      2,
      'error: namespace tenants of blue differs from -n other\nhint: remove one of them',
    ],
    [['tenants/blue'], 2, 'error: no cluster configured'],
  ])('rejects %j', async (args, code, message) => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['render', ...args]);

    expect(stderr).toContain(message);
    expect(stdout).not.toContain('apiVersion');
    expect(exitCode).toBe(code);
  });
});

describe('render from a cluster', () => {
  test('names the existing Exposures if the requested one does not exist', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    const { exitCode, stderr } = await terminal.snicket(['render', 'tenants/bleu']);

    expect(stderr).toBe(
      'error: Exposure not found: tenants/bleu\nhint: existing Exposures: tenants/blue\n',
    );
    expect(exitCode).toBe(2);
  });

  test('exits with 0 if the cluster has no Exposures', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    using terminal = new Terminal(lab.management);

    for (const tool of ['render', 'diff']) {
      const { exitCode, stdout, stderr } = await terminal.snicket([tool]);

      expect(stderr).toBe('No Exposures found.\n');
      expect(stdout).toBe('');
      expect(exitCode).toBe(0);
    }
  });

  test('names the existing Exposures if the namespace has none', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    for (const tool of ['render', 'diff']) {
      const { exitCode, stdout, stderr } = await terminal.snicket([tool, '-n', 'nope']);

      expect(stderr).toBe(
        'error: no Exposures in namespace nope\nhint: existing Exposures: tenants/blue\n',
      );
      expect(stdout).toBe('');
      expect(exitCode).toBe(2);
    }
  });

  test('suggests checking the context if the cluster does not serve Exposures', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    lab.management.inject(
      { kind: 'error', status: 404, reason: 'NotFound' },
      { plural: 'exposures' },
      10,
    );

    const { exitCode, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toContain(
      '\nhint: this cluster does not serve Exposures; check the context, or install Snicket: kubectl apply -k deploy\n',
    );
    expect(stderr).toEndWith('kubectl apply -k deploy\n');
    expect(exitCode).toBe(2);
  });

  test('suggests checking the connection if no API server answers', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    await lab.management.goDown();

    const { exitCode, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toMatch(
      /^error: .*\nhint: check that the API server is running and that the context/,
    );
    expect(exitCode).toBe(2);
    await lab.management.comeUp();
  });

  test('reports that the management cluster cannot be read', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    using terminal = new Terminal(lab.management);
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    lab.management.inject(refusal, { plural: 'exposures' }, 10);

    const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-A']);

    expect(stderr).toMatch(/^error: .*exposures.*Forbidden/);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test.each(['render', 'diff', 'operator --dry-run'])(
    'says that Secrets cannot be read: %s',
    async (args) => {
      await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
      await lab.addTenant('blue');
      await lab.expose('blue');
      using terminal = new Terminal(lab.management);
      const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
      lab.management.inject(refusal, { verb: 'get', plural: 'secrets' }, 10);

      const { exitCode, stderr } = await terminal.snicket(args.split(' '));

      expect(stderr).toMatch(/^error: GET .*\/secrets\/blue-ca .*Forbidden\n$/);
      expect(exitCode).toBe(2);
    },
  );
});
