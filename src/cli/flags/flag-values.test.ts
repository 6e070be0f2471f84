import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Terminal } from '../testing/snicket.ts';
import { terminalWithFiles } from '../testing/yaml-objects.ts';

setDefaultTimeout(240_000);

let terminal: Terminal;
beforeAll(() => void (terminal = terminalWithFiles()));
afterAll(() => terminal[Symbol.dispose]());

const FILE = 'must be the name of a file';
const FOLDER = 'must be the name of a folder';
const NAMESPACE = 'must be a lowercase RFC 1123 label of at most 63 characters';
const OBJECT = 'must be a lowercase RFC 1123 subdomain';
const IMAGE = 'must be an image reference, such as registry.example.com/snicket:1.2.3';
const VERSION = 'must be a Kubernetes version such as v1.36.0';

const RENDER = ['render', '-f', 'edge.yaml', 'blue.yaml'];
const LONG_HOST = `${'a.'.repeat(130)}example.com`;

async function expectRefused(args: readonly string[], sentence: string): Promise<void> {
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toContain(sentence);
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
}

describe('an empty value, as of an unset variable, is rejected:', () => {
  test.each([
    [['doctor', '-f', ''], FOLDER],
    [['kubeconfig', 'blue', '-f', ''], FOLDER],
    [['dns', '-f', ''], FILE],
    [['render', '-f', ''], FILE],
    [['render', '-f', 'edge.yaml', ''], FILE],
    [['run', ''], FOLDER],
    [['status', '--kubeconfig', ''], FILE],
    [['operator', '--kubeconfig', ''], FILE],
    [['operator', '--namespace', ''], NAMESPACE],
    ...['diff', 'dns', 'doctor', 'expose', 'render', 'status'].map(
      (command) => [[command, '-n', ''], NAMESPACE] as [string[], string],
    ),
    [['kubeconfig', 'blue', '-n', ''], NAMESPACE],
    [['status', '--operator-namespace', ''], NAMESPACE],
    [['gateway', '--kubernetes', '--edge', ''], OBJECT],
    ...['--name', '--edge', '--ca-secret', '--kubeconfig-secret'].map(
      (flag) => [['expose', 'blue', flag, ''], OBJECT] as [string[], string],
    ),
    [[...RENDER, '--proxy-image', ''], IMAGE],
    [[...RENDER, '--cluster-domain', ''], 'invalid domain "": must be a lowercase DNS name'],
    [[...RENDER, '--tenant-version', ''], VERSION],
  ])('%j', expectRefused);
});

describe('an invalid value is rejected, with the valid form:', () => {
  test.each([
    [['status', '-n', 'A B'], NAMESPACE],
    [[...RENDER, '--proxy-image', 'a b'], IMAGE],
    [['diff', '--proxy-image', 'a b'], IMAGE],
    [['doctor', '--proxy-image', 'a b'], IMAGE],
    [['operator', '--proxy-image', 'a b'], IMAGE],
    [['run', '.', '--proxy-image', 'a b'], IMAGE],
    [[...RENDER, '--cluster-domain', 'a b'], 'invalid domain "a b": must be a lowercase DNS name'],
    [[...RENDER, '--tenant-version', 'x'], VERSION],
    [['expose', '--api-host', LONG_HOST], 'must have at most 253 characters'],
    [['dns', '--format', 'windows', '--zone', LONG_HOST], 'must have at most 253 characters'],
  ])('%j', expectRefused);
});

test('valid values are accepted', async () => {
  const { exitCode, stdout } = await terminal.snicket([
    ...[...RENDER, '--proxy-image', 'registry.example.com:5000/a/snicket:1.2@sha256:0a'],
    ...['--cluster-domain', 'tenants.local', '--tenant-version', 'v1.34.1+k0s.0'],
  ]);

  expect(stdout).toContain('image: registry.example.com:5000/a/snicket:1.2@sha256:0a\n');
  expect(exitCode).toBe(0);
});

test('the hint quotes a folder name for the shell', async () => {
  using other = new Terminal();
  await other.run(['mkdir', 'sp ace;x']);
  other.write('sp ace;x/a.yaml', 'kind: Nonsense\n');

  const { stderr } = await other.snicket(['render', '-f', 'sp ace;x']);

  expect(stderr).toContain(
    "note: sp ace;x is read as a folder of snicket run; for files of a cluster, pass 'sp ace;x'/*.yaml\n",
  );
});
