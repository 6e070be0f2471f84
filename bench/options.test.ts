import { describe, expect, test } from 'bun:test';
import { OptionsError, parseOptions } from './options.ts';

const PEERS = ['haproxy', 'haproxy-splice', 'go', 'snicket-epoll'];

describe('the command line of the bench', () => {
  test('selects everything without arguments', () => {
    const options = parseOptions([], PEERS);

    expect(options.mode).toBe('full');
    expect(options.peers).toEqual(PEERS);
    expect(options.cases).toHaveLength(16);
    expect(options.otherCases).toContain('gateway.routes');
  });

  test('--quick skips the least useful cases', () => {
    const options = parseOptions(['--quick'], PEERS);

    expect(options.peers).not.toContain('haproxy-splice');
    expect(options.cases.map((benchCase) => benchCase.id)).not.toContain('gateway.plain.upload');
    expect(options.memoryPeers).toEqual(['haproxy', 'snicket-epoll']);
    expect(options.repetitions).toBeLessThan(parseOptions([], PEERS).repetitions);
  });

  test('--cases selects cases by any words of their names, including those that --quick skips', () => {
    const options = parseOptions(['--quick', '--cases', 'gateway.upload,proxy.tls.request'], PEERS);

    expect(options.cases.map((benchCase) => benchCase.id)).toEqual([
      'gateway.plain.upload',
      'gateway.tls.upload',
      'proxy.tls.request',
    ]);
    expect(options.otherCases).toEqual([]);
  });

  test('--peers keeps the order of the peers, not that of the argument', () => {
    const options = parseOptions(['--peers', 'snicket-epoll,haproxy'], PEERS);

    expect(options.peers).toEqual(['haproxy', 'snicket-epoll']);
  });

  test('reports an unknown peer or case, with the known ones', () => {
    expect(() => parseOptions(['--peers', 'envoy'], PEERS)).toThrow(
      new OptionsError("no peer 'envoy'; there are haproxy, haproxy-splice, go, snicket-epoll"),
    );
    expect(() => parseOptions(['--cases', 'gateway.speed'], PEERS)).toThrow(
      "no case 'gateway.speed'",
    );
  });
});
