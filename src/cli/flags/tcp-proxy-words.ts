/**
 * Command lines of steward-tcp-proxy: without a command, since Steward gives its image none, and with Go's dashes.
 */

/** The flags of steward-tcp-proxy v0.2.0 itself. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['listen-addr', 'upstream-addr', 'upstream-sni', 'upstream-insecure'],
  ...['service-name', 'service-port', 'reconcile-interval', 'tls-cert-file', 'tls-key-file'],
]);

const COMMAND = 'tcp-proxy';

/**
 * The words of a command line, as Commander reads them. Flags alone, one of them steward-tcp-proxy's, are `tcp-proxy`;
 * and Go takes `-upstream-addr` for `--upstream-addr`. Any other command line is what it was.
 */
export function tcpProxyWords(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (first === COMMAND) return [COMMAND, ...words.slice(1).map(twoDashes)];
  const isStewards = first.startsWith('-') && words.some((word) => FLAGS.has(nameOf(word)));
  return isStewards ? [COMMAND, ...words.map(twoDashes)] : words;
}

function nameOf(word: string): string {
  return /^--?([^=]+)/.exec(word)?.[1] ?? '';
}

/** But `-h`, which both know. */
function twoDashes(word: string): string {
  return /^-[a-z]/.test(word) && word !== '-h' ? `-${word}` : word;
}
