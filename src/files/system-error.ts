/**
 * Returns the code of a system error, such as `ENOENT`. Returns undefined for any other error, including Snicket's own
 * errors with a code. Checks `errno`, because the error for a path that is too long has no `syscall`.
 */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && 'errno' in error
    ? String(error.code)
    : undefined;
}
