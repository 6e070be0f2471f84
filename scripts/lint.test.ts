import { expect, test } from 'bun:test';
import { copyFile, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

// Runs the real oxlint with the real configuration on a small tree of the same shape as this repository. A typo or an
// upgrade can disable a rule silently, because oxlint ignores a regex that it cannot parse.

const root = resolve(import.meta.dir, '..');

/** Lints a tree of these files (text by path). Violations have the form `path rule`. */
async function lint(files: Readonly<Record<string, string>>) {
  const tree = await mkdtemp(join(tmpdir(), 'snicket-lint-'));
  for (const name of ['.oxlintrc.jsonc', 'tsconfig.json']) {
    await copyFile(join(root, name), join(tree, name));
  }
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (const [path, text] of Object.entries(files)) await Bun.write(join(tree, path), text);

  // Names the folders, because oxlint would follow the link to node_modules.
  const oxlint = Bun.spawn(['node_modules/.bin/oxlint', '--format=json', 'src', 'world'], {
    cwd: tree,
  });
  const report = JSON.parse(await oxlint.stdout.text()) as {
    diagnostics: { filename: string; code: string }[];
  };
  const exitCode = await oxlint.exited;
  await rm(tree, { recursive: true });

  const violations = report.diagnostics.map(({ filename, code }) => `${filename} ${code}`);
  return { exitCode, violations: violations.toSorted() };
}

const clean = {
  'src/kube/client.ts': 'export const client = 1;\n',
  'src/wire/hello.ts': 'export const hello = 1;\n',
  'src/gateway/route.ts': "export { hello } from '../wire/hello.ts';\n",
  'src/operator/exposure.ts': "export { client } from '../kube/client.ts';\n",
  'src/plan/hosts.test.ts': 'export const first = (names: string[]): string => names[0]!;\n',
  'src/plan/times.test.ts': 'export const now = (): number => Date.now();\n',
  'src/cli/io/process-io.ts': 'export const env = process.env;\n',
  'src/cli/status.test.ts': 'export const env = process.env;\n',
  'world/cluster.ts': "export { client } from '../src/kube/client/client.ts';\n",
};

/** Allowed imports: a file, and what it imports. */
const ALLOWED_IMPORTS: readonly (readonly [string, string])[] = [
  ['src/gateway/a.ts', '../engine/engine.ts'],
  ['src/engine/epoll/a.ts', '../../system/libc.ts'],
  ['src/probe/a.ts', '../node-address/node-addresses.ts'],
  // Exceptions for tcp-proxy, and for the files that start the data plane.
  ['src/tcp-proxy/a.ts', '../kube/client/client.ts'],
  ['src/tcp-proxy/a.ts', '../kube/election/lease.ts'],
  ['src/tcp-proxy/a.ts', '../kube/object.ts'],
  ['src/tcp-proxy/a.ts', '../api/labels.ts'],
  ['src/tcp-proxy/a.ts', '../proxy/proxy.ts'],
  ['src/tcp-proxy/testing/a.ts', '../../kube/testing/api-server.ts'],
  ['src/tcp-proxy/a.test.ts', '../kube/testing/api-server.ts'],
  ['src/cli/gateway.ts', '../gateway/run-gateway.ts'],
  ['src/cli/flags/gateway-flags.ts', '../../gateway/options.ts'],
  ['src/standalone/standalone.ts', '../gateway/gateway.ts'],
  ['src/cli/operator.ts', '../operator/run-operator.ts'],
  ['src/cli/status/a.ts', '../../operator/run-operator.ts'],
  ['src/cli/plans/a.ts', '../../reconcile/dry-run.ts'],
  ['src/discovery/a.ts', '../gateway/routes/route.ts'],
  // Basics, and modules of kube without I/O.
  ['src/plan/a.ts', '../kube/object.ts'],
  ['src/plan/a.ts', '../kube/apply/needs-apply.ts'],
  ['src/plan/a.ts', '../net/listen-address.ts'],
  ['src/providers/reading/a.ts', '../../kube/access/kubeconfig.ts'],
  ['src/providers/reading/a.ts', 'node:crypto'],
  ['src/edges/drivers/a.ts', '../gateway-api/parent.ts'],
  // Tests of the control plane.
  ['src/tenant/a.test.ts', 'node:fs'],
  ['src/operator/testing/a.ts', '../../gateway/testing/lab.ts'],
];

/** Forbidden imports, at least one for each pattern and each folder. */
const REFUSED_IMPORTS: readonly (readonly [string, string])[] = [
  // Tests and worlds are not part of the product.
  ['src/cli/a.ts', '../../e2e/run.ts'],
  ['src/main.ts', '../world/cluster.ts'],
  ['src/proxy/a.ts', '../../world/cluster.ts'],
  ['src/wire/a.ts', '../../world/cluster.ts'],
  ['src/tcp-proxy/a.ts', '../../world/cluster.ts'],
  ['src/discovery/a.ts', '../../world/cluster.ts'],
  ['src/plan/a.ts', '../../world/cluster.ts'],
  ['src/cli/gateway.ts', '../../world/cluster.ts'],
  ['src/plan/a.test.ts', '../../world/cluster.ts'],
  ['src/tcp-proxy/a.test.ts', '../../world/cluster.ts'],
  // The data plane, and the basics that both planes share, import nothing of the control plane.
  ['src/engine/a.ts', '../cli/table.ts'],
  ['src/engine/a.test.ts', '../kube/object.ts'],
  ['src/gateway/deep/a.ts', '../../kube/client.ts'],
  ['src/proxy/a.ts', '../tenant/pod.ts'],
  ['src/wire/a.ts', '../hosting/etcd.ts'],
  ['src/clock/a.ts', '../operator/a.ts'],
  ['src/files/a.ts', '../standalone/a.ts'],
  ['src/net/testing/a.ts', '../../pki/authority.ts'],
  ['src/node-address/a.ts', '../plan/plan.ts'],
  ['src/system/a.ts', '../api/edge.ts'],
  ['src/telemetry/a.ts', '../probe/hop.ts'],
  ['src/text/a.ts', '../edges/driver.ts'],
  // The basics import nothing of the data plane.
  ['src/net/a.ts', '../engine/engine.ts'],
  ['src/system/a.ts', '../proxy/proxy.ts'],
  ['src/files/a.ts', '../gateway/gateway.ts'],
  // tcp-proxy may import only the client for its Leases and its EndpointSlice.
  ['src/tcp-proxy/a.ts', '../kube/informer/informer.ts'],
  ['src/tcp-proxy/a.ts', '../kube/election/leader-election.ts'],
  ['src/tcp-proxy/a.ts', '../kube/work-queue.ts'],
  ['src/tcp-proxy/a.ts', '../api/exposure.ts'],
  ['src/tcp-proxy/a.ts', '../tenant/tenant-objects.ts'],
  // The control plane imports the data plane only to start it.
  ['src/api/a.ts', '../gateway/options.ts'],
  ['src/cli/status.ts', '../gateway/options.ts'],
  ['src/cli/flags/a.ts', '../../engine/limits.ts'],
  ['src/kube/a.ts', '../proxy/proxy.ts'],
  ['src/management/a.ts', '../engine/engine.ts'],
  ['src/manifests/a.ts', '../engine/engine.ts'],
  ['src/operator/exposure/a.ts', '../../gateway/gateway.ts'],
  ['src/pki/a.ts', '../proxy/credentials/credentials.ts'],
  ['src/probe/a.ts', '../tcp-proxy/settings.ts'],
  ['src/reconcile/a.ts', '../gateway/gateway.ts'],
  ['src/standalone/a.ts', '../gateway/gateway.ts'],
  ['src/discovery/a.ts', '../gateway/options.ts'],
  ['src/discovery/a.ts', '../engine/engine.ts'],
  ['src/edges/a.ts', '../gateway/routes/route.ts'],
  ['src/tenant/a.ts', '../engine/limits.ts'],
  // The operator and the commands share the modules that read the management cluster.
  ['src/management/a.ts', '../operator/operator.ts'],
  ['src/management/a.ts', '../cli/status.ts'],
  ['src/reconcile/a.ts', '../operator/operator.ts'],
  ['src/reconcile/tenant/a.ts', '../../standalone/standalone.ts'],
  ['src/reconcile/a.ts', '../../world/cluster.ts'],
  ['src/cli/a.ts', '../operator/operator.ts'],
  ['src/cli/plans/a.ts', '../../operator/exposure/exposure-controller.ts'],
  ['src/management/a.ts', '../../world/cluster.ts'],
  // No I/O in folders of pure functions.
  ['src/edges/drivers/a.ts', 'node:fs'],
  ['src/plan/a.ts', 'node:fs/promises'],
  ['src/plan/a.ts', 'fs'],
  ['src/plan/a.ts', 'node:net'],
  ['src/plan/a.ts', 'node:tls'],
  ['src/plan/a.ts', 'node:dns/promises'],
  ['src/plan/a.ts', 'node:http'],
  ['src/plan/a.ts', 'node:https'],
  ['src/plan/a.ts', 'node:child_process'],
  ['src/plan/a.ts', 'node:worker_threads'],
  ['src/plan/a.ts', 'node:timers/promises'],
  ['src/tenant/a.ts', 'bun:ffi'],
  ['src/hosting/a.ts', 'bun:sqlite'],
  ['src/plan/a.ts', '../operator/operator.ts'],
  ['src/plan/a.ts', '../management/exposure-index.ts'],
  ['src/plan/a.ts', '../reconcile/dry-run.ts'],
  ['src/plan/a.ts', '../clock/clock.ts'],
  ['src/plan/a.ts', '../files/atomic-write.ts'],
  ['src/plan/a.ts', '../net/tcp-listener.ts'],
  ['src/plan/a.ts', '../kube/apply/apply.ts'],
  ['src/edges/a.ts', '../kube/informer/informer.ts'],
  ['src/hosting/a.ts', '../kube/store/memory-client.ts'],
  ['src/providers/deep/a.ts', '../../kube/client/client.ts'],
  ['src/providers/deep/a.ts', '../../kube/access/default-access.ts'],
  ['src/tenant/a.ts', '../kube/transport/transport.ts'],
  ['src/tenant/a.ts', '../kube/work-queue.ts'],
];

/** Writes one file per import: `src/plan/a.ts` becomes `src/plan/a7.ts`, except for names that a rule contains. */
function filesWith(imports: readonly (readonly [string, string])[]): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [index, [path, specifier]] of imports.entries()) {
    const name = path.replace(/\/a((?:\.test)?\.ts)$/, `/a${index}$1`);
    if (name in files) throw new Error(`two imports in ${name}`);
    files[name] = `export * from '${specifier}';\n`;
  }
  return files;
}

