/**
 * Prints the error that ends a command.
 */
import { AccessError } from '../../kube/access/cluster-access.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { FolderUnreadable } from '../../standalone/folder/fault.ts';
import { StateRefused } from '../../standalone/state/state-folder.ts';
import type { CommandIo } from '../io/command-io.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import { asCommandError, CommandError, EXIT, printAdvice, type Advice } from './messages.ts';

/** Prints an error and its hint, and sets the exit code. @throws the error if it is not one for the user */
export function reportError(io: CommandIo, error: unknown): void {
  if (isKubeError(error)) {
    printAdvice(io, 'error', adviceFor(error));
    io.exitCode = EXIT.failed;
    return;
  }
  const { message, hint, exitCode } = commandErrorOf(error);
  printAdvice(io, 'error', { message, hint });
  io.exitCode = exitCode;
}

function commandErrorOf(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const isForUser = [AccessError, FolderUnreadable, StateRefused].some(
    (kind) => error instanceof kind,
  );
  if (!isForUser) throw error;
  return asCommandError(error);
}

const CHECK_ACCESS =
  'check that the API server is running and that the context is correct: kubectl config current-context';

const NOT_INSTALLED =
  'this cluster does not serve Exposures; check the context, or install Snicket: kubectl apply -k deploy';

function adviceFor({ message, reason }: KubeError): Advice {
  // Only the time limit of reading aborts a call.
  if (reason === 'Aborted') {
    return {
      message: `the management cluster did not answer within ${READ_TIMEOUT_MS / 1000}s: ${message}`,
      hint: 'check why its API server is slow, and try again',
    };
  }
  if (reason === 'Unreachable' || reason === 'TimedOut') {
    return { message: `cannot connect to the management cluster: ${message}`, hint: CHECK_ACCESS };
  }
  return { message, hint: reason === 'NotFound' ? NOT_INSTALLED : undefined };
}
