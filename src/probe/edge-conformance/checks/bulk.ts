/**
 * bulk: many requests on one connection, sent without waiting, are all answered. That no byte is changed on the way, TLS
 * sees to.
 */
import { checkResult, nothingToCheck, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { firstAnswer, versionRequest } from '../http1.ts';

/** With the padding, a quarter of a megabyte: more than the buffers of sockets have by default, and no burden. */
const REQUESTS = 64;
const PADDING_BYTES = 4000;

/** Sends them all, and counts the answers. */
export async function checkBulk({ edge, at, httpHost, limits }: Checkup): Promise<CheckResult> {
  if (httpHost === undefined) {
    return nothingToCheck('bulk', 'no server behind the edge answers in HTTP/1.1');
  }
  const request = versionRequest(httpHost, { paddingBytes: PADDING_BYTES });
  using connection = await openHttp(edge, httpHost, limits);
  connection.send(request.repeat(REQUESTS));
  for (let answers = 0; answers < REQUESTS; answers++) {
    const answer = await connection.receive(firstAnswer, limits);
    if (typeof answer !== 'object') {
      const message = `${answers} of ${REQUESTS} requests of ${request.length} bytes to ${httpHost} at ${at} were answered`;
      return checkResult('BulkCut', message, { host: httpHost });
    }
    connection.drop(answer.bytes);
    if (answer.closes && answers < REQUESTS - 1) {
      return nothingToCheck('bulk', `the server of ${httpHost} ends the connection by itself`);
    }
  }
  return checkResult('BulkPassed', `${REQUESTS} requests of ${request.length} bytes are answered`);
}
