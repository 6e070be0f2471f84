/**
 * What `snicket doctor` says of the demo.
 */
import { lookup } from 'node:dns/promises';
import { TENANTS_FOLDER } from './stage/edge.ts';
import type { DemoFolder } from './stage/folder.ts';
import { SNICKET } from './stage/program.ts';

/** Whether names below `localhost` lead anywhere (RFC 6761) is up to the resolver of the machine. */
const UP_TO_THE_MACHINE = 'DnsNoAnswer';

/** What of its answer for programs is looked at. */
interface Diagnosis {
  readonly exposures: readonly {
    readonly exposure: string;
    readonly hops: readonly Judged[];
    readonly findings: readonly Judged[];
  }[];
}

interface Judged {
  readonly code: string;
  readonly message: string;
  readonly state?: 'Pass' | 'Fail' | 'Skip';
  readonly severity?: 'error' | 'warning';
}

/** Whether the resolver of this machine knows a host. */
export async function isKnown(host: string): Promise<boolean> {
  return lookup(host).then(
    () => true,
    () => false,
  );
}

/** Lets it print its tables, and returns what is wrong, in sentences. */
export async function examine(folder: DemoFolder): Promise<readonly string[]> {
  const [text] = await Promise.all([
    runDoctor(folder, 'pipe', '-o', 'json'),
    // Its standard output is ours: on a terminal, it speaks in colours too.
    runDoctor(folder, 'inherit'),
  ]);
  const { exposures } = JSON.parse(text) as Diagnosis;
  return exposures.flatMap(({ exposure, hops, findings }) =>
    [...hops, ...findings]
      .filter(({ state, severity }) => state === 'Fail' || severity === 'error')
      .filter(({ code }) => code !== UP_TO_THE_MACHINE)
      .map(({ message }) => `the doctor says of ${exposure}: ${message}`),
  );
}

/** Whether it finds something wrong is in its answer, and so in its exit code; all else is an error. */
async function runDoctor(
  folder: DemoFolder,
  stdout: 'inherit' | 'pipe',
  ...flags: readonly string[]
): Promise<string> {
  const words = ['doctor', '-f', TENANTS_FOLDER, ...flags];
  const doctor = Bun.spawn([...SNICKET, ...words], {
    cwd: folder.path,
    stdin: 'ignore',
    stdout,
    // What one says there, the other says too.
    stderr: stdout === 'inherit' ? 'inherit' : 'ignore',
  });
  const text = doctor.stdout === undefined ? '' : await doctor.stdout.text();
  const exitCode = await doctor.exited;
  if (exitCode !== 0 && exitCode !== 1) throw new Error(`snicket ${words.join(' ')}: ${exitCode}`);
  return text;
}
