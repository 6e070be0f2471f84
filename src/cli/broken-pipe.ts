/** As a shell tells of a program that ended by SIGPIPE. */
const BROKEN_PIPE = 141;

/** Ends the program without a word when whoever reads its output has left, as `head` does. */
export function endWithReader(): void {
  process.stdout.on('error', (error: Error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(BROKEN_PIPE);
    throw error;
  });
}
