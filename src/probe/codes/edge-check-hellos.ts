import type { CodeEntry } from './entry.ts';

/** Codes for the forms of a ClientHello. */
export const HELLO_CODES = {
  SplitHelloNotRouted: {
    of: ['split-hello'],
    state: 'Fail',
    meaning:
      'The edge only reads the first segment. Clients with post-quantum key shares, such as kubectl and kubelet, fail now and then.',
    action:
      'Configure the edge to wait for the whole ClientHello (HAProxy: tcp-request inspect-delay), or use another edge.',
  },
  SplitHelloTimeout: {
    of: ['split-hello'],
    state: 'Fail',
    meaning:
      'A small ClientHello is answered, but one in many TCP segments is not answered in time: the edge or the server is slow, or the edge does not reassemble the segments.',
    action:
      'Try again with a longer --timeout. If that fails too, configure the edge to reassemble the segments of the ClientHello, or use another edge.',
  },

  SmallRecordsRefused: {
    of: ['small-records'],
    state: 'Warn',
    meaning:
      'The edge only reads the first TLS record. TLS allows more, but no Kubernetes client is known to send them.',
    action:
      'If one of your clients sends such a ClientHello, use an edge that reads all records. Otherwise, no action is needed.',
  },
  SmallRecordsMisrouted: {
    of: ['small-records'],
    state: 'Fail',
    meaning: 'A ClientHello in many small TLS records reaches another host than it names.',
    action:
      'Configure the edge to reject what it cannot read, without a default route to a tenant.',
  },

  LargeHelloNotRouted: {
    of: ['large-hello'],
    state: 'Fail',
    meaning:
      'A ClientHello larger than a TCP segment does not reach its host. Post-quantum key shares are that large.',
    action:
      'Give the edge a larger buffer for the ClientHello (HAProxy: tune.bufsize), or use another edge.',
  },

  UpperCaseNotRouted: {
    of: ['upper-case'],
    state: 'Fail',
    meaning: 'Clients that write the host in upper case are not served, although DNS resolves it.',
    action: 'Configure the edge to compare names in lower case (HAProxy: req.ssl_sni,lower).',
  },

  Tls12NotRouted: {
    of: ['tls-1.2'],
    state: 'Fail',
    meaning: 'A client that only speaks TLS 1.2 does not reach its host.',
    action: 'Configure the edge to let the server behind it choose the TLS version.',
  },
} as const satisfies Record<string, CodeEntry>;
