/**
 * The program's own file as it is mapped into memory: code and constants of the runtime, some 100 MB, of which the kernel
 * keeps resident what was used and up to 64 KB around each such place.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import * as libc from './libc.ts';
import { errno, systemError } from './libc.ts';
import { MADV_DONTNEED } from './linux.ts';

/** A part of the address space. */
export interface MappedRange {
  readonly address: number;
  readonly sizeBytes: number;
}

const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)$/;

/**
 * Where the file is mapped and nothing but the file: not writable, and without a page that was changed since, as the
 * loader and debuggers do. To let go of such a range loses nothing; the kernel reads it from the file again.
 *
 * @param smaps the text of /proc/self/smaps.
 */
export function unchangedRanges(smaps: string, file: string): readonly MappedRange[] {
  const ranges: MappedRange[] = [];
  let range: MappedRange | undefined;
  for (const line of smaps.split('\n')) {
    const [isHead, start = '', end = '', access = '', path = ''] = HEAD.exec(line) ?? [];
    if (isHead !== undefined) {
      const address = Number.parseInt(start, 16);
      const sizeBytes = Number.parseInt(end, 16) - address;
      range = path === file && access.startsWith('r-') ? { address, sizeBytes } : undefined;
    } else if (range !== undefined && /^Anonymous: +0 kB$/.test(line)) ranges.push(range);
  }
  return ranges;
}

/** Those of this program. */
export function ownRanges(): readonly MappedRange[] {
  return unchangedRanges(
    readFileSync('/proc/self/smaps', 'latin1'),
    readlinkSync('/proc/self/exe'),
  );
}

/** Takes them out of resident memory. What is used again comes back by itself, from the page cache. */
export function letGoOf(ranges: readonly MappedRange[]): void {
  for (const { address, sizeBytes } of ranges) {
    if (libc.madvise(address, sizeBytes, MADV_DONTNEED) < 0) throw systemError('madvise', errno());
  }
}
