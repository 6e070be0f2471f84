/**
 * Accepts command lines of steward-tcp-proxy. They have no command, because Steward passes none to its image, and they
 * may have Go's single dashes.
 */

/** The flags of steward-tcp-proxy v0.2.0, without those of its libraries. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['listen-addr', 'upstream-addr', 'upstream-sni', 'upstream-insecure'],
  ...['service-name', 'service-port', 'reconcile-interval', 'tls-cert-file', 'tls-key-file'],
]);

const COMMAND = 'tcp-proxy';

/**
 * Returns a command line as Commander reads it. Flags alone, one of which is steward-tcp-proxy's, become the command
 * `tcp-proxy`. Its flags get two dashes, because Go accepts `-upstream-addr` for `--upstream-addr`. Any other command
 * line stays as it is.
 */
export function tcpProxyArguments(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (first === COMMAND) return [COMMAND, ...words.slice(1).map(twoDashes)];
  const isStewards = first.startsWith('-') && words.some((word) => FLAGS.has(nameOf(word)));
  return isStewards ? [COMMAND, ...words.map(twoDashes)] : words;
}

function nameOf(word: string): string {
  return /^--?([^=]+)/.exec(word)?.[1] ?? '';
}

/** Adds the second dash, except to `-h`, which both programs have. */
function twoDashes(word: string): string {
  return /^-[a-z]/.test(word) && word !== '-h' ? `-${word}` : word;
}
