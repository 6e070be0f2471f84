/**
 * Runs the `snicket` commands of the documentation in this process, with simulated clusters, and compares their output
 * with the page.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  documentedLines,
  snicketCommands,
  snicketWords,
  type DocumentedCommand,
} from './documented-commands.ts';
import { normalized, isDocumented } from './documented-output.ts';
import { KUBECTL_PAGES, PAGES_WITHOUT_KUBECTL } from './kubectl-pages.ts';
import { readPages, REPOSITORY } from './pages.ts';
import { KamajiSite } from './sites/kamaji-site.ts';
import { startEdges, startFolder, startK0rdent, startNewCluster } from './sites/other-sites.ts';
import type { PageTerminal } from './sites/page-terminal.ts';
import { DocumentedDns, type Site } from './sites/site.ts';
import { TenantsSite } from './sites/tenants-site.ts';

setDefaultTimeout(240_000);

/** Prefixes of `snicket` commands that do not run here, with the reason and the test that runs them. */
const NOT_RUN: readonly (readonly [command: string, reason: string])[] = [
  ['address', 'changes the addresses of the machine: src/cli/address.test.ts'],
  ['gateway --kubernetes', 'serves until it is stopped: src/cli/gateway.test.ts'],
  ['gateway --routes routes.yaml', 'serves until it is stopped: src/cli/gateway.test.ts'],
  ['proxy', 'serves until it is stopped: src/cli/proxy.test.ts'],
  ['run', 'serves until it is stopped: src/cli/run.test.ts'],
  ['tcp-proxy', 'serves until it is stopped: src/cli/tcp-proxy.test.ts'],
];

/** Programs that do not run here, with the reason. */
const OTHER_PROGRAMS: Readonly<Record<string, string>> = {
  kubectl: 'requires real Kubernetes: kubectl-pages.ts',
  'world/world': 'requires real Kubernetes: e2e/documents.test.ts',
  make: 'builds: scripts/docs/commands.test.ts checks the targets',
  skopeo: 'requires a registry',
  ctr: 'requires containerd: e2e/image.test.ts imports the image',
  curl: 'connects to addresses of the user',
  openssl: 'not a part of Snicket',
  kustomize: 'not a part of Snicket',
};

/** Standard tools and shell keywords. */
const SHELL = /^(?:base64|cat|chmod|do|done|for|install|ln|printf|rm|source|umask)$/;

/** Expected exit codes other than 0. The first match counts. */
const EXIT_CODES: readonly (readonly [page: RegExp, command: RegExp, exitCode: number])[] = [
  // This machine is not a worker.
  [/./, /^doctor --from-worker /, 1],
  [/doctor-edge\.md$/, / --ca blue-ca\.crt red-ca\.crt$/, 1],
  // The konnectivity of tenants/red does not work, as docs/tasks/status.md shows.
  [/quick-start\.md$/, /^status$/, 0],
  [/./, /^(?:status|doctor)(?: -A| --all-namespaces| red| tenants\/blue red)?(?: --watch)?$/, 1],
  // The page shows a host without an address.
  [/dns\.md$/, /^dns(?!.* -(?:f \/|-format|-state))/, 1],
  // The page shows a tenant that differs from its plan.
  [/diff\.md$/, /^diff(?!.*--state)/, 1],
  [/expose-command\.md$/, / --api-host /, 1],
  [/gateway\.md$/, / --validate$/, 2],
];

/** Pages that run last, because they stop the operator and change the objects that it manages. */
const LAST = ['docs/tasks/dns.md', 'docs/tasks/diff.md'];

const lines = documentedLines(readPages());
const commands = snicketCommands(lines).filter(({ words }) => reasonNotToRun(words) === undefined);

type SiteName = 'edges' | 'folder' | 'k0rdent' | 'kamaji' | 'new cluster' | 'tenants';

