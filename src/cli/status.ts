import { Argument, Command } from 'commander';
import { statSync } from 'node:fs';
import {
  exitWithAccessError,
  selectionOf,
  folderOption,
  openManagement,
  parseExposureName,
  rejectContradictions,
  stateFolderOf,
  stateOption,
  withClusterFlags,
  type ClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { adviceIn, exitWithError, printAdvice } from './output/messages.ts';
import { nameText, outputOption, type Output } from './output/output.ts';
import { READ_TIMEOUT_MS } from './sources/read-timeout.ts';
import type { StatusSource } from './status/status-source.ts';
import type { Drawing } from './status/watch-status.ts';
import type { StatusView, StatusObjects } from './status/status-view.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket status               # Edges, and Exposures of the namespace
  snicket status -A --watch    # all Exposures, live, until Ctrl-C
  snicket status tenants/blue  # details and problems of one Exposure
  snicket status -o wide       # more columns
  snicket status -A -o json    # everything, as JSON
  snicket status -f DIR        # of \`snicket run DIR\`
  snicket status --state DIR   # of its state folder

A narrow terminal shows fewer columns; -o json has everything. With --watch and
without a terminal, or with TERM=dumb, each change is printed as a line. With -f
or --state, the status is from \`snicket run\`, with the errors in its
folder and whether it is running. This command writes nothing.

Exit codes:
  0  everything shown is Ready and reachable, and the operator (with --state:
     snicket run) is running
  1  something shown is not Ready, or has Reachable or KonnectivityReady False,
     the operator is not running, or a file of its folder is invalid
  2  invalid command line, or the state or the management cluster cannot be read`;

interface Flags extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly output: Output | 'wide' | 'name';
  readonly watch: boolean;
  readonly state?: string;
  readonly filename?: string;
}

/** Flags that do not apply without a cluster. */
const CLUSTER_FLAGS = ['kubeconfig', 'context', 'operatorNamespace'] as const;

/** `snicket status`: shows the status of Edges and Exposures. */
export function statusCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('status'))
    .description('Show the status of Edges and Exposures')
    .addArgument(
      new Argument(
        '[exposure]',
        'NAMESPACE/NAME or NAME, for details (default: all in the namespace)',
      ).argParser(parseExposureName),
    )
    .option('-A, --all-namespaces', 'Exposures of all namespaces', false)
    .addOption(outputOption(['wide', 'name']))
    .option('-w, --watch', 'live status, until Ctrl-C', false)
    .addOption(folderOption())
    .addOption(stateOption())
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, given: Flags, command: Command) => {
      rejectMisplaced(exposure, given, command);
      const isFolder = given.filename !== undefined;
      if (given.filename !== undefined) rejectMissingFolder(io, given.filename, command);
      const state = await stateFolderOf(io, { state: given.state, isFolder });
      const flags = state === undefined ? given : { ...given, state };
      const { AccessError } = await import('../kube/access/cluster-access.ts');
      try {
        await run(io, exposure, flags);
      } catch (error) {
        if (!(error instanceof AccessError)) throw error;
        exitWithAccessError(
          command,
          error,
          flags,
          'its folder or its state: -f DIR or --state DIR',
        );
      }
    });
}

function rejectMissingFolder(io: CommandIo, folder: string, command: Command): void {
  const stats = statSync(io.path(folder), { throwIfNoEntry: false });
  if (stats === undefined) exitWithError(command, `folder not found: ${folder}`);
  if (!stats.isDirectory()) {
    exitWithError(command, `not a folder: ${folder}`, 'pass the folder of snicket run');
  }
}

function rejectMisplaced(
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): void {
  rejectContradictions(exposure, flags, command);
  if (flags.watch && flags.output !== 'table' && flags.output !== 'wide') {
    const elsewhere =
      flags.state === undefined && flags.filename === undefined
        ? `kubectl get exposures --watch -o ${flags.output}`
        : `status.yaml in ${flags.state ?? 'the state folder'}, which is rewritten at every change`;
    exitWithError(
      command,
      `--watch does not support -o ${flags.output}`,
      `remove one of them; for programs: ${elsewhere}`,
    );
  }
  if (flags.state === undefined && flags.filename === undefined) return;
  const misplaced = CLUSTER_FLAGS.find((flag) => command.getOptionValueSource(flag) === 'cli');
  const long = command.options.find((option) => option.attributeName() === misplaced)?.long;
  if (long !== undefined && long !== null) {
    const other = flags.state === undefined ? '-f' : '--state';
    exitWithError(command, `${long} cannot be combined with ${other}`, 'remove one of them');
  }
}

async function run(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: Flags,
): Promise<void> {
  const [{ EXIT, withErrorReporting }, { NoExposures }, { StateUnreadable }] = await Promise.all([
    import('./plans/plans.ts'),
    import('./sources/selected-exposures.ts'),
    import('./status/state-source.ts'),
  ]);
  const source = await openSource(io, exposure, flags);
  await withErrorReporting(io, async () => {
    try {
      // Reads once before it watches, so that a missing cluster is an error and not a long wait.
      const objects = await readOnce(io, source, flags);
      if (source.choice.name !== undefined && objects.exposures.length === 0) {
        throw new NoExposures(await nothingText(io, source, flags));
      }
      const isHealthy = flags.watch
        ? await watch(io, source, exposure, flags)
        : await print(io, objects, exposure, flags);
      if (!isHealthy) io.exitCode = EXIT.wrong;
    } catch (error) {
      if (!(error instanceof StateUnreadable)) throw error;
      printAdvice(io, 'error', adviceIn(error.message));
      io.exitCode = EXIT.failed;
    }
  });
  // Watches on a lost connection would keep the process alive.
  if (flags.watch) io.exit();
}

