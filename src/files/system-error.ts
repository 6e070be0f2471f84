/**
 * The code of an error of the system, such as `ENOENT`; undefined for any other error, one of ours that has a code too.
 * One for a path that is too long names no system call, but has its number.
 */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && 'errno' in error
    ? String(error.code)
    : undefined;
}
