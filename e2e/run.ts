/**
 * Runs the end-to-end tests: `run.ts [--all | SCENARIO...]`, a scenario being the name of a file here. Without one: all but
 * those that run on demand. Parts beyond the base are built only for scenarios that need them.
 *
 * E2E=auto makes a machine that cannot run a world a success that says so; otherwise it is a failure.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingRequirements } from '../world/requirements.ts';
import { removeDeadWorlds, sweptText } from '../world/machine/sweep.ts';
import { baseParts, edgeParts, providerParts, type Part } from '../world/parts/catalogue.ts';
import { ensureParts } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { patience } from '../world/wait.ts';

/** The parts that scenarios need besides the base. */
const MORE_PARTS = new Map<string, readonly Part[]>([
  ['real-edges', [edgeParts.traefik, edgeParts.haproxyIngress, edgeParts.haproxy]],
  ['envoy-edges', [edgeParts.envoyGateway, edgeParts.contour, edgeParts.envoy]],
  ['edges', Object.values(edgeParts)],
  ['doctor', [edgeParts.haproxyIngress, edgeParts.haproxy]],
  ['doctor-edge', [edgeParts.traefik]],
  ['providers', [...Object.values(providerParts), edgeParts.haproxyIngress, edgeParts.haproxy]],
  ['providers-exposed', Object.values(providerParts)],
]);
/** Scenarios that are run when they are named, or with --all. */
const ON_DEMAND = new Set(['envoy-edges', 'edges', 'providers', 'providers-exposed']);

/**
 * One step of a scenario, above the sum of the waits in it: these say what did not come to be, where the runner would say
 * only that it took too long. Tests and hooks have no limit of their own below this one.
 */
const TEST_TIMEOUT_MS = 900_000 * patience;

const all = readdirSync(import.meta.dir).flatMap(
  (name) => /^(.+)\.test\.ts$/.exec(name)?.[1] ?? [],
);
const { values, positionals: asked } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) fail(`no scenario '${unknown.join("', '")}'; these are: ${all.join(', ')}`);
if (values.all && asked.length > 0) fail(`either --all or '${asked.join("', '")}', not both`);
const usual = values.all ? all : all.filter((name) => !ON_DEMAND.has(name));
const scenarios = asked.length > 0 ? asked : usual;

const reportName = ['e2e', ...(values.all ? ['all'] : asked)].join('-');
const report = join(process.cwd(), 'build', `${reportName}.xml`);
const parts = [
  ...Object.values(baseParts),
  ...scenarios.flatMap((name) => MORE_PARTS.get(name) ?? []),
];
const missing = await missingRequirements(parts);
if (missing.length > 0) {
  if (process.env['E2E'] !== 'auto') {
    fail(
      `cannot run here:\n  ${missing.join('\n  ')}\nE2E=auto skips the tests where they cannot run.`,
    );
  }
  console.log(`skipped: ${missing.join('; ')}`);
  try {
    mkdirSync(dirname(report), { recursive: true });
    writeFileSync(report, skippedReport(scenarios));
  } catch (error) {
    console.log(`no report: ${(error as Error).message}`);
  }
  process.exit(0);
}
await ensureParts(parts, terminalProgress());
mkdirSync(dirname(report), { recursive: true });

// The runner belongs to the same terminal, so an interrupt reaches it too; this process outlives it to clean up.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => runner.kill('SIGTERM'));
const runner = Bun.spawn(
  [
    process.execPath,
    'test',
    `--timeout=${TEST_TIMEOUT_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${report}`,
    ...scenarios.map((name) => join(import.meta.dir, `${name}.test.ts`)),
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
const code = await runner.exited;
for (const swept of await removeDeadWorlds()) console.error(sweptText(swept));
process.exit(code);

/** A report that says of every scenario that it was not run. */
function skippedReport(names: readonly string[]): string {
  const cases = names.map((name) => `<testcase name="${name}"><skipped/></testcase>`).join('');
  return `<testsuites><testsuite name="e2e" tests="${names.length}" skipped="${names.length}">${cases}</testsuite></testsuites>\n`;
}

function fail(message: string): never {
  console.error(`e2e: ${message}`);
  process.exit(1);
}
