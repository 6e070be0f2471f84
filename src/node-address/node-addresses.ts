/** The addresses of this machine. Adds virtual addresses to its loopback interface and removes them. */
import { NetlinkRefusal, NetlinkSocket } from './netlink-socket.ts';
import { isAddedBySnicket, placementOf, placementText, type Placement } from './placement.ts';
import {
  addressesRequest,
  addRequest,
  isLocalRoute,
  linkRequest,
  parseLink,
  parseNodeAddress,
  removeRequest,
  routeRequest,
  type Link,
  type NodeAddress,
} from './route-message.ts';
import { TYPE } from './rtnetlink.ts';

/** The interface that every network namespace has. */
const LOOPBACK = 'lo';
/**
 * Another process may change the same address at the same time, such as two init containers while one DaemonSet
 * replaces another.
 */
const MAX_ATTEMPTS = 10;
/** How long the kernel may take to route to a new address. The worst of 6,000 tries on a busy machine took 33 ms. */
const MAX_ROUTING_MS = 2000;

/** The error for a problem of this machine. The message is for the user. */
class NodeAddressError extends Error {
  override readonly name = 'NodeAddressError';
}

/** The addresses of this machine. */
export class NodeAddresses implements Disposable {
  readonly #socket = new NetlinkSocket();

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]();
  }

  /**
   * Adds an address to the loopback interface, unless it is already there with the correct properties. Returns once it
   * can be dialed.
   *
   * @throws NodeAddressError
   */
  add(address: string): 'added' | 'replaced' | 'present' {
    const loopback = this.#link(LOOPBACK);
    if (!loopback.isUp) {
      throw new NodeAddressError(
        `${LOOPBACK} is down, so no address on it would answer; run: ip link set ${LOOPBACK} up`,
      );
    }
    let outcome: 'added' | 'replaced' | 'present' = 'present';
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const placement = this.#placement(address, loopback);
      if (placement.kind === 'correct') {
        this.#awaitRoute(address);
        return outcome;
      }
      if (placement.kind !== 'absent' && placement.kind !== 'source-eligible') {
        const advice =
          placement.kind === 'network' ? 'remove that address first' : 'choose an unused address';
        throw new NodeAddressError(`${this.#text(address, placement)}; ${advice}`);
      }
      outcome =
        placement.kind === 'source-eligible'
          ? 'replaced'
          : outcome === 'present'
            ? 'added'
            : outcome;
      // The kernel cannot change the scope of an existing address.
      if (placement.kind === 'source-eligible') this.#remove(address, loopback);
      this.#change(address, (sequence) => addRequest(sequence, address, loopback.index), 'EEXIST');
    }
    throw new NodeAddressError(
      `${address} was added to ${LOOPBACK} ${MAX_ATTEMPTS} times and is gone; find out which program removes it`,
    );
  }

  /**
   * Removes an address from the loopback interface, if it has the properties that {@link add} sets. Any other address
   * was not added by Snicket and stays.
   *
   * @throws NodeAddressError
   */
  remove(address: string): { readonly removed: boolean; readonly remaining: string | undefined } {
    const loopback = this.#link(LOOPBACK);
    const removed = this.has(address);
    if (removed) this.#remove(address, loopback);
    const placement = this.#placement(address, loopback);
    const remaining = placement.kind === 'absent' ? undefined : this.#text(address, placement);
    return { removed, remaining };
  }

  /** Reports whether the loopback interface has the address with the properties that {@link add} sets. */
  has(address: string): boolean {
    return isAddedBySnicket(address, this.#present(), this.#link(LOOPBACK).index);
  }

  /** Returns the problem of an address, as a message. Undefined if it is correct. */
  fault(address: string): string | undefined {
    const loopback = this.#link(LOOPBACK);
    const placement = this.#placement(address, loopback);
    if (placement.kind !== 'correct') return this.#text(address, placement);
    return loopback.isUp ? undefined : `${address} is on ${LOOPBACK}, which is down`;
  }

  #placement(address: string, loopback: Link): Placement {
    return placementOf(address, this.#present(), loopback.index);
  }

  #present(): readonly NodeAddress[] {
    return this.#socket
      .request(addressesRequest)
      .filter(({ type }) => type === TYPE.NEWADDR)
      .map(parseNodeAddress)
      .filter((address) => address !== undefined);
  }

  #link(link: string | number): Link {
    const [answer] = this.#socket
      .request((sequence) => linkRequest(sequence, link))
      .filter(({ type }) => type === TYPE.NEWLINK);
    if (answer === undefined) throw new NodeAddressError(`there is no interface ${link}`);
    return parseLink(answer);
  }

  /**
   * Waits for the route to an address. The kernel has an IPv6 address at once, but adds its route later in a worker.
   */
  #awaitRoute(address: string): void {
    for (let waitedMs = 0; !this.#isLocal(address); waitedMs++) {
      if (waitedMs === MAX_ROUTING_MS) {
        throw new NodeAddressError(
          `${address} is on ${LOOPBACK}, but packets to it go elsewhere; check: ip route get ${address}`,
        );
      }
      Bun.sleepSync(1);
    }
  }

  #isLocal(address: string): boolean {
    try {
      const routes = this.#socket.request((sequence) => routeRequest(sequence, address));
      return routes.some((route) => route.type === TYPE.NEWROUTE && isLocalRoute(route));
    } catch (error) {
      // The route does not exist yet, or it refuses packets.
      if (error instanceof NetlinkRefusal) return false;
      throw error;
    }
  }

  #remove(address: string, { index }: Link): void {
    this.#change(address, (sequence) => removeRequest(sequence, address, index), 'EADDRNOTAVAIL');
  }

  /**
   * Changes an address. If another process has made the same change in the meantime, the kernel returns `done`, which
   * is not an error.
   */
  #change(address: string, request: (sequence: number) => Buffer, done: string): void {
    try {
      this.#socket.request(request);
    } catch (error) {
      if (!(error instanceof NetlinkRefusal)) throw error;
      if (error.code === done) return;
      throw new NodeAddressError(
        `${address} cannot be changed on ${LOOPBACK} (${error.message}); ${adviceFor(error.code)}`,
        { cause: error },
      );
    }
  }

  #text(address: string, placement: Placement): string {
    return placementText(address, placement, (index) => this.#link(index).name);
  }
}

function adviceFor(code: string): string {
  switch (code) {
    case 'EPERM':
      return 'this needs the capability NET_ADMIN, in a container: securityContext {runAsUser: 0, capabilities: {add: [NET_ADMIN]}}, and hostNetwork for the address to be on the node';
    case 'EACCES':
    case 'EOPNOTSUPP':
    case 'EAFNOSUPPORT':
      return 'does this machine have IPv6 (sysctl net.ipv6.conf.lo.disable_ipv6)? Leave the address out, or switch it on';
    default:
      return 'try `ip address` on this machine';
  }
}
