import { expect, test } from 'bun:test';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

// The real oxlint with the real configuration, on a small tree of the same shape as ours: a rule
// that a typing error or an upgrade switches off shows here, not in a review months later.

const root = resolve(import.meta.dir, '..');

/** Lints a tree of these files (path to text); the violations read `path rule`. */
async function lint(files: Readonly<Record<string, string>>) {
  const tree = await mkdtemp(join(tmpdir(), 'snicket-lint-'));
  for (const name of ['.oxlintrc.jsonc', 'tsconfig.json']) {
    await copyFile(join(root, name), join(tree, name));
  }
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (const [path, text] of Object.entries(files)) await Bun.write(join(tree, path), text);

  // With the folders named, since oxlint would follow the link to node_modules.
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
  'src/cli/io/process-io.ts': 'export const env = process.env;\n',
  'src/cli/status.test.ts': 'export const env = process.env;\n',
  'world/cluster.ts': "export { client } from '../src/kube/client/client.ts';\n",
};

test('passes a tree that keeps to the rules', async () => {
  const { exitCode, violations } = await lint(clean);

  expect(violations).toEqual([]);
  expect(exitCode).toBe(0);
});

test('refuses each break of a rule, and nothing else', async () => {
  const { exitCode, violations } = await lint({
    ...clean,
    // The data plane imports nothing of kube, operator, providers, cli: by type, at run
    // time, from a folder deeper, or by passing it on.
    'src/engine/a.ts': "export * from '../cli/table.ts';\n",
    'src/gateway/deep/a.ts': "export { client } from '../../kube/client.ts';\n",
    'src/proxy/a.ts': "export const kamaji = import('../providers/kamaji.ts');\n",
    'src/wire/a.ts': "import type { A } from '../operator/a.ts';\nexport type B = A;\n",
    // Nothing that ships imports the test worlds, the data plane included.
    'src/cli/a.ts': "export * from '../../e2e/run.ts';\n",
    'src/main.ts': "export { client } from '../world/cluster.ts';\n",
    'src/proxy/b.ts': "export { client } from '../../world/cluster.ts';\n",
    // Commands get what they read and write as an argument.
    'src/cli/status.ts': 'export const env = process.env;\n',
    // A promise that nobody waits for, and `!` outside a test.
    'src/plan/drain.ts': 'const drain = async (): Promise<void> => Bun.sleep(1);\ndrain();\n',
    'src/plan/hosts.ts': 'export const first = (names: string[]): string => names[0]!;\n',
  });

  expect(violations).toEqual([
    'src/cli/a.ts eslint(no-restricted-imports)',
    'src/cli/status.ts eslint(no-restricted-globals)',
    'src/engine/a.ts eslint(no-restricted-imports)',
    'src/gateway/deep/a.ts eslint(no-restricted-imports)',
    'src/main.ts eslint(no-restricted-imports)',
    'src/plan/drain.ts typescript(no-floating-promises)',
    'src/plan/hosts.ts typescript(no-non-null-assertion)',
    'src/proxy/a.ts eslint(no-restricted-imports)',
    'src/proxy/b.ts eslint(no-restricted-imports)',
    'src/wire/a.ts eslint(no-restricted-imports)',
  ]);
  expect(exitCode).toBe(1);
});