test('accepts a tree that follows the rules', async () => {
  const { exitCode, violations } = await lint({ ...clean, ...filesWith(ALLOWED_IMPORTS) });

  expect(violations).toEqual([]);
  expect(exitCode).toBe(0);
});

test('rejects every import that breaks a rule', async () => {
  const files = filesWith(REFUSED_IMPORTS);

  const { exitCode, violations } = await lint({ ...clean, ...files });

  const expected = Object.keys(files).map((path) => `${path} eslint(no-restricted-imports)`);
  expect(violations).toEqual(expected.toSorted());
  expect(exitCode).toBe(1);
});

test('has a rule for every folder of src', async () => {
  const folders = (await readdir(join(root, 'src'), { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);

  // The data plane may not import the operator, and the control plane may not import the gateway.
  const { violations } = await lint(
    Object.fromEntries(
      folders.flatMap((folder) => [
        [`${folder}/one.ts`, "export * from '../operator/a.ts';\n"],
        [`${folder}/other.ts`, "export * from '../gateway/a.ts';\n"],
      ]),
    ),
  );

  const withRule = new Set(violations.map((violation) => dirname(violation)));
  expect(folders.filter((folder) => !withRule.has(folder))).toEqual([]);
});

test('rejects imports in every form', async () => {
  const { violations } = await lint({
    ...clean,
    'src/engine/passed-on.ts': "export { client } from '../kube/client.ts';\n",
    'src/proxy/at-run-time.ts': "export const kamaji = import('../providers/kamaji.ts');\n",
    'src/wire/type.ts': "import type { A } from '../operator/a.ts';\nexport type B = A;\n",
    'src/plan/for-its-effects.ts': "import '../operator/a.ts';\n",
  });

  expect(violations).toEqual([
    'src/engine/passed-on.ts eslint(no-restricted-imports)',
    'src/plan/for-its-effects.ts eslint(no-restricted-imports)',
    'src/proxy/at-run-time.ts eslint(no-restricted-imports)',
    'src/wire/type.ts eslint(no-restricted-imports)',
  ]);
});

test('rejects violations of other rules, and nothing else', async () => {
  const { exitCode, violations } = await lint({
    ...clean,
    // Commands get their streams and environment as arguments.
    'src/cli/status.ts': 'export const env = process.env;\n',
    // Pure functions get the time as an argument and do no I/O.
    'src/edges/fetched.ts': "export const answer = (): Promise<Response> => fetch('http://a');\n",
    'src/plan/read.ts': "export const text = (): Promise<string> => Bun.file('a').text();\n",
    'src/tenant/now.ts': 'export const now = (): number => Date.now();\n',
    // A promise without await, and `!` outside a test.
    'src/plan/drain.ts': 'const drain = async (): Promise<void> => Promise.resolve();\ndrain();\n',
    'src/plan/hosts.ts': 'export const first = (names: string[]): string => names[0]!;\n',
  });

  expect(violations).toEqual([
    'src/cli/status.ts eslint(no-restricted-globals)',
    'src/edges/fetched.ts eslint(no-restricted-globals)',
    'src/plan/drain.ts typescript(no-floating-promises)',
    'src/plan/hosts.ts typescript(no-non-null-assertion)',
    'src/plan/read.ts eslint(no-restricted-properties)',
    'src/tenant/now.ts eslint(no-restricted-properties)',
  ]);
  expect(exitCode).toBe(1);
});
