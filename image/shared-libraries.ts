/** The shared libraries of an executable, as the machine's own loader resolves them. */

/** Returns the paths of the libraries and of the loader, sorted. An image needs them at the same paths. */
export function sharedLibraries(executable: string): string[] {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['ldd', executable]);
  if (exitCode !== 0)
    throw new Error(
      `ldd cannot read '${executable}': ${stderr.toString().trim()}; build it on this machine: make build`,
    );
  return parseLdd(stdout.toString(), executable);
}

/**
 * Parses the paths in the output of ldd: `libc.so.6 => /lib/libc.so.6 (0x...)`, and the loader as
 * `/lib64/ld-linux.so.2 (0x...)`. The kernel's own linux-vdso has no path.
 */
export function parseLdd(text: string, executable: string): string[] {
  const missing = [...text.matchAll(/^\s*(\S+) => not found/gm)].map(([, name]) => name);
  if (missing.length > 0)
    throw new Error(
      `'${executable}' needs ${missing.join(', ')}, which this machine does not have; install the package that contains it`,
    );
  const paths = [...text.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  if (paths.length === 0)
    throw new Error(
      `'${executable}' has no shared libraries (ldd: '${text.trim()}'); use the output of make build`,
    );
  return [...new Set(paths)].toSorted();
}
