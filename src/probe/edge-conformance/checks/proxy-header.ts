/**
 * proxy-header: not everybody may tell the edge a client's address by PROXY protocol.
 */
import { checkResult, skippedCheck, type CheckResult } from '../check-result.ts';
import { edgeText } from '../checkup.ts';
import { handshakeThrough } from '../edge-connection.ts';
import { behindProxyHeader } from '../hello-shape.ts';
import { handshakeText } from '../recognition.ts';
import type { Stranger } from './names.ts';

/** Sends a header, and a hello for a host behind it. `isServed`: whether the host is reached without one. */
export async function checkProxyHeader(
  { edge, recognition, limits }: Stranger,
  host: string,
  isServed: boolean,
): Promise<CheckResult> {
  const shape = behindProxyHeader(edge.address, edge.port);
  const handshake = await handshakeThrough(edge, { serverName: host, shape }, limits);
  const text = `${edgeText(edge)} ${handshakeText(handshake, limits.timeoutMs)}`;
  const message = `${text}, asked for ${host} behind a PROXY v2 header`;
  if (handshake.kind !== 'secured') {
    // What is refused with or without a header says nothing of headers.
    return isServed
      ? checkResult('ProxyHeaderRefused', message)
      : skippedCheck('proxy-header', 'passthrough');
  }
  const isOwn = recognition.whoseAtFirst(host, handshake.presented).kind === 'own';
  return isOwn && !isServed
    ? checkResult('ProxyHeaderRequired', `${message}, and not without one`)
    : checkResult('ProxyHeaderTaken', message);
}
