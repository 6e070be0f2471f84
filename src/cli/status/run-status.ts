/**
 * Shows the status once, or watches it.
 */
import { defaultStateFolder } from '../../standalone/state/state-folder.ts';
import { shellWord } from '../../text/shell-word.ts';
import { selectionOf, type NamedExposure } from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { CommandError, EXIT } from '../output/messages.ts';
import { currentScreen, nameText, valueText } from '../output/output.ts';
import { programName } from '../output/program-name.ts';
import { withProgress } from '../output/progress.ts';
import { rejectMissingFolder } from '../sources/folder-management.ts';
import { openManagement } from '../sources/open-management.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import type { StatusFlags } from '../status.ts';
import { ClusterSource } from './cluster-source.ts';
import { exposureText } from './exposure-text.ts';
import { overviewText } from './overview-text.ts';
import { StateSource } from './state-source.ts';
import type { StatusSource } from './status-source.ts';
import { isHealthy, statusViewOf, type StatusObjects, type StatusView } from './status-view.ts';
import { watchStatus, type StatusRenderer } from './watch-status.ts';

/** Runs the command, and sets the exit code if something is not healthy. */
export async function runStatus(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  given: StatusFlags,
): Promise<void> {
  if (given.filename !== undefined) rejectMissingFolder(io, given.filename);
  const isFolder = given.filename !== undefined;
  const state = given.state ?? (isFolder ? defaultStateFolder(io.env) : undefined);
  const flags = state === undefined ? given : { ...given, state };
  const source = openSource(io, exposure, flags);
  // Reads once before it watches, so that a missing cluster is an error and not a long wait.
  const what = state === undefined ? 'reading the management cluster' : `reading ${state}`;
  const objects = await withProgress(io, what, source.read(AbortSignal.timeout(READ_TIMEOUT_MS)));
  if (source.choice.name !== undefined && objects.exposures.length === 0) {
    throw await notFound(io, source, flags);
  }
  const healthy = flags.watch
    ? await watch(io, source, exposure, flags)
    : print(io, objects, exposure, flags);
  if (!healthy) io.exitCode = EXIT.wrong;
  // Watches on a lost connection would keep the process alive.
  if (flags.watch) io.exit();
}

function openSource(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: StatusFlags,
): StatusSource {
  const { state, filename } = flags;
  if (state !== undefined) {
    const choice = {
      namespace: exposure?.namespace ?? flags.namespace,
      name: exposure?.name,
    };
    const owner = filename === undefined ? undefined : { name: filename, path: io.path(filename) };
    return new StateSource(state, choice, { path: io.path(state), owner });
  }
  const { client, access } = openManagement(io, flags, { hasFolderFlags: true });
  return new ClusterSource(client, selectionOf(exposure, flags, access), flags.operatorNamespace);
}

async function notFound(
  io: CommandIo,
  { choice: { namespace, name } }: StatusSource,
  { state }: StatusFlags,
): Promise<CommandError> {
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const all = state === undefined ? '-A' : `--state ${shellWord(state)}`;
  const existing = state === undefined ? '' : await existingText(io, state);
  return new CommandError(
    `Exposure not found: ${key}${existing}`,
    `list all: ${programName(io)} status ${all}`,
  );
}

/** Maximum number of names in a message. */
const MAX_NAMES = 10;

/** Returns which Exposures exist. Reading a state folder is fast enough for that. */
async function existingText(io: CommandIo, state: string): Promise<string> {
  const { exposures } = await new StateSource(state, {}, { path: io.path(state) }).read();
  const names = exposures.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  const shown = names.toSorted().slice(0, MAX_NAMES);
  const more = names.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  return ` (existing: ${shown.join(', ') || 'none'})`;
}

function print(
  io: CommandIo,
  objects: StatusObjects,
  exposure: NamedExposure | undefined,
  flags: StatusFlags,
): boolean {
  const view = withOnlyItsEdge(statusViewOf(objects), exposure);
  switch (flags.output) {
    case 'table':
    case 'wide':
      io.stdout.write(rendererFor(io, exposure, flags)(view));
      break;
    case 'name':
      io.stdout.write(namesText(view, exposure));
      break;
    case 'json':
    case 'yaml':
      io.stdout.write(valueText(view, flags.output));
  }
  return isHealthy(view);
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
  flags: StatusFlags,
): Promise<boolean> {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    io.signals.once(signal, () => ended.abort());
  }
  return watchStatus(io, source, rendererFor(io, exposure, flags), ended.signal, (view) =>
    withOnlyItsEdge(view, exposure),
  );
}

/** Returns the view. If a single Exposure is named, the view has only the Edge of that Exposure. */
function withOnlyItsEdge(view: StatusView, exposure: NamedExposure | undefined): StatusView {
  if (exposure === undefined) return view;
  const used = new Set(view.exposures.map(({ edge }) => edge));
  return { ...view, edges: view.edges?.filter(({ name }) => used.has(name)) };
}

function rendererFor(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: StatusFlags,
): StatusRenderer {
  const hasNamespaces = flags.allNamespaces || flags.state !== undefined;
  const isWide = flags.output === 'wide';
  return (view, rows) => {
    const options = { screen: currentScreen(io), now: new Date(), hasNamespaces, isWide, rows };
    if (exposure === undefined) return overviewText(view, options);
    const texts = view.exposures.map((one) => exposureText(one, view, options));
    return texts.length === 0 ? 'Exposure deleted.\n' : texts.join('\n');
  };
}
