/**
 * Reports which CA has signed the certificate behind a host name, by a verified TLS handshake for each CA. Prints
 * {"authority", "names"} with the certificate's names, or {} if no CA has signed it. A closed or silent port is an
 * error, because an edge at least closes the connection.
 *
 * usage: tls-probe.ts HOST:PORT NAME=CA_FILE...
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

/** Output of the probe. */
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

/**
 * Returns the names in the server's certificate; undefined if this CA has not signed it, or if the server closed the
 * connection.
 */
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
      // Accepts the certificate of another tenant, whose names do not match.
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
