/**
 * What is wrong in a folder, with the place.
 */
import { placeText, type Place } from '../../manifests/manifest-parts.ts';
import { excerptAt } from './excerpt.ts';

/** One thing that is wrong. */
export interface FolderFault extends Place {
  /** The offending value and a way out; no full stop. */
  readonly sentence: string;
  /** The line, and a caret below it; absent where there is nothing to show, or where it may be secret. */
  readonly excerpt?: string | undefined;
}

/** `tenants/a.yaml:12:9: Exposure default/a: spec.edgeRef: ...`, in one line. */
export function faultText(fault: FolderFault): string {
  return `${placeText(fault)}: ${fault.sentence}`;
}

/** A fault in a text. */
export function faultIn(text: string, place: Place, sentence: string): FolderFault {
  const { file, line, column } = place;
  if (line === undefined || column === undefined) return { file, sentence };
  return { file, line, column, sentence, excerpt: excerptAt(text, line, column) };
}

/** The folder as a whole cannot be read: what was in it is not known, rather than gone. */
export class FolderUnreadable extends Error {
  override readonly name = 'FolderUnreadable';
  readonly code = 'FolderUnreadable';
}
