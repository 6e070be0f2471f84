/** Archives in ustar format (POSIX.1-1988). Owner root, time 0, so that the same entries result in the same bytes. */

/** One entry of an archive. */
export type TarEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly content: Uint8Array;
      readonly mode: number;
    }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

const BLOCK_BYTES = 512;
const TYPE_FLAGS = { file: '0', link: '2', folder: '5' } as const;

/** Returns an archive of these entries, in this order. */
export function tar(entries: readonly TarEntry[]): Buffer<ArrayBuffer> {
  return Buffer.concat([...entries.flatMap(blocks), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function blocks(entry: TarEntry): Uint8Array[] {
  if (entry.kind !== 'file') return [header(entry, 0)];
  const { length } = entry.content;
  const padding = Buffer.alloc((BLOCK_BYTES - (length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [header(entry, length), entry.content, padding];
}

function header(entry: TarEntry, sizeBytes: number): Buffer {
  const name = entry.path.replace(/^\//, '') + (entry.kind === 'folder' ? '/' : '');
  const target = entry.kind === 'link' ? entry.target : '';
  const tooLong = [name, target].find((text) => Buffer.byteLength(text) > 100);
  if (tooLong !== undefined)
    throw new Error(
      `'${tooLong === name ? entry.path : target}' is too long for a tar entry of 100 bytes`,
    );
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0);
  block.write(octal(entry.kind === 'link' ? 0o777 : entry.mode, 8), 100);
  block.write(octal(0, 8), 108); // owner
  block.write(octal(0, 8), 116); // group
  block.write(octal(sizeBytes, 12), 124);
  block.write(octal(0, 12), 136); // time
  block.write(' '.repeat(8), 148); // the checksum counts its own field as blanks
  block.write(TYPE_FLAGS[entry.kind], 156);
  block.write(target, 157);
  block.write('ustar\0' + '00', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, '0')}\0`;
}
