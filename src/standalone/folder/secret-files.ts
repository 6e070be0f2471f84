/** Reads the values of Secrets that are in separate files. */
import { dirname, resolve } from 'node:path';
import { InvalidObjectError } from '../../api/fault.ts';
import type { KubeObject } from '../../kube/object.ts';
import { faultIn, type FolderFault } from './fault.ts';
import type { FileContents } from './file-contents.ts';
import { identityOf, MAX_FAULTS, type FileObject, type FileReading } from './file-objects.ts';
import { looksLikeValue, MAX_SECRET_BYTES, withFiles, type FolderSecret } from './secret.ts';

/** Limit for all Secrets together. A file referenced by two Secrets counts twice, because each has a copy. */
const MAX_SECRET_FILES_BYTES = 128 * 1024 * 1024;

const LOOKS_LIKE_VALUE =
  'no such file, and it looks like a value rather than a path; set a path, or put the value into data or stringData';

/** The file of the folder whose Secrets are filled. */
interface FillContext {
  /** Path relative to the folder. */
  readonly file: string;
  readonly text: string;
  readonly faults: FolderFault[];
  /** The paths of all files read for it. */
  readonly paths: string[];
}

/** Reads the files referenced in `files` of Secrets, during one read of the folder. */
export class SecretFiles {
  /** The directories of these files, for watching. */
  readonly directories = new Set<string>();
  readonly #folder: string;
  readonly #contents: FileContents;
  #bytes = 0;

  constructor(folder: string, contents: FileContents) {
    this.#folder = folder;
    this.#contents = contents;
  }

  /** Returns the objects of a file, with the contents of the files that its Secrets reference. */
  async fill(file: string, text: string, reading: FileReading): Promise<FileReading> {
    if (reading.faults.length > 0) return reading;
    const context: FillContext = { file, text, faults: [], paths: [] };
    const objects: FileObject[] = [];
    const before = this.#bytes;
    for (const parsed of reading.objects) {
      const object = parsed.files.size === 0 ? parsed.object : await this.#filled(parsed, context);
      if (object !== undefined) objects.push({ ...parsed, object });
      if (this.#bytes > MAX_SECRET_FILES_BYTES) break;
    }
    const { faults, paths } = context;
    if (faults.length > 0) {
      // The file is rejected, so its contents do not count toward the limit and are not cached.
      this.#bytes = before;
      for (const path of paths) this.#contents.forget(path);
    }
    return { objects, faults };
  }

  async #filled(parsed: FileObject, context: FillContext): Promise<KubeObject | undefined> {
    const { file, text, faults, paths } = context;
    const title = identityOf(parsed.object);
    const contents = new Map<string, Uint8Array>();
    let bytes = 0;
    for (const [entry, { path, location }] of parsed.files) {
      // The Secret is rejected in any case.
      if (bytes > MAX_SECRET_BYTES || faults.length >= MAX_FAULTS) break;
      const absolute = resolve(this.#folder, dirname(file), path);
      const reject = (why: string) =>
        faults.push(faultIn(text, location, `${title}: files.${entry}: ${why}`));
      this.directories.add(dirname(absolute));
      paths.push(absolute);
      const content = await this.#contents.read(absolute);
      if (content === undefined || typeof content === 'string') {
        const why = content ?? `file not found: ${absolute}; create it, or correct the path`;
        reject(looksLikeValue(path) ? LOOKS_LIKE_VALUE : why);
        continue;
      }
      contents.set(entry, content);
      bytes += content.length;
      this.#bytes += content.length;
      if (this.#bytes > MAX_SECRET_FILES_BYTES) {
        reject(
          `the files of all Secrets exceed ${MAX_SECRET_FILES_BYTES} bytes with ${absolute}, which has ${content.length} bytes; reference smaller or fewer files`,
        );
        return undefined;
      }
    }
    if (contents.size < parsed.files.size && bytes <= MAX_SECRET_BYTES) return undefined;
    try {
      return withFiles(parsed.object as FolderSecret, contents, title);
    } catch (error) {
      if (!(error instanceof InvalidObjectError)) throw error;
      faults.push(faultIn(text, parsed.location, error.message));
      return undefined;
    }
  }
}
