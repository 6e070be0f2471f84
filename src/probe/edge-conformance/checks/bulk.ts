/**
 * bulk: many pipelined requests on one connection are all answered. TLS ensures that no byte is changed.
 */
import { checkResult, nothingToCheck, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { firstAnswer, versionRequest } from '../http1.ts';

/** With the padding, 256 KB: more than the default socket buffers, and not a burden. */
const REQUESTS = 64;
const PADDING_BYTES = 4000;

/** Sends the requests and counts the responses. */
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
