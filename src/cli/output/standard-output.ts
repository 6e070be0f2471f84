import { systemCode } from '../../files/system-error.ts';
import type { CommandIo } from '../io/command-io.ts';
import { printMessage } from './messages.ts';

/** The exit code that a shell reports for a program that ended by SIGPIPE. */
const BROKEN_PIPE = 141;
/** The exit code for all other failures outside the program. */
const AT_FAULT = 2;

/**
 * Exits if standard output cannot be written. Prints nothing if the reader has closed the pipe, as `head` does. Prints
 * an error otherwise, as for a full disk, so that users do not mistake partial output for all of it.
 */
export function endWithOutput(io: CommandIo): void {
  io.stdout.on('error', (error) => {
    const code = systemCode(error) ?? error.message;
    if (code === 'EPIPE') io.exit(BROKEN_PIPE);
    printMessage(io, `error: cannot write standard output: ${code}; the output is incomplete`);
    io.exit(AT_FAULT);
  });
  // The error cannot be reported any more. The exit code still says it.
  io.stderr.on('error', () => undefined);
}
