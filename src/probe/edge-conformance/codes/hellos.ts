import type { EdgeCodeEntry } from './entry.ts';

/** Codes for the forms of a ClientHello. */
export const HELLO_CODES = {
  SplitHelloRouted: {
    check: 'split-hello',
    state: 'Pass',
    title: 'hello in many segments',
    meaning: 'A ClientHello that arrives in many TCP segments is led to its host.',
  },
  SplitHelloNotRouted: {
    check: 'split-hello',
    state: 'Fail',
    title: 'split hello is lost',
    meaning:
      'The edge looks at the first segment alone. Clients with post-quantum key shares, kubectl and kubelet among them, fail now and then.',
    action:
      'let the edge wait for the whole ClientHello (HAProxy: tcp-request inspect-delay), or take an edge that does',
  },
  SplitHelloTimeout: {
    check: 'split-hello',
    state: 'Fail',
    title: 'split hello is not answered',
    meaning:
      'A small ClientHello is answered, and one in many TCP segments is not in the time of a step: the edge or the server is slow, or the edge waits for what it does not put together.',
    action:
      'try again with a longer --timeout; if there is no answer then either, let the edge put the segments of the ClientHello together, or take an edge that does',
  },

  SmallRecordsRouted: {
    check: 'small-records',
    state: 'Pass',
    title: 'hello in many records',
    meaning: 'A ClientHello in many small TLS records is led to its host.',
  },
  SmallRecordsRefused: {
    check: 'small-records',
    state: 'Warn',
    title: 'hello in many records is lost',
    meaning:
      'The edge reads the first TLS record alone. TLS allows more; no client of Kubernetes is known to send them.',
    action:
      'nothing, as long as no client of yours sends such a hello; if one does, take an edge that reads on',
  },
  SmallRecordsMisrouted: {
    check: 'small-records',
    state: 'Fail',
    title: 'hello in many records goes astray',
    meaning: 'A ClientHello in many small TLS records is led to another host than it names.',
    action: 'let the edge refuse what it cannot read: no default route to a tenant',
  },

  LargeHelloRouted: {
    check: 'large-hello',
    state: 'Pass',
    title: 'large hello',
    meaning: 'A ClientHello larger than a TCP segment is led to its host.',
  },
  LargeHelloNotRouted: {
    check: 'large-hello',
    state: 'Fail',
    title: 'large hello is lost',
    meaning:
      'A ClientHello larger than a TCP segment does not arrive. Post-quantum key shares make it so.',
    action:
      'give the edge a larger buffer for the ClientHello (HAProxy: tune.bufsize), or take an edge that has one',
  },

  UpperCaseRouted: {
    check: 'upper-case',
    state: 'Pass',
    title: 'name in upper case',
    meaning: 'The case of letters in a name makes no difference, as in DNS.',
  },
  UpperCaseNotRouted: {
    check: 'upper-case',
    state: 'Fail',
    title: 'name in upper case is lost',
    meaning: 'Whoever writes the host in upper case is not served, though DNS finds it.',
    action: 'let the edge compare names in lower case (HAProxy: req.ssl_sni,lower)',
  },

  Tls12Routed: {
    check: 'tls-1.2',
    state: 'Pass',
    title: 'TLS 1.2 alone',
    meaning: 'A client that speaks TLS 1.2 alone is led to its host.',
  },
  Tls12NotRouted: {
    check: 'tls-1.2',
    state: 'Fail',
    title: 'TLS 1.2 is lost',
    meaning: 'A client that speaks TLS 1.2 alone does not reach its host.',
    action: 'let the edge leave the choice of the version to the server behind it',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
