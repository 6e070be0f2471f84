/**
 * proxy-header: arbitrary clients cannot send a client address with the PROXY protocol.
 */
import { checkResult, skippedCheck, type CheckResult } from '../check-result.ts';
import { edgeText } from '../checkup.ts';
import { handshakeThrough } from '../edge-connection.ts';
import { behindProxyHeader } from '../hello-shape.ts';
import { handshakeText } from '../recognition.ts';
import type { NameCheckInput } from './names.ts';

/** Sends a PROXY header and then a ClientHello for a host. `isServed`: whether the host is reached without a header. */
export async function checkProxyHeader(
  { edge, recognition, limits }: NameCheckInput,
  host: string,
  isServed: boolean,
): Promise<CheckResult> {
  const shape = behindProxyHeader(edge.address, edge.port);
  const handshake = await handshakeThrough(edge, { serverName: host, shape }, limits);
  const text = `The server at ${edgeText(edge)} ${handshakeText(handshake, limits.timeoutMs)}`;
  const message = `${text} for host ${host} after a PROXY v2 header.`;
  if (handshake.kind !== 'secured') {
    // If the host is also refused without a header, the check has no result.
    return isServed
      ? checkResult('proxy-header', 'Passed', message)
      : skippedCheck('proxy-header', 'passthrough');
  }
  const isOwn = recognition.ownerInPlainHandshake(host, handshake.presented).kind === 'own';
  return isOwn && !isServed
    ? checkResult(
        'proxy-header',
        'ProxyHeaderRequired',
        `${message} Without the header, the host is not served.`,
      )
    : checkResult('proxy-header', 'ProxyHeaderAccepted', message);
}
