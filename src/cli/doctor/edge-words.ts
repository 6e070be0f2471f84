/**
 * The words of `snicket doctor edge` as people write them: the edge and the hosts.
 */
import { host as hostSchema } from '../../api/values/network-values.ts';
import { parseEdgeAddress, type EdgeAddress } from '../../net/edge-address.ts';
import { isIPv6 } from '../../wire/ip-address.ts';
import { fieldValue } from '../flags/field-value.ts';

const DEFAULT_PORT = 443;
/** For each host there are nine connections. */
const MAX_HOSTS = 16;

/** The edge and the hosts, as words. */
export interface EdgeWords {
  /** Nothing if it was not named. */
  readonly edge: string | undefined;
  readonly hosts: readonly string[];
}

/** `--hosts a,b EDGE`: an option of many words takes what comes behind it, and so the edge. */
export function sortedWords({ edge, hosts }: EdgeWords): EdgeWords {
  const [first, second, ...more] = hosts;
  return edge === undefined && first !== undefined && more.length === 0
    ? { edge: second, hosts: [first] }
    : { edge, hosts };
}

/**
 * `edge.example.com`, `203.0.113.10:8443`, `[2001:db8::10]`.
 *
 * @throws TypeError with a sentence that has no full stop.
 */
export function parseEdge(text: string): EdgeAddress {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  if (scheme !== undefined) {
    const [rest] = text.slice(scheme.length).split('/');
    throw new TypeError(`'${text}' is a URL; leave ${scheme} out, and write ${rest}`);
  }
  if (isIPv6(text)) {
    throw new TypeError(`'${text}' needs brackets; write [${text}]:${DEFAULT_PORT}`);
  }
  if (/:\d+$/.test(text)) return parseEdgeAddress(text);
  try {
    return parseEdgeAddress(`${text}:${DEFAULT_PORT}`);
  } catch (cause) {
    // Its own sentence would cite a port that nobody has written.
    const message = `'${text}' is neither a DNS name nor an IP address; write edge.example.com or 203.0.113.10:8443`;
    throw new TypeError(message, { cause });
  }
}

/**
 * Hosts, apart or with commas between them; each once, in lower case.
 *
 * @throws TypeError with a sentence that has no full stop.
 */
export function parseHosts(words: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = new Set(words.flatMap((word) => parts(word.toLowerCase())));
  if (first === undefined) throw new TypeError('there is no host; write blue.k8s.example.com');
  const hosts = [first, ...others] as const;
  for (const one of hosts) fieldValue(hostSchema, one);
  if (hosts.length <= MAX_HOSTS) return hosts;
  throw new TypeError(`${hosts.length} are too many; write ${MAX_HOSTS} at most`);
}

function parts(word: string): readonly string[] {
  return word.split(',').filter((part) => part !== '');
}
