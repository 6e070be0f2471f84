/**
 * Parses the arguments of `snicket doctor edge`: the edge and the hosts.
 */
import { host as hostSchema } from '../../api/values/network-values.ts';
import { parseEdgeAddress, type EdgeAddress } from '../../net/edge-address.ts';
import { isIPv6 } from '../../wire/ip-address.ts';
import { fieldValue } from '../flags/field-value.ts';

const DEFAULT_PORT = 443;
/** Limits the number of connections: there are nine for each host. */
const MAX_HOSTS = 16;

/** The edge and the hosts as given by the user. */
interface EdgeArguments {
  /** Undefined if it was not given. */
  readonly edge: string | undefined;
  readonly hosts: readonly string[];
}

/** Returns the edge and the hosts of `--hosts a,b EDGE`, where the variadic option has also taken the edge. */
export function sortedArguments({ edge, hosts }: EdgeArguments): EdgeArguments {
  const [first, second, ...more] = hosts;
  return edge === undefined && first !== undefined && more.length === 0
    ? { edge: second, hosts: [first] }
    : { edge, hosts };
}

/**
 * Parses `edge.example.com`, `203.0.113.10:8443` or `[2001:db8::10]`.
 *
 * @throws TypeError whose message has no period at the end.
 */
export function parseEdge(text: string): EdgeAddress {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  if (scheme !== undefined) {
    const [rest] = text.slice(scheme.length).split('/');
    throw new TypeError(`'${text}' is a URL; pass ${rest}`);
  }
  if (isIPv6(text)) {
    throw new TypeError(`'${text}' requires brackets; pass [${text}]:${DEFAULT_PORT}`);
  }
  if (/:\d+$/.test(text)) return parseEdgeAddress(text);
  try {
    return parseEdgeAddress(`${text}:${DEFAULT_PORT}`);
  } catch (cause) {
    // The original message would quote a port that the user did not write.
    const message = `'${text}' is neither a DNS name nor an IP address; pass a value such as edge.example.com or 203.0.113.10:8443`;
    throw new TypeError(message, { cause });
  }
}

/**
 * Parses hosts, separated by commas or given as several arguments. Removes duplicates and converts to lower case.
 *
 * @throws TypeError whose message has no period at the end.
 */
export function parseHosts(words: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = new Set(words.flatMap((word) => parts(word.toLowerCase())));
  if (first === undefined)
    throw new TypeError('--hosts is empty; pass a host such as blue.k8s.example.com');
  const hosts = [first, ...others] as const;
  for (const one of hosts) fieldValue(hostSchema, one);
  if (hosts.length <= MAX_HOSTS) return hosts;
  throw new TypeError(`too many hosts: ${hosts.length}; pass at most ${MAX_HOSTS}`);
}

function parts(word: string): readonly string[] {
  return word.split(',').filter((part) => part !== '');
}
