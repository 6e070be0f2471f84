import { expect, test } from 'bun:test';
import { listenOnAll } from './listening.ts';

const EVERYWHERE = [
  { address: '0.0.0.0', port: 443 },
  { address: '::', port: 443 },
];

function failing(address: string, code: string) {
  return (at: { readonly address: string }) => {
    if (at.address === address) throw Object.assign(new Error('failed'), { code });
    return at.address;
  };
}

test('a machine without IPv6 listens everywhere all the same', () => {
  expect(listenOnAll(EVERYWHERE, failing('::', 'EAFNOSUPPORT'))).toEqual(['0.0.0.0']);
});

test('names the address that is taken', () => {
  const listen = () => listenOnAll(EVERYWHERE, failing('::', 'EADDRINUSE'));

  expect(listen).toThrow('cannot listen on [::]:443 (EADDRINUSE); choose another address');
});

test('an IPv6 address that was asked for by itself has to work', () => {
  const alone = [{ address: '::', port: 443 }];

  expect(() => listenOnAll(alone, failing('::', 'EAFNOSUPPORT'))).toThrow('EAFNOSUPPORT');
});

test('names the address that a real listener has', () => {
  using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });
  const { port } = taken;
  const listen = (at: { readonly address: string; readonly port: number }) =>
    Bun.listen({ hostname: at.address, port: at.port, socket: { data: () => {} } });

  expect(() => listenOnAll([{ address: '127.0.0.1', port }], listen)).toThrow(
    `cannot listen on 127.0.0.1:${port} (EADDRINUSE)`,
  );
});
