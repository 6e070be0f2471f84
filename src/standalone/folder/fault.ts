/** Faults of a folder, with their positions. */
import { locationText, type SourceLocation } from '../../manifests/manifest-parts.ts';
import { excerptAt } from './excerpt.ts';

/** A fault in a folder. */
export interface FolderFault extends SourceLocation {
  /** The invalid value and how to fix it, without a full stop. */
  readonly sentence: string;
  /** The line with a caret below it. Undefined if there is nothing to show, or if the line may contain a secret. */
  readonly excerpt?: string | undefined;
}

/** Returns the fault as one line, such as `tenants/a.yaml:12:9: Exposure default/a: spec.edgeRef: ...`. */
export function faultText(fault: FolderFault): string {
  return `${locationText(fault)}: ${fault.sentence}`;
}

/** Returns a fault at a position in a text. */
export function faultIn(text: string, location: SourceLocation, sentence: string): FolderFault {
  const { file, line, column } = location;
  if (line === undefined || column === undefined) return { file, sentence };
  return { file, line, column, sentence, excerpt: excerptAt(text, line, column) };
}

/** The folder cannot be read. Its objects are unknown, not deleted. */
export class FolderUnreadable extends Error {
  override readonly name = 'FolderUnreadable';
  readonly code = 'FolderUnreadable';
}
