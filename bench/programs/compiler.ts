/** Finds a C compiler with OpenSSL: the installed one, or one of Debian unstable in a separate tree. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError, run } from '../../world/machine/command.ts';
import { MissingProgramError } from './missing.ts';
import { unstableTree } from './unstable.ts';

const FLAGS = ['-O2', '-std=gnu17', '-Wall', '-Wextra'];
const LIBRARIES = ['-lssl', '-lcrypto'];

/** Compiles C files into a program. */
export type Compile = (files: readonly string[], program: string) => Promise<void>;

/** Returns an installed compiler, or unpacks one. */
export async function compiler(): Promise<Compile> {
  const installed = Bun.which('cc') ?? Bun.which('gcc');
  if (installed !== null && (await hasOpenssl(installed))) {
    return async (files, program) => {
      await run([installed, ...FLAGS, '-o', program, ...files, ...LIBRARIES]);
    };
  }
  if (process.getuid?.() !== 0) {
    throw new MissingProgramError(
      'no C compiler with OpenSSL here, and only root can use one from unpacked packages (chroot): ' +
        'install gcc and libssl-dev',
    );
  }
  return unpackedCompiler();
}

async function hasOpenssl(compilerPath: string): Promise<boolean> {
  try {
    const input = '#include <openssl/ssl.h>\n#include <stdio.h>\n';
    await run([compilerPath, '-E', '-x', 'c', '-o', '/dev/null', '-'], { input });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/**
 * Runs the compiler in a chroot of the tree, which is a complete small system. The programs are linked statically, so
 * they run with any C library.
 */
async function unpackedCompiler(): Promise<Compile> {
  const tree = await unstableTree(['gcc', 'libc6-dev', 'libssl-dev', 'libzstd-dev', 'zlib1g-dev']);
  return async (files, program) => {
    const inside = '/tmp/bench';
    const outside = join(tree.root, inside);
    mkdirSync(outside, { recursive: true });
    for (const file of files) copyFileSync(file, join(outside, basename(file)));
    for (const header of new Bun.Glob('*.h').scanSync(dirname(files[0] ?? '')))
      copyFileSync(join(dirname(files[0] ?? ''), header), join(outside, header));
    const sources = files.map((file) => join(inside, basename(file)));
    const result = join(inside, basename(program));
    const gcc = ['gcc', ...FLAGS, '-static', '-o', result, ...sources, ...LIBRARIES];
    await run(['chroot', tree.root, ...gcc, '-lzstd', '-lz'], {
      env: { PATH: '/usr/sbin:/usr/bin' },
    });
    if (!existsSync(join(tree.root, result)))
      throw new Error(`gcc in ${tree.root} made no ${result}`);
    copyFileSync(join(tree.root, result), program);
  };
}
