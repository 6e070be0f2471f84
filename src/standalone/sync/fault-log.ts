/** Logs the faults of a folder. */
import { resolve } from 'node:path';
import type { Logger } from '../../telemetry/log.ts';
import { faultText, type FolderFault } from '../folder/fault.ts';
import type { FolderReading } from '../folder/folder-reader.ts';

/** Logs each fault once while it lasts, and logs when a file is valid again or gone. */
export class FaultLog {
  readonly #folder: string;
  readonly #log: Logger;
  #reported = new Map<string, FolderFault>();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** All current faults as sentences. */
  get sentences(): readonly string[] {
    return [...this.#reported.keys()];
  }

  /** @param appliedFiles - The files of the objects that are applied. */
  report(
    faults: readonly FolderFault[],
    reading: FolderReading,
    appliedFiles: ReadonlySet<string>,
  ): void {
    const current = new Map(faults.map((fault) => [faultText(fault), fault]));
    for (const [text, fault] of current) {
      if (this.#reported.has(text)) continue;
      const { file, line, column, excerpt } = fault;
      const effect = effectText(fault, reading, appliedFiles);
      this.#log.error(`${text}${effect}`, { file, line, column, excerpt });
    }
    const wrong = new Set(faults.map(({ file }) => file));
    const before = new Set([...this.#reported.values()].map(({ file }) => file));
    const present = new Set([...reading.files, ...reading.directories]);
    for (const file of before.difference(wrong)) {
      const exists = present.has(file) || present.has(resolve(this.#folder, file));
      const news = exists ? 'file is valid again' : 'invalid file was removed';
      this.#log.info(news, { file });
    }
    this.#reported = current;
  }
}

/** Returns what applies instead of an unusable file. */
function effectText(
  { file }: FolderFault,
  { unknown }: FolderReading,
  files: ReadonlySet<string>,
): string {
  if (!unknown.includes(file)) return '';
  const wasApplied = [...files].some(
    (applied) => applied === file || applied.startsWith(`${file}/`),
  );
  return wasApplied
    ? '; its last valid objects stay applied'
    : '; none of its objects is applied yet';
}
