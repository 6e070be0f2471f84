/**
 * node-address: the virtual address, on which the proxy serves, is on this node.
 */
import { hopResult, type HopResult } from '../hop.ts';

/** Judges an address by what is wrong with it; nothing: it is where and as it should be. */
export function judgeNodeAddress(address: string, fault: string | undefined): HopResult {
  const target = `${address} on lo`;
  return fault === undefined
    ? hopResult('NodeAddressPresent', target, `${address} is on lo`)
    : hopResult('NodeAddressWrong', target, fault, { address });
}
