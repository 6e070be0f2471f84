/** Of the whole reading of a management cluster, or of a folder in its place. */
export const READ_MS = 60_000;