function siteOf({ page, words }: DocumentedCommand): SiteName {
  if (words.includes('--pre')) return 'new cluster';
  if (words[0] === 'doctor' && words[1] === 'edge') return 'edges';
  if (words.some((word) => /^\/(?:etc|var\/lib)\/snicket$/.test(word))) return 'folder';
  if (page.endsWith('quick-start.md') || page.endsWith('expose-command.md')) return 'kamaji';
  return page.endsWith('k0rdent.md') ? 'k0rdent' : 'tenants';
}

function reasonNotToRun(words: readonly string[]): string | undefined {
  if (words.includes('--validate')) return undefined;
  const text = `${words.join(' ')} `;
  return NOT_RUN.find(([start]) => text.startsWith(`${start} `))?.[1];
}

const dns = new DocumentedDns();
const stack = new AsyncDisposableStack();
let sites: Readonly<Record<SiteName, Site>>;
beforeAll(async () => {
  stack.use(dns);
  sites = {
    tenants: stack.use(await TenantsSite.start(dns)),
    kamaji: stack.use(await KamajiSite.start()),
    folder: stack.use(await startFolder()),
    edges: stack.use(await startEdges()),
    k0rdent: stack.use(await startK0rdent()),
    'new cluster': stack.use(await startNewCluster()),
  };
});
afterAll(async () => stack.disposeAsync());

const pages = new Set(commands.map(({ page }) => page));
describe.each([...pages].toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b)))('%s', (page) => {
  const terminals = new Map<SiteName, PageTerminal>();
  afterAll(() => {
    for (const terminal of terminals.values()) terminal[Symbol.dispose]();
  });

  const pageCommands = commands.filter((command) => command.page === page);
  test.each(pageCommands.map((command) => [command.words.join(' '), command] as const))(
    '%s',
    async (text, command) => {
      const name = siteOf(command);
      const site = sites[name];
      const terminal = terminals.getOrInsertComputed(name, () => site.open(page));

      const run = await (site.run?.(command, terminal) ?? terminal.run(command.words));

      const [, , expected = 0] =
        EXIT_CODES.find(([where, what]) => where.test(page) && what.test(text)) ?? [];
      if (run.exitCode !== expected) {
        throw new Error(`exit code ${run.exitCode} instead of ${expected}:\n${run.text}`);
      }
      // If a block has several commands, the output below it is that of the first command.
      const { output } = command;
      if (
        output === undefined ||
        pageCommands.find((command) => command.output === output) !== command
      )
        return;
      if (isDocumented(run.text, output) || isDocumented(run.stdout, output)) return;
      expect(normalized(run.text)).toBe(normalized(output));
    },
  );
});

describe('an entry for a command that does not run here', () => {
  test('exists for every other program', () => {
    const others = lines.filter((line) => snicketWords(line) === undefined);
    const unknown = others
      .filter(({ words: [program = ''] }) => !SHELL.test(program) && !(program in OTHER_PROGRAMS))
      .map(({ page, line, words }) => `${page}:${line}: ${words.join(' ')}`);

    expect(unknown).toEqual([]);
  });

  test('of kubectl is a page that runs on real Kubernetes, or has a reason', () => {
    const pages = lines.filter(({ words }) => words[0] === 'kubectl').map(({ page }) => page);
    const listed = [...KUBECTL_PAGES, ...Object.keys(PAGES_WITHOUT_KUBECTL)];

    expect(listed.toSorted()).toEqual([...new Set(pages)].toSorted());
  });

  test('matches a command in the documentation and names existing tests', () => {
    const all = lines.map((line) => `${(snicketWords(line) ?? line.words).join(' ')} `);
    const starts = [...NOT_RUN.map(([command]) => command), ...Object.keys(OTHER_PROGRAMS)];
    const reasons = [NOT_RUN.map(([, reason]) => reason), OTHER_PROGRAMS, PAGES_WITHOUT_KUBECTL];
    const files = reasons
      .flatMap((table) => Object.values(table))
      .flatMap((reason) => reason.match(/[\w/-]+\.test\.ts/g) ?? []);

    expect(starts.filter((start) => !all.some((text) => text.startsWith(`${start} `)))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
  });
});
