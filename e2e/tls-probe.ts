/**
 * Says whose certificate answers for a host name: a TLS handshake for each authority, verified against it.
 * Prints {"authority", "names"} with the certificate's names, or {} if none of the authorities has signed it.
 * A port that is closed or silent is a failure: an edge answers, if only by hanging up.
 *
 * usage: tls-probe.ts HOST:PORT NAME=CA_FILE...
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

/** What the probe prints. */
export interface Answer {
  readonly authority?: string;
  readonly names?: readonly string[];
}

const TIMEOUT_MS = 30_000;

const [target = '', ...authorities] = process.argv.slice(2);
const [, host, port] = /^(.+):(\d+)$/.exec(target) ?? [];
if (!host || !port) throw new Error('usage: tls-probe.ts HOST:PORT NAME=CA_FILE...');

const answers = await Promise.all(
  authorities.map(async (argument): Promise<Answer> => {
    const [authority = '', file = ''] = argument.split('=');
    const names = await namesVerifiedBy(readFileSync(file, 'utf8'), host, Number(port));
    return names ? { authority, names } : {};
  }),
);
console.log(JSON.stringify(answers.find(({ authority }) => authority) ?? {}));
process.exit(0);

/** The names in the server's certificate; undefined if this authority has not signed it, or whoever answered hung up. */
async function namesVerifiedBy(
  ca: string,
  host: string,
  port: number,
): Promise<readonly string[] | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      servername: host,
      ca,
      // The certificate of another tenant is to be seen, not refused for its names.
      checkServerIdentity: () => undefined,
    });
    socket.setTimeout(TIMEOUT_MS, () =>
      reject(new Error(`${host}:${port} did not answer in ${TIMEOUT_MS} ms`)),
    );
    socket.on('secureConnect', () => {
      const names = socket.getPeerCertificate().subjectaltname ?? '';
      resolve(
        socket.authorized
          ? names.split(', ').map((name) => name.replace(/^\w+( \w+)?:/, ''))
          : undefined,
      );
    });
    let connected = false;
    socket.on('connect', () => (connected = true));
    socket.on('error', (error) => (connected ? resolve(undefined) : reject(error)));
    socket.on('close', () => resolve(undefined));
  });
}
