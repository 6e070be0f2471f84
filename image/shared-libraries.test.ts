import { expect, test } from 'bun:test';
import { parseLdd, sharedLibraries } from './shared-libraries.ts';

test('finds the libraries and the loader, but not those of the kernel', () => {
  const text = `\tlinux-vdso.so.1 (0x00007f50555b5000)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f50552d8000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f50553c2000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f50555b7000)
`;

  expect(parseLdd(text, 'snicket')).toEqual([
    '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib/x86_64-linux-gnu/libm.so.6',
    '/lib64/ld-linux-x86-64.so.2',
  ]);
});

test('lists a loader once if it is also a library, as with musl', () => {
  const text = `\t/lib/ld-musl-x86_64.so.1 (0x7f6c1)
\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f6c1)
`;

  expect(parseLdd(text, 'snicket')).toEqual(['/lib/ld-musl-x86_64.so.1']);
});

test('the error names a missing library', () => {
  const text = '\tlibnowhere.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n';

  expect(() => parseLdd(text, 'snicket')).toThrow("'snicket' needs libnowhere.so.1");
});

test("an executable without libraries is rejected, because it is not Snicket's", () => {
  expect(() => parseLdd('\tstatically linked\n', 'snicket')).toThrow('no shared libraries');
});

test.skipIf(process.platform !== 'linux')("asks the machine's own loader", () => {
  const libraries = sharedLibraries(process.execPath);

  expect(libraries.some((path) => /\/libc\./.test(path))).toBe(true);
  expect(libraries.some((path) => /\/ld-/.test(path))).toBe(true);
  expect(() => sharedLibraries('/nowhere/snicket')).toThrow("ldd cannot read '/nowhere/snicket'");
});
