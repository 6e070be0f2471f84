import { expect, test } from 'bun:test';
import { CannotListen, listenOnAll } from './listen-all.ts';
import { parseListenAddress, type ListenAddress } from './listen-address.ts';

/** Simulates listening. Fails on `::` if there is a `code`. */
function listenOn(addresses: readonly ListenAddress[], code?: string) {
  const skipped: string[] = [];
  const listen = ({ address, port }: ListenAddress) => {
    if (address === '::' && code !== undefined) throw Object.assign(new Error('no'), { code });
    return port;
  };
  const ports = () => listenOnAll({ listen }, addresses, ({ message }) => skipped.push(message));
  return { ports, skipped };
}

test('returns the ports in the order of the addresses', () => {
  const { ports, skipped } = listenOn([
    ...parseListenAddress(':443'),
    ...parseListenAddress('10.0.0.1:6443'),
  ]);

  expect(ports()).toEqual([443, 443, 6443]);
  expect(skipped).toEqual([]);
});

test.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
  'skips the IPv6 wildcard address of a port alone, and reports it: %s',
  (code) => {
    const { ports, skipped } = listenOn(parseListenAddress(':443'), code);

    expect(ports()).toEqual([443]);
    expect(skipped).toEqual([`cannot listen on [::]:443 (${code})`]);
  },
);

test.each(['EMFILE', 'EACCES', 'EADDRINUSE'])('does not skip IPv6 for %s', (code) => {
  const { ports, skipped } = listenOn(parseListenAddress(':443'), code);

  expect(ports).toThrow(new CannotListen({ address: '::', port: 443 }, code, undefined));
  expect(skipped).toEqual([]);
});

test.each(['[::]:443', '10.0.0.1:443 [::]:443', '0.0.0.0:80 [::]:443'])(
  'requires IPv6 addresses that are configured explicitly: %s',
  (texts) => {
    const { ports } = listenOn(texts.split(' ').flatMap(parseListenAddress), 'EAFNOSUPPORT');

    expect(ports).toThrow('cannot listen on [::]:443 (EAFNOSUPPORT)');
  },
);
