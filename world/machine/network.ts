import { run } from './command.ts';
import type { Host } from './host.ts';

/** Delay and loss of a link. */
export interface Impairment {
  readonly delayMs?: number;
  readonly lossPercent?: number;
}

/** A host's link to the world's network. */
export class Link {
  readonly #hub: Host;
  readonly #port: string;
  #impaired = false;

  constructor(hub: Host, port: string) {
    this.#hub = hub;
    this.#port = port;
  }

  /** Cuts the link. Packets in both directions are lost without an error. */
  async cut(): Promise<void> {
    await this.#ip(`link set ${this.#port} nomaster`);
  }

  /** Restores a cut link. */
  async restore(): Promise<void> {
    await this.#ip(`link set ${this.#port} master ${BRIDGE}`);
  }

  /** Delays or drops packets to the host. Fails if the kernel has no netem. */
  async impair(impairment: Impairment): Promise<void> {
    const delay = impairment.delayMs === undefined ? [] : ['delay', `${impairment.delayMs}ms`];
    const loss = impairment.lossPercent === undefined ? [] : ['loss', `${impairment.lossPercent}%`];
    const netem = ['tc', 'qdisc', 'replace', 'dev', this.#port, 'root', 'netem', ...delay, ...loss];
    await this.#hub.exec(netem).catch((error: unknown) => {
      throw new Error('the link cannot be impaired; check that the kernel has netem', {
        cause: error,
      });
    });
    this.#impaired = true;
  }

  /** Removes delay and loss, if any. */
  async clearImpairment(): Promise<void> {
    if (this.#impaired) await this.#hub.exec(['tc', 'qdisc', 'del', 'dev', this.#port, 'root']);
    this.#impaired = false;
  }

  async #ip(command: string): Promise<void> {
    await this.#hub.exec(['ip', ...command.split(' ')]);
  }
}

const BRIDGE = 'hub';

/**
 * Without a fixed address, a bridge takes the lowest address of its ports, and changes it when that port is removed.
 * Hosts then cannot reach the resolver until its ARP entry expires, which took 30 s.
 */
const BRIDGE_ADDRESS = '02:00:00:00:00:01';

/** The network that connects all hosts of a world: a bridge on its own host. */
export class Network {
  readonly #hub: Host;
  #ports = 0;

  private constructor(hub: Host) {
    this.#hub = hub;
  }

  /** Creates the bridge on a host and gives it an address. */
  static async create(hub: Host, address: string, length: number): Promise<Network> {
    await batch(hub, [
      'link set lo up',
      `link add ${BRIDGE} address ${BRIDGE_ADDRESS} type bridge`,
      `addr add ${address}/${length} dev ${BRIDGE}`,
      `link set ${BRIDGE} up`,
    ]);
    return new Network(hub);
  }

  /** Connects a host as eth0 with this address and a default route via the gateway. */
  async connect(host: Host, address: string, length: number, gateway: string): Promise<Link> {
    const port = `port${this.#ports++}`;
    // Enters only the network of the hub, because the other host has no PID in the hub's process namespace.
    await run([
      'nsenter',
      `--target=${this.#hub.pid}`,
      '--net',
      'ip',
      'link',
      'add',
      port,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      String(host.pid),
    ]);
    await batch(this.#hub, [`link set ${port} master ${BRIDGE} up`]);
    await batch(host, [
      'link set lo up',
      `addr add ${address}/${length} dev eth0`,
      'link set eth0 up',
      `route add default via ${gateway}`,
    ]);
    return new Link(this.#hub, port);
  }
}

/** Runs several `ip` commands on a host at once. */
async function batch(host: Host, commands: readonly string[]): Promise<void> {
  await host.exec(['ip', '-batch', '-'], { input: `${commands.join('\n')}\n` });
}
