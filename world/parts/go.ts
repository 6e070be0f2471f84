import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CommandError, run } from '../machine/command.ts';
import { architecture, moduleFolder, partFolder } from './cache.ts';
import type { GoPart } from './catalog.ts';
import { copyModuleFiles, FILES } from './module-files.ts';
import type { Progress } from './progress.ts';
import { workFolder } from './work-folder.ts';

/** The oldest Go that all modules accept (their `go` line). */
export const goVersion = '1.26.7';

/** Reports whether all programs and files of this part are in the cache. */
export function goPartReady(part: GoPart): boolean {
  const needed = [...Object.keys(part.programs), ...(part.files ? [FILES] : [])];
  return needed.every((name) => existsSync(join(partFolder(part), name)));
}

/**
 * Builds a part. One `go build` builds all programs, so that shared packages are compiled once and links run in
 * parallel. After an interruption, Go continues with the packages in its cache.
 */
export async function buildGoPart(
  part: GoPart,
  progress: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const folder = partFolder(part);
  const unfinished = workFolder(folder);
  mkdirSync(folder, { recursive: true });
  const packages = Object.values(part.programs);
  const flags = `-s -w ${part.linkerFlags ?? ''}`.trim();
  // A trailing slash makes -o a folder, even for one package.
  const argv = [
    ...['go', 'build', '-v', '-trimpath', '-ldflags', flags],
    ...['-o', `${unfinished}/`, ...packages],
  ];
  const report = (line: string, count: number) => {
    const downloading = line.startsWith('go: downloading');
    progress.update(part.name, downloading ? line.slice(4) : `${count} packages compiled, ${line}`);
  };
  await runGo(argv, moduleFolder(part), report, signal);
  if (part.files) {
    await copyModuleFiles(part, join(unfinished, FILES), (module) => moduleRoot(part, module));
    rmSync(join(folder, FILES), { recursive: true, force: true });
    renameSync(join(unfinished, FILES), join(folder, FILES));
  }
  for (const [program, path] of Object.entries(part.programs)) {
    // A program appears under its name only when it is complete.
    renameSync(join(unfinished, commandName(path)), join(folder, program));
  }
  rmSync(unfinished, { recursive: true });
}

/** Downloads the sources of a part, so that the network is busy while the processors are. */
export async function downloadGoPart(part: GoPart, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await run(['go', 'list', '-deps', ...Object.values(part.programs)], {
    cwd: moduleFolder(part),
    env: goEnvironment,
    timeoutMs: 30 * 60_000,
  });
}

/** Returns Go's folder of a module in the version that the part requires. A missing module is downloaded. */
async function moduleRoot(part: GoPart, module: string): Promise<string> {
  const { stdout } = await run(['go', 'mod', 'download', '-json', module], {
    cwd: moduleFolder(part),
    env: goEnvironment,
    timeoutMs: 10 * 60_000,
  });
  const { Dir: root } = JSON.parse(stdout) as { Dir?: string };
  if (!root) throw new Error(`go mod download returned no folder of module ${module}: ${stdout}`);
  return root;
}

/**
 * Returns the name that `go build` gives a package's program: the last path element, or the one before a major version
 * (v2 and up).
 */
export function commandName(packagePath: string): string {
  const steps = packagePath.split('/');
  const last = steps.pop() ?? '';
  return /^v([2-9]|[1-9]\d+)$/.test(last) ? (steps.pop() ?? last) : last;
}

/** Environment that makes builds independent of the user's own settings. */
export const goEnvironment = {
  CGO_ENABLED: '0',
  GOFLAGS: `-mod=readonly -buildvcs=false -p=${availableParallelism()}`,
  GOWORK: 'off',
  GOOS: 'linux',
  GOARCH: architecture,
};

async function runGo(
  argv: readonly string[],
  cwd: string,
  report: (line: string, count: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  // At the lowest priority, because tests may run at the same time.
  const child = Bun.spawn(['nice', '-n', '19', ...argv], {
    cwd,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, ...goEnvironment },
    ...(signal ? { signal } : {}),
  });
  const last: string[] = [];
  let count = 0;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of child.stderr) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('go: ')) count++;
      last.push(line);
      if (last.length > 40) last.shift();
      report(line, count);
    }
  }
  const code = await child.exited;
  signal?.throwIfAborted();
  if (code !== 0)
    throw new CommandError(argv, code, `exit code ${code}`, {
      stdout: '',
      stderr: [...last, rest].join('\n'),
    });
}
