import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandName, goVersion } from './go.ts';

// The rule of DefaultExecName in Go's cmd/go/internal/load.
test.each([
  ['k8s.io/kubernetes/cmd/kubelet', 'kubelet'],
  ['go.etcd.io/etcd/server/v3', 'server'],
  ['example.com/tool/v10', 'tool'],
  ['github.com/containerd/containerd/v2/cmd/ctr', 'ctr'],
  ['example.com/api/v1', 'v1'],
  ['example.com/api/v0', 'v0'],
  ['example.com/api/v1beta1', 'v1beta1'],
  ['example.com/vault', 'vault'],
  ['cmd', 'cmd'],
])('go build calls the program of %s %s', (path, name) => {
  expect(commandName(path)).toBe(name);
});

test('goVersion is the oldest version that every module accepts', () => {
  const modules = readdirSync(join(import.meta.dir, 'go'));

  const accepted = modules.map((name) => {
    const module = readFileSync(join(import.meta.dir, 'go', name, 'go.mod'), 'utf8');
    return /^go (\S+)$/m.exec(module)![1]!;
  });

  expect(accepted.toSorted(Bun.semver.order).at(-1)).toBe(goVersion);
});
