/** Runs `snicket doctor` on the demo. */
import { TENANTS_FOLDER } from './stage/edge.ts';
import type { DemoFolder } from './stage/folder.ts';
import { SNICKET } from './stage/program.ts';

/** The fields of its JSON output that the demo reads. */
interface Diagnosis {
  readonly exposures: readonly {
    readonly exposure: string;
    readonly hops: readonly Check[];
    readonly findings: readonly Check[];
  }[];
}

interface Check {
  readonly message: string;
  readonly state?: 'Pass' | 'Fail' | 'Skip';
  readonly severity?: 'error' | 'warning';
}

/** Prints the tables of `snicket doctor`, and returns a sentence for each problem. */
export async function runChecks(folder: DemoFolder): Promise<readonly string[]> {
  const [text] = await Promise.all([
    runDoctor(folder, 'pipe', '-o', 'json'),
    // Inherits standard output, so that the doctor prints colors on a terminal.
    runDoctor(folder, 'inherit'),
  ]);
  const { exposures } = JSON.parse(text) as Diagnosis;
  return exposures.flatMap(({ exposure, hops, findings }) =>
    [...hops, ...findings]
      .filter(({ state, severity }) => state === 'Fail' || severity === 'error')
      .map(({ message }) => `snicket doctor: Exposure ${exposure}: ${message}`),
  );
}

/** Returns the doctor's output. An exit code of 1 means that it found a problem; any other failure is an error. */
async function runDoctor(
  folder: DemoFolder,
  stdout: 'inherit' | 'pipe',
  ...flags: readonly string[]
): Promise<string> {
  const args = ['doctor', '-f', TENANTS_FOLDER, ...flags];
  const doctor = Bun.spawn([...SNICKET, ...args], {
    cwd: folder.path,
    stdin: 'ignore',
    stdout,
    // Both runs print the same errors, so only one shows them.
    stderr: stdout === 'inherit' ? 'inherit' : 'ignore',
  });
  const text = doctor.stdout === undefined ? '' : await doctor.stdout.text();
  const exitCode = await doctor.exited;
  if (exitCode !== 0 && exitCode !== 1) throw new Error(`snicket ${args.join(' ')}: ${exitCode}`);
  return text;
}
