/**
 * Maps the errors of Bun's dials to reasons.
 */
import { closeSync, openSync } from 'node:fs';
import { REASON } from '../reasons.ts';

/** Returns the reason for a system error. */
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

/** Reports whether a file can be opened now. Bun 1.4.4 reports a dial without a free descriptor as refused. */
function hasDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code !== 'EMFILE' && code !== 'ENFILE';
  }
}

/** Ignores a rejection of Bun.connect: the handler `connectError` has already handled it. */
export function ignoreConnectRejection(): void {}
