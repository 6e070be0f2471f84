/** Time limit for reading a whole management cluster, or a folder in its place, in milliseconds. */
export const READ_TIMEOUT_MS = 60_000;
