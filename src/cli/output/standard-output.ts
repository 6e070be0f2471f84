import { systemCode } from '../../files/system-error.ts';
import type { CommandIo } from '../io/command-io.ts';
import { say } from './say.ts';

/** As a shell tells of a program that ended by SIGPIPE. */
const BROKEN_PIPE = 141;
/** As for anything else outside that is at fault. */
const AT_FAULT = 2;

/**
 * Ends the program when its output cannot be written: without a word when whoever reads it has left, as `head` does; with
 * one when a disk is full, so that nobody takes half of it for the whole.
 */
export function endWithOutput(io: CommandIo): void {
  io.stdout.on('error', (error) => {
    const code = systemCode(error) ?? error.message;
    if (code === 'EPIPE') io.exit(BROKEN_PIPE);
    say(
      io,
      `error: standard output cannot be written (${code}): what is there is not the whole of it`,
    );
    io.exit(AT_FAULT);
  });
  // Nobody is left to be told; the exit code still tells.
  io.stderr.on('error', () => undefined);
}
