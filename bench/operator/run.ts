/**
 * Measures `snicket operator` with many Exposures: `make bench-operator`, or `run.ts [--tenants N] [--settle SECONDS]
 * [--rest SECONDS] [--repeat N] [--small] [--keep-priority]`. The results are informational: slowness does not fail the
 * run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { terminalProgress, type Progress } from '../../world/parts/progress.ts';
import { missingRequirements } from '../../world/requirements.ts';
import { othersShare, processorUse } from '../lab/neighbors.ts';
import { Lab } from './lab.ts';
import { measureColdStart, measureEmpty } from './measure/cold-start.ts';
import {
  measureIngressDrift,
  measureNewExposures,
  measureTenantDrift,
} from './measure/reactions.ts';
import { measureRest } from './measure/rest.ts';
import { reportText } from './report.ts';
import { describeRun, saveRun, type OperatorResults } from './results.ts';
import type { Testbed } from './testbed/testbed.ts';
import { startLocalTestbed } from './testbed/local-testbed.ts';
import { startWorldTestbed } from './testbed/world-testbed.ts';

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1000' },
    settle: { type: 'string', default: '120' },
    rest: { type: 'string', default: '60' },
    repeat: { type: 'string', default: '10' },
    small: { type: 'boolean', default: false },
    'keep-priority': { type: 'boolean', default: false },
  },
});
const count = {
  tenants: wholeNumber('tenants'),
  settle: wholeNumber('settle'),
  rest: wholeNumber('rest'),
  repeat: wholeNumber('repeat'),
};
const EMPTY_SETTLE_MS = 15_000;
const DEADLINE_MS = 600_000;
const DEADLINE_MS_PER_TENANT = 200;
/** A tenant needs a listener and two connections in its process, and as many connections in the operator. */
const OPEN_FILES = 100_000;
const PRIORITY = -10;

if (process.getuid?.() === 0) {
  // All child processes inherit the priority, so that other load on the machine distorts the results less.
  if (!values['keep-priority']) setPriority(PRIORITY);
  const limit = ['prlimit', `--pid=${process.pid}`, `--nofile=${OPEN_FILES}`];
  const { exitCode, stderr } = Bun.spawnSync(limit);
  if (exitCode !== 0) console.error(`limit of open files unchanged: ${stderr.toString()}`);
}
const progress = terminalProgress();
const folder = mkdtempSync(join(tmpdir(), 'snicket-bench-operator-'));
const before = processorUse();
try {
  const missing = values.small ? ['--small was given'] : await missingRequirements();
  await using testbed =
    missing.length === 0
      ? await startWorldTestbed(folder, progress, { raisesCpuShare: !values['keep-priority'] })
      : await startLocalTestbed(folder);
  const results = await measure(testbed, missing.length === 0, progress);
  console.log(`\n${reportText(results)}`);
  console.log(`saved in ${saveRun(results)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0); // idle keep-alive connections would keep the process running for a minute

async function measure(
  testbed: Testbed,
  hasDns: boolean,
  progress: Progress,
): Promise<OperatorResults> {
  const { tenants, repeat, settle, rest: restSeconds } = count;
  progress.update('tenants', `${tenants} API servers, and their objects`);
  using lab = await Lab.open(testbed, folder, { tenants, spare: 2 * repeat });
  progress.done('tenants', `${tenants} of them`);

  const empty = await measureEmpty(lab, EMPTY_SETTLE_MS);
  progress.done('empty', `${(empty.residentBytes / 1e6).toFixed(0)} MB`);
  const transitions = await lab.leaseTransitions();
  await lab.expose(lab.tenants);
  const last = hasDns ? 'Ready' : 'WorkersReady';
  const start = { last, deadlineMs: DEADLINE_MS + tenants * DEADLINE_MS_PER_TENANT } as const;
  const cold = await measureColdStart(lab, {
    ...start,
    onProgress: (message) => progress.update('cold start', message),
  });
  progress.done('cold start', `${cold.seconds.toFixed(1)} s`);
  progress.update('rest', `${settle} s to settle, ${restSeconds} s measured`);
  await Bun.sleep(settle * 1000);
  const rest = await measureRest(lab, restSeconds);
  progress.done('rest', `${(rest.use.residentBytes / 1e6).toFixed(0)} MB`);
  progress.update('reactions', `new Exposures and drift, ${repeat} of each`);
  const fresh = await measureNewExposures(lab, repeat);
  const drift = {
    slice: await measureTenantDrift(lab, 'slice', repeat),
    daemonSet: await measureTenantDrift(lab, 'daemonSet', repeat),
    ingress: await measureIngressDrift(lab, repeat),
  };
  progress.done('reactions', 'measured');
  // The measured operator acquired the Lease once.
  const leaseTransitions = (await lab.leaseTransitions()) - transitions - 1;
  await lab.endOperator();
  return {
    ...describeRun(testbed.title, tenants, othersShare(before, processorUse())),
    empty,
    cold,
    rest,
    fresh,
    drift,
    leaseTransitions,
  };
}

function wholeNumber(name: 'tenants' | 'settle' | 'rest' | 'repeat'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} '${values[name]}' is not a whole number`);
}
