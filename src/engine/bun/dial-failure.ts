/**
 * How Bun says that a dial has failed.
 */
import { closeSync, openSync } from 'node:fs';
import { REASON } from '../reasons.ts';

/** The reason for an error of the system. */
export function dialFailure(error: Error & { readonly code?: unknown }): number {
  switch (error.code) {
    case 'ECONNREFUSED':
      return hasDescriptors() ? REASON.dial_refused : REASON.dial_no_resources;
    case 'ECONNRESET':
      return REASON.dial_refused;
    case 'ETIMEDOUT':
      return REASON.dial_timeout;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return REASON.dial_unreachable;
    case 'EADDRNOTAVAIL': // every local port is taken
    case 'ENOBUFS':
    case 'ENOMEM':
      return REASON.dial_no_resources;
    default:
      return REASON.dial_failed;
  }
}

/** Whether a file could be opened now: Bun reports a dial that had no descriptor as refused (Bun 1.4.4). */
function hasDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code !== 'EMFILE' && code !== 'ENFILE';
  }
}

/** For the promise of Bun.connect, which says nothing that the handler `connectError` has not said. */
export function toldByConnectError(): void {}
