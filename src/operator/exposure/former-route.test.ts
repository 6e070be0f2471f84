import { describe, expect, test } from 'bun:test';
import { formerHosts, formerRoute, type StatusRoute } from './former-route.ts';

function route(api: string, konnectivity?: string, port = 6443): StatusRoute {
  return {
    api: { host: api, service: 'blue', port },
    ...(konnectivity !== undefined && {
      konnectivity: { host: konnectivity, service: 'blue', port: 8132 },
    }),
  };
}

describe('the hosts of before', () => {
  test.each([
    ['nothing was routed', undefined, []],
    ['all is as it was', { route: route('new', 'k') }, []],
    ['konnectivity has come', { route: route('new') }, []],
    ['one is another', { route: route('old', 'k') }, ['old']],
    ['both are others', { route: route('old', 'o') }, ['old', 'o']],
    [
      'the move goes on',
      { route: route('new', 'k'), formerRoute: route('old', 'o') },
      ['old', 'o'],
    ],
    [
      'there is another move before the first is over',
      { route: route('second'), formerRoute: route('first') },
      ['first'],
    ],
    ['it is back', { route: route('second'), formerRoute: route('new', 'k') }, ['second']],
  ] as const)('if %s are %j', (_, before, expected) => {
    expect(formerHosts(before, { api: 'new', konnectivity: 'k' })).toEqual([...expected]);
  });

  test('are given up to whoever has them by now', () => {
    const before = { route: route('old', 'o') };
    const hosts = { api: 'new', konnectivity: 'k' };

    expect(formerHosts(before, hosts, (host) => host === 'o')).toEqual(['old']);
    expect(formerRoute(before, route('new', 'k'), (host) => host === 'o')).toEqual(route('old'));
    expect(formerRoute(before, route('new', 'k'), (host) => host === 'old')).toBeUndefined();
  });

  test('lead to wherever the new ones lead', () => {
    const before = { route: route('old', 'o', 6443) };

    expect(formerRoute(before, route('new', 'k', 7443))).toEqual(route('old', 'o', 7443));
    expect(formerRoute(before, route('new', undefined, 7443))).toEqual(
      route('old', undefined, 7443),
    );
    expect(formerRoute(before, route('old', 'o'))).toBeUndefined();
  });
});
