/**
 * What `-f` means for commands that compute plans: files with objects of a cluster, or the folder of `snicket run`; and
 * the Exposure that is chosen there.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import type { KubeObject } from '../../kube/object.ts';
import type { TextFile } from '../../manifests/manifest-parts.ts';
import type { FolderReading } from '../../standalone/folder/folder-reader.ts';
import { shellWord } from '../../text/shell-word.ts';
import { folderOf, objectsInFolder } from './folder-management.ts';
import { readObjects } from './object-files.ts';
import type { FilesLocation } from './selected-exposures.ts';
import {
  selectionOf,
  FOLDER_NAMESPACE,
  isExposureName,
  parseExposureName,
  rejectClusterFlags,
  rejectContradictions,
  rejectGiven,
  type Choice,
  type SelectionFlags,
  type NamedExposure,
} from '../flags/management-flags.ts';
import { adviceIn, CommandError, EXIT, printAdvice, printMessage } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Where objects are read from. */
interface FileSource {
  /** The folder of `snicket run`. Absent: the objects are in files. */
  readonly folder?: string | undefined;
  readonly files: readonly string[];
  /** The chosen Exposure. Absent: all. */
  readonly exposure?: NamedExposure | undefined;
}

/** Flags that select files and Exposures. */
interface FileFlags extends SelectionFlags {
  readonly filename?: readonly string[];
  readonly state?: string;
}

/**
 * Returns what the values of `-f` mean, or the folder of `--state`. They extend to the next flag, so that an Exposure named after the files is
 * among them. Throws an error if they are ambiguous.
 */
export async function fileSourceOf(
  io: CommandIo,
  named: NamedExposure | undefined,
  flags: FileFlags,
  command: Command,
): Promise<FileSource> {
  const values = flags.filename ?? [await folderOf(io, { state: flags.state })];
  const { folder, files, names } = filesAndNames(io, values);
  const [exposure, second] = [
    ...(named === undefined ? [] : [named]),
    ...names.map((name) => parseExposureName(name)),
  ];
  if (second !== undefined) {
    throw new CommandError(
      '-f supports the name of one Exposure',
      `remove ${names.at(-1)}, or remove all names to select all Exposures`,
    );
  }
  rejectContradictions(exposure, flags);
  if (folder !== undefined) rejectClusterFlags({ filename: folder, state: flags.state }, command);
  return { folder, files, exposure };
}

/** What the values of `-f` are. */
interface FilesAndNames extends Omit<FileSource, 'exposure'> {
  /** The names of Exposures after the files. */
  readonly names: readonly string[];
}

/** Returns what the values of `-f` are. Throws an error if they are ambiguous. */
export function filesAndNames(
  io: CommandIo,
  [first = '', ...others]: readonly string[],
): FilesAndNames {
  const folder = isFolder(io, first) ? first : undefined;
  const isName = folder === undefined ? isNameBesideFiles : isNameBesideFolder;
  const names = others.filter((word) => isName(io, word));
  const files = [first, ...others.filter((word) => !isName(io, word))];
  rejectMixed(io, files);
  return { folder, files: folder === undefined ? files : [], names };
}

/** Throws an error if --state was given with files of a cluster. */
export function rejectStateOfFiles(command: Command): void {
  rejectGiven(['state'], 'requires the folder of snicket run in -f', command);
}

/** Returns which Exposures are chosen. `namespace` applies to names without one. */
export function selectionIn(
  { folder, exposure }: FileSource,
  flags: SelectionFlags,
  namespace: string = FOLDER_NAMESPACE,
): Choice {
  if (exposure !== undefined) return selectionOf(exposure, flags, { namespace });
  // For files, -n is the namespace of objects that do not specify one, and does not choose among them.
  return folder === undefined ? {} : { namespace: flags.namespace };
}

/** Objects of files without errors. */
interface ValidObjects {
  readonly objects: readonly KubeObject[];
  /** What was read from the folder of `snicket run`; absent for files. */
  readonly reading?: FolderReading | undefined;
}

/**
 * Returns the objects. Objects of files that need a namespace and do not specify one are in `namespace`. Returns
 * undefined if files have errors, which are printed and set the exit code. Throws an error if nothing can be read
 * at all.
 */
export async function validObjects(
  io: CommandIo,
  { folder, files }: Omit<FileSource, 'exposure'>,
  namespace: string = FOLDER_NAMESPACE,
): Promise<ValidObjects | undefined> {
  const { faults, ...sound }: ValidObjects & { readonly faults: readonly string[] } =
    folder === undefined
      ? readObjects(
          files.map((name) => readText(io, name)),
          namespace,
        )
      : await objectsInFolder(io, folder);
  if (faults.length === 0) return sound;
  if (folder !== undefined) {
    printMessage(
      io,
      `note: ${folder} is read as a folder of snicket run; for files of a cluster, pass ${shellWord(folder)}/*.yaml`,
    );
  }
  for (const fault of faults) printAdvice(io, 'error', adviceIn(fault));
  io.exitCode = EXIT.failed;
  return undefined;
}

/** Files, as messages name them. */
export const FILES_LOCATION: Pick<FilesLocation, 'place' | 'action'> = {
  place: 'these files, and no control plane with the annotation snicket.dev/edge',
  action: 'add a file with an Exposure',
};

/**
 * Reports whether a word is the name of an Exposure and not a file. A plain name is one even if there is a file of that
 * name: in the folder of `snicket run`, the subfolder of a tenant has its name.
 */
function isNameBesideFolder(io: CommandIo, word: string): boolean {
  return isNameLike(word) && !(word.includes('/') && existsSync(io.path(word)));
}

function isNameBesideFiles(io: CommandIo, word: string): boolean {
  return isNameLike(word) && !existsSync(io.path(word));
}

function isNameLike(word: string): boolean {
  return isExposureName(word) && !/\.(?:ya?ml|json)$/.test(word);
}

function rejectMixed(io: CommandIo, names: readonly string[]): void {
  const folder = names.find((name) => isFolder(io, name));
  const other = names.find((name) => name !== folder);
  if (folder === undefined || other === undefined) return;
  throw new CommandError(
    `folder ${folder} of snicket run cannot be combined with ${other}`,
    `pass the name of an Exposure before -f; for files of a cluster, pass ${shellWord(folder)}/*.yaml`,
  );
}

function isFolder(io: CommandIo, name: string): boolean {
  if (name === '-') return false;
  try {
    return statSync(io.path(name)).isDirectory();
  } catch {
    return false; // the attempt to read it reports why
  }
}

function readText(io: CommandIo, name: string): TextFile {
  try {
    return name === '-'
      ? { name: 'standard input', text: io.stdin.readAll() }
      : { name, text: readFileSync(io.path(name), 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = error.code === 'ENOENT' ? 'no such file' : String(error.code);
    throw new CommandError(`cannot read ${name}: ${why}`);
  }
}
