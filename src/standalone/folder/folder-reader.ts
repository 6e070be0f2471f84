/** Reads the current content of a folder. It reads every file, and parses those that have changed. */
import { join, resolve } from 'node:path';
import type { KubeObject } from '../../kube/object.ts';
import { locationText, type SourceLocation } from '../../manifests/manifest-parts.ts';
import { FolderUnreadable, faultIn, type FolderFault } from './fault.ts';
import { fileObjects, identityOf, type FileObject, type FileReading } from './file-objects.ts';
import { FileContents } from './file-contents.ts';
import { listFiles } from './list-files.ts';
import { SecretFiles } from './secret-files.ts';

/** An object and its file. */
export interface FolderObject {
  readonly object: KubeObject;
  /** Path relative to the folder, such as `tenants/blue.yaml`. */
  readonly file: string;
}

/** The content of a folder at one time. */
export interface FolderReading {
  /** The objects of valid files, without duplicates. */
  readonly objects: readonly FolderObject[];
  readonly faults: readonly FolderFault[];
  /** Unusable files, and folders that cannot be read. Their last valid objects stay. */
  readonly unknown: readonly string[];
  /** The texts of the unusable files, if they are texts. */
  readonly unusableTexts: ReadonlyMap<string, string>;
  /**
   * Empty folders and files, and broken links. They may be the mount point of a disk that is not mounted, or a file
   * that could not be written.
   */
  readonly emptyPaths: readonly string[];
  /** The YAML and JSON files, valid or not, relative to the folder. */
  readonly files: readonly string[];
  /** The directories to watch: the folder, its subfolders, and the directories of files that Secrets reference. */
  readonly directories: readonly string[];
}

/** Returns the unusable files that seem to contain an Edge. */
export function unusableEdgeFiles({
  unknown,
  unusableTexts,
}: Pick<FolderReading, 'unknown' | 'unusableTexts'>): readonly string[] {
  return unknown.filter((file) => /\bEdge\b/.test(unusableTexts.get(file) ?? ''));
}

/** Maximum size of all YAML and JSON files together. Files referenced by Secrets have their own limit. */
const MAX_BYTES = 128 * 1024 * 1024;

interface Parsed {
  readonly bytes: Buffer;
  readonly text: string;
  readonly reading: FileReading;
}

/** Reads one folder repeatedly. */
export class FolderReader {
  readonly #folder: string;
  readonly #contents = new FileContents();
  #parsed: ReadonlyMap<string, Parsed> = new Map();

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  /** Reads the folder. @throws FolderUnreadable, or the signal's reason */
  async read(signal: AbortSignal): Promise<FolderReading> {
    const { files, directories, emptyPaths, faults } = await listFiles(this.#folder, signal);
    const merged = new MergedFiles();
    for (const fault of faults) merged.reject(fault.file, [fault]);
    const parsed = new Map<string, Parsed>();
    const secretFiles = new SecretFiles(this.#folder, this.#contents);
    const empty: string[] = [];
    let bytes = 0;
    for (const file of files) {
      signal.throwIfAborted();
      const found = await this.#parsedFile(file);
      if (found === undefined) continue; // removed since it was listed
      if ('sentence' in found) {
        merged.reject(file, [found]);
        continue;
      }
      bytes += found.bytes.length;
      if (bytes > MAX_BYTES) {
        throw new FolderUnreadable(
          `${this.#folder} has more than ${MAX_BYTES} bytes of YAML and JSON, counted up to ${file}; pass a folder that contains only Snicket's files`,
        );
      }
      parsed.set(file, found);
      if (found.text.trim() === '') empty.push(file);
      const filled = await secretFiles.fill(file, found.text, found.reading);
      if (filled.faults.length > 0) merged.reject(file, filled.faults, found.text);
      else merged.add(file, found.text, filled.objects);
    }
    this.#parsed = parsed;
    this.#contents.forgetUnread();
    return {
      ...merged.reading(),
      files,
      emptyPaths: [...emptyPaths, ...empty],
      directories: [
        ...directories.map((directory) => join(this.#folder, directory)),
        ...secretFiles.directories,
      ],
    };
  }

  async #parsedFile(file: string): Promise<Parsed | FolderFault | undefined> {
    const path = join(this.#folder, file);
    const bytes = await this.#contents.read(path);
    if (bytes === undefined) return undefined;
    if (typeof bytes === 'string') return { file, sentence: bytes };
    const before = this.#parsed.get(file);
    if (before !== undefined && (before.bytes === bytes || before.bytes.equals(bytes)))
      return before;
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return { bytes, text, reading: fileObjects({ name: file, text }) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#contents.forget(path); // not counted as read, so not cached either
      return { file, sentence: 'not valid UTF-8; save the file as UTF-8' };
    }
  }
}

/** Merges files in the order of their names. If two files have the same object, the first one wins. */
class MergedFiles {
  readonly #objects = new Map<string, FolderObject & { readonly location: SourceLocation }>();
  readonly #faults: FolderFault[] = [];
  readonly #unknown: string[] = [];
  readonly #unusableTexts = new Map<string, string>();

  add(file: string, text: string, objects: readonly FileObject[]): void {
    for (const { object, location } of objects) {
      const identity = identityOf(object);
      const duplicate = this.#objects.get(identity);
      if (duplicate === undefined) this.#objects.set(identity, { object, file, location });
      else {
        const sentence = `${identity} is already defined at ${locationText(duplicate.location)}, which is applied; remove one of them`;
        this.#faults.push(faultIn(text, location, sentence));
      }
    }
  }

  reject(file: string, faults: readonly FolderFault[], text?: string): void {
    this.#unknown.push(file);
    if (text !== undefined) this.#unusableTexts.set(file, text);
    this.#faults.push(...faults);
  }

  reading(): Pick<FolderReading, 'objects' | 'faults' | 'unknown' | 'unusableTexts'> {
    const objects = [...this.#objects.values()].map(({ object, file }) => ({ object, file }));
    return {
      objects,
      faults: this.#faults,
      unknown: this.#unknown,
      unusableTexts: this.#unusableTexts,
    };
  }
}