async function openSource(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: Flags,
): Promise<StatusSource> {
  if (flags.state !== undefined) {
    const { StateSource } = await import('./status/state-source.ts');
    const namespace = exposure?.namespace ?? flags.namespace;
    const choice = { namespace, name: exposure?.name };
    const { filename } = flags;
    const owner = filename === undefined ? undefined : { name: filename, path: io.path(filename) };
    return new StateSource(flags.state, choice, { path: io.path(flags.state), owner });
  }
  const [{ ClusterSource }, { client, access }] = await Promise.all([
    import('./status/cluster-source.ts'),
    openManagement(io, flags),
  ]);
  const choice = selectionOf(exposure, flags, access);
  return new ClusterSource(client, choice, flags.operatorNamespace);
}

async function readOnce(
  io: CommandIo,
  source: StatusSource,
  { state }: Flags,
): Promise<StatusObjects> {
  const { withProgress } = await import('./output/progress.ts');
  const what = state === undefined ? 'reading the management cluster' : `reading ${state}`;
  return withProgress(io, what, source.read(AbortSignal.timeout(READ_TIMEOUT_MS)));
}

async function nothingText(
  io: CommandIo,
  { choice: { namespace, name } }: StatusSource,
  { state }: Flags,
): Promise<string> {
  const [{ programName }, { shellWord }] = await Promise.all([
    import('./output/program-name.ts'),
    import('../text/shell-word.ts'),
  ]);
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const all = state === undefined ? '-A' : `--state ${shellWord(state)}`;
  const hint = `list all: ${programName(io)} status ${all}`;
  return `Exposure not found: ${key}${state === undefined ? '' : await existingText(io, state)}; ${hint}`;
}

/** Maximum number of names in a message. */
const MAX_NAMES = 10;

/** Returns which Exposures exist. Reading a state folder is fast enough for that. */
async function existingText(io: CommandIo, state: string): Promise<string> {
  const { StateSource } = await import('./status/state-source.ts');
  const { exposures } = await new StateSource(state, {}, { path: io.path(state) }).read();
  const names = exposures.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  const shown = names.toSorted().slice(0, MAX_NAMES);
  const more = names.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  return ` (existing: ${shown.join(', ') || 'none'})`;
}

async function print(
  io: CommandIo,
  objects: StatusObjects,
  exposure: NamedExposure | undefined,
  flags: Flags,
): Promise<boolean> {
  const [{ isHealthy, statusViewOf }, { valueText }] = await Promise.all([
    import('./status/status-view.ts'),
    import('./output/output.ts'),
  ]);
  const situation = narrowed(statusViewOf(objects), exposure);
  switch (flags.output) {
    case 'table':
    case 'wide':
      io.stdout.write((await drawingFor(io, exposure, flags))(situation));
      break;
    case 'name':
      io.stdout.write(namesText(situation, exposure));
      break;
    case 'json':
    case 'yaml':
      io.stdout.write(valueText(situation, flags.output));
  }
  return isHealthy(situation);
}

/** Returns the names of the Edges and Exposures; only that of the Exposure if one is named. */
function namesText(
  { edges = [], exposures }: StatusView,
  exposure: NamedExposure | undefined,
): string {
  return [
    ...(exposure === undefined ? edges.map(({ name }) => nameText('edge', name)) : []),
    ...exposures.map(({ name }) => nameText('exposure', name)),
  ].join('');
}

async function watch(
  io: CommandIo,
  source: StatusSource,
  exposure: NamedExposure | undefined,
  flags: Flags,
): Promise<boolean> {
  const { watchStatus } = await import('./status/watch-status.ts');
  const drawing = await drawingFor(io, exposure, flags);
  // No await from here until watchStatus() listens to the signal: a Ctrl-C in between would be lost.
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    io.signals.once(signal, () => ended.abort());
  }
  return watchStatus(io, source, drawing, ended.signal, (situation) =>
    narrowed(situation, exposure),
  );
}

/** Returns the status view. For a single Exposure, it has only the Edge of that Exposure. */
function narrowed(situation: StatusView, exposure: NamedExposure | undefined): StatusView {
  if (exposure === undefined) return situation;
  const used = new Set(situation.exposures.map(({ edge }) => edge));
  return { ...situation, edges: situation.edges?.filter(({ name }) => used.has(name)) };
}

async function drawingFor(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: Flags,
): Promise<Drawing> {
  const [{ exposureText }, { overviewText }, { currentScreen }] = await Promise.all([
    import('./status/exposure-text.ts'),
    import('./status/overview-text.ts'),
    import('./output/output.ts'),
  ]);
  const hasNamespaces = flags.allNamespaces || flags.state !== undefined;
  return (situation, rows) => {
    const isWide = flags.output === 'wide';
    const options = { screen: currentScreen(io), now: new Date(), hasNamespaces, isWide, rows };
    if (exposure === undefined) return overviewText(situation, options);
    const texts = situation.exposures.map((one) => exposureText(one, situation, options));
    return texts.length === 0 ? 'It is gone.\n' : texts.join('\n');
  };
}
