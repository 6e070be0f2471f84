import { expect, test } from 'bun:test';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { judgeKubeconfig } from './kubeconfig.ts';

const HOST = 'a.k8s.test';

function kubeconfig(server: string): string {
  return writeKubeconfig({
    server,
    ca: 'CA',
    credentials: { token: 'hush' },
    names: { cluster: 'a', user: 'admin' },
  });
}

test.each([
  ['with its port', 'https://a.k8s.test:443'],
  ['without a port', 'https://a.k8s.test'],
  ['in upper case', 'https://A.K8S.test/'],
])('a kubeconfig that points to the edge passes, %s', (_, server) => {
  const result = judgeKubeconfig({ text: kubeconfig(server) }, HOST, 443);

  expect(result).toEqual({
    name: 'kubeconfig',
    target: 'https://a.k8s.test:443',
    state: 'Pass',
    code: 'Passed',
    message: 'The kubeconfig points to a.k8s.test:443.',
  });
});

test('another host fails', () => {
  const result = judgeKubeconfig({ text: kubeconfig('https://10.96.3.4:6443') }, HOST, 443);

  expect(result).toMatchObject({ state: 'Fail', code: 'KubeconfigMismatch' });
  expect(result.message).toBe('The kubeconfig points to 10.96.3.4:6443, not to a.k8s.test:443.');
  expect(result.action).toBe(
    "Set the external host and port of the control plane to a.k8s.test:443 in its provider's object.",
  );
});

test('another port fails', () => {
  const result = judgeKubeconfig({ text: kubeconfig('https://a.k8s.test:6443') }, HOST, 443);

  expect(result).toMatchObject({ state: 'Fail', code: 'KubeconfigMismatch' });
  expect(result.message).toBe('The kubeconfig points to a.k8s.test:6443, not to a.k8s.test:443.');
});

test('reads the current context, not the first one', () => {
  const text = `
current-context: two
contexts:
- {name: one, context: {cluster: first}}
- {name: two, context: {cluster: second}}
clusters:
- {name: first, cluster: {server: "https://a.k8s.test"}}
- {name: second, cluster: {server: "https://b.k8s.test"}}
`;

  expect(judgeKubeconfig({ text }, HOST, 443).code).toBe('KubeconfigMismatch');
});

/** A YAML bomb: each line is ten times the previous one. */
const BOMB = Array.from({ length: 9 }, (_, index) =>
  index === 0 ? 'a0: &a0 [x]' : `a${index}: &a${index} [${`*a${index - 1},`.repeat(10)}]`,
).join('\n');

test.each<[string, string, string]>([
  ['is not YAML', 'users: [{token: hush}', 'The kubeconfig is not valid YAML (BAD_INDENT).'],
  ['has an undefined alias', 'clusters: *nothing\n', 'The kubeconfig is invalid at its top level.'],
  ['would exhaust the memory', BOMB, 'The kubeconfig is invalid at its top level.'],
  ['is empty', '', 'The kubeconfig is invalid at its top level.'],
  [
    'has no contexts',
    'current-context: a\nclusters: []\n',
    'The kubeconfig is invalid at contexts.',
  ],
  [
    'lacks the current context',
    'current-context: a\ncontexts: []\nclusters: []\n',
    "The kubeconfig has no context 'a'.",
  ],
  [
    'lacks the cluster',
    'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: []\n',
    "The kubeconfig has no cluster 'b'.",
  ],
  [
    'has a server without https',
    kubeconfig('http://a.k8s.test'),
    "The server of cluster 'a' in the kubeconfig is not an https URL.",
  ],
  [
    'has a server that is not a URL',
    kubeconfig('a.k8s.test'),
    "The server of cluster 'a' in the kubeconfig is not an https URL.",
  ],
])('a kubeconfig that %s is invalid', (_, text, message) => {
  const result = judgeKubeconfig({ text }, HOST, 443);

  expect(result).toMatchObject({ state: 'Fail', code: 'KubeconfigInvalid', message });
});

test('messages contain no credentials', () => {
  const broken = `${kubeconfig('https://b.k8s.test')}\n\t- hush: [hush`;
  const withPassword = kubeconfig('https://user:hush@b.k8s.test');

  const results = [broken, withPassword].map((text) => judgeKubeconfig({ text }, HOST, 443));

  expect(results.map(({ code }) => code)).toEqual(['KubeconfigInvalid', 'KubeconfigMismatch']);
  expect(JSON.stringify(results)).not.toContain('hush');
});

test('the server of a kubeconfig is enough if the text is unknown', () => {
  const codes = [
    'https://a.k8s.test',
    'https://a.k8s.test:6443',
    'https://10.96.3.4',
    'nowhere',
  ].map((server) => judgeKubeconfig({ server }, HOST, 443).code);

  expect(codes).toEqual([
    ...(['Passed', 'KubeconfigMismatch'] as const),
    ...(['KubeconfigMismatch', 'KubeconfigInvalid'] as const),
  ]);
});
