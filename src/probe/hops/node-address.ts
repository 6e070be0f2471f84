/**
 * node-address: the virtual address of the proxy is configured on this node.
 */
import { sentence } from '../../text/sentence.ts';
import { hopResult, type HopResult } from '../hop.ts';

/** Returns the result for an address. `fault` says what is wrong with it, if anything. */
export function judgeNodeAddress(address: string, fault: string | undefined): HopResult {
  const target = `${address} on lo`;
  return fault === undefined
    ? hopResult('node-address', 'Passed', target, `Address ${address} is configured on lo.`)
    : hopResult('node-address', 'NodeAddressMissing', target, sentence(fault), { address });
}
