/**
 * What `-f` names for tools that plan: files with objects of a cluster, or the folder of `snicket run`; and the Exposure
 * that is meant in there.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import type { KubeObject } from '../../kube/object.ts';
import type { TextFile } from '../../manifests/manifest-parts.ts';
import type { FolderReading } from '../../standalone/folder/folder-reader.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { FilesPlace } from './chosen-exposures.ts';
import { fileNames } from '../flags/flag-values.ts';
import {
  choiceOf,
  FOLDER_NAMESPACE,
  isExposureName,
  parseExposureName,
  refuseAccessFlags,
  refuseUnclear,
  type Choice,
  type ChoiceFlags,
  type NamedExposure,
} from '../flags/management-flags.ts';
import { say } from '../output/say.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Where objects are. */
export interface FileSource {
  /** Of `snicket run`. Absent: they are in files. */
  readonly folder?: string | undefined;
  readonly files: readonly string[];
  /** The one that is meant. Absent: all that are in there. */
  readonly exposure?: NamedExposure | undefined;
}

/** `-f`, with as many files as there are; `more` says what is done with them. */
export function filesOption(more = ''): Option {
  return new Option(
    '-f, --filename <file...>',
    `files with Edges and Exposures${more}, - for standard input, or the folder of snicket run`,
  ).argParser(fileNames);
}

/**
 * What the words of `-f` mean. They go on to the next flag, so that the name of an Exposure behind them is one of them.
 * Ends the program where that is not clear.
 */
export function fileSourceOf(
  io: CommandIo,
  words: readonly string[],
  named: NamedExposure | undefined,
  flags: ChoiceFlags,
  command: Command,
): FileSource {
  const [first = '', ...others] = words;
  const folder = isFolder(io, first) ? first : undefined;
  const isName = folder === undefined ? isNameBesideFiles : isNameBesideFolder;
  const names = others.filter((word) => isName(io, word));
  const files = [first, ...others.filter((word) => !isName(io, word))];
  refuseMixed(io, files, command);
  const [exposure, second] = [
    ...(named === undefined ? [] : [named]),
    ...names.map((name) => parseExposureName(name)),
  ];
  if (second !== undefined) {
    command.error(
      `error: -f takes the name of one Exposure; leave ${names.at(-1)} out, or all names for all Exposures`,
    );
  }
  refuseUnclear(exposure, flags, command);
  if (folder === undefined) return { files, exposure };
  refuseAccessFlags(command);
  return { folder, files: [], exposure };
}

/** The Exposures that are meant, where those are in `namespace` that name none. */
export function choiceIn(
  { folder, exposure }: FileSource,
  flags: ChoiceFlags,
  namespace: string = FOLDER_NAMESPACE,
): Choice {
  if (exposure !== undefined) return choiceOf(exposure, flags, { namespace });
  // Of files -n says where objects are that do not say it; all of them are meant.
  return folder === undefined ? {} : { namespace: flags.namespace };
}

/** Objects of files that are all right. */
export interface SoundObjects {
  readonly objects: readonly KubeObject[];
  /** Of the folder of `snicket run`; absent for files. */
  readonly reading?: FolderReading | undefined;
}

/**
 * What is in there; objects of files that need a namespace, and name none, are in `namespace`. Nothing if some of it is
 * wrong, which is told, and remembered in the exit code. Ends the program if it cannot be read at all.
 */
export async function soundObjects(
  io: CommandIo,
  { folder, files }: FileSource,
  command: Command,
  namespace: string = FOLDER_NAMESPACE,
): Promise<SoundObjects | undefined> {
  const [{ EXIT }, { readObjects }, { objectsInFolder }] = await Promise.all([
    import('../plans/plans.ts'),
    import('./object-files.ts'),
    import('./folder-management.ts'),
  ]);
  const { faults, ...sound }: SoundObjects & { readonly faults: readonly string[] } =
    folder === undefined
      ? readObjects(
          files.map((name) => readText(io, name, command)),
          namespace,
        )
      : await objectsInFolder(io, folder, command);
  if (faults.length === 0) return sound;
  if (folder !== undefined) {
    say(
      io,
      `note: ${folder} is read as snicket run reads it; for the files of a cluster write ${shellWord(folder)}/*.yaml`,
    );
  }
  for (const fault of faults) say(io, `error: ${fault}`);
  io.exitCode = EXIT.failed;
  return undefined;
}

/** Files, for a sentence. */
export const THESE_FILES: Pick<FilesPlace, 'place' | 'action'> = {
  place: 'these files, nor a control plane with the annotation snicket.dev/edge',
  action: 'name a file that has one too',
};

/** In the folder of `snicket run` that one is in, the folder of a tenant has its name. */
function isNameBesideFolder(io: CommandIo, word: string): boolean {
  return isNameLike(word) && !(word.includes('/') && existsSync(io.path(word)));
}

function isNameBesideFiles(io: CommandIo, word: string): boolean {
  return isNameLike(word) && !existsSync(io.path(word));
}

function isNameLike(word: string): boolean {
  return isExposureName(word) && !/\.(?:ya?ml|json)$/.test(word);
}

function refuseMixed(io: CommandIo, names: readonly string[], command: Command): void {
  const folder = names.find((name) => isFolder(io, name));
  const other = names.find((name) => name !== folder);
  if (folder === undefined || other === undefined) return;
  command.error(
    `error: ${folder} is a folder, and that of snicket run stands alone, without ${other} beside it; an Exposure can be named before -f, and for the files of a cluster write ${shellWord(folder)}/*.yaml`,
  );
}

function isFolder(io: CommandIo, name: string): boolean {
  if (name === '-') return false;
  try {
    return statSync(io.path(name)).isDirectory();
  } catch {
    return false; // why it cannot be read is said when it is read
  }
}

function readText(io: CommandIo, name: string, command: Command): TextFile {
  try {
    return name === '-'
      ? { name: 'standard input', text: io.stdin.readAll() }
      : { name, text: readFileSync(io.path(name), 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = error.code === 'ENOENT' ? 'there is no such file' : String(error.code);
    command.error(`error: ${name} cannot be read (${why})`);
  }
}
