import { haproxyPeers } from './haproxy.ts';
import { nginxPeer } from './nginx.ts';
import type { Peer } from './peer.ts';
import { relayPeers } from './relays.ts';
import { snicketPeers } from './snicket.ts';

/** All peers, in the order of the tables. */
export const ALL_PEERS: readonly Peer[] = [
  ...haproxyPeers,
  nginxPeer,
  ...relayPeers,
  ...snicketPeers,
].toSorted((left, right) => left.role.localeCompare(right.role));
