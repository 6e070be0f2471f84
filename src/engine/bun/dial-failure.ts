/**
 * How Bun says that a dial has failed.
 */
import { REASON } from '../reasons.ts';

/** The reason for an error of the system. Bun reports one that has no descriptors left as refused. */
export function dialFailure(error: Error & { readonly code?: unknown }): number {
  switch (error.code) {
    case 'ECONNREFUSED':
    case 'ECONNRESET':
      return REASON.dial_refused;
    case 'ETIMEDOUT':
      return REASON.dial_timeout;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return REASON.dial_unreachable;
    default:
      return REASON.dial_failed;
  }
}

/** For the promise of Bun.connect, which says nothing that the handler `connectError` has not said. */
export function toldByConnectError(): void {}
