/**
 * For tests only: a gateway for two tenants with plain TCP backends, and clients that send bytes and read the reply.
 */
import { Backend, Peer } from '../../net/testing/peer.ts';
import { readAlert } from '../../wire/alert.ts';
import { MASTER_KEY } from './headers.ts';
import { GatewayLab, until, type LabOptions } from './lab.ts';

/** The hosts of the two tenants. */
export const HOST_A = 'a.k8s.test';
export const HOST_B = 'b.k8s.test';

/** A gateway and its two backends, closed at the end of the test. */
export class TwoTenants implements AsyncDisposable {
  readonly a: Backend;
  readonly b: Backend;
  readonly lab: GatewayLab;

  private constructor(a: Backend, b: Backend, lab: GatewayLab) {
    this.a = a;
    this.b = b;
    this.lab = lab;
  }

  /** Starts the gateway and its backends. Default keys: {@link MASTER_KEY}. */
  static async start(options: LabOptions): Promise<TwoTenants> {
    const a = new Backend();
    const b = new Backend();
    const lab = await GatewayLab.start({
      keys: `${MASTER_KEY.toString('base64')}\n`,
      routes: [
        { host: HOST_A, endpoints: [`127.0.0.1:${a.port}`] },
        { host: HOST_B, endpoints: [`127.0.0.1:${b.port}`] },
      ],
      ...options,
    });
    return new TwoTenants(a, b, lab);
  }

  /** Returns a client that has sent these bytes. */
  async send(...parts: Buffer[]): Promise<Peer> {
    const client = await Peer.dial(this.lab.port);
    await client.send(Buffer.concat(parts));
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
    this.a[Symbol.dispose]();
    this.b[Symbol.dispose]();
  }
}

/** Returns the response to a refused client: the name of an alert, or `reset`. */
export async function responseTo(client: Peer): Promise<string | undefined> {
  await until(() => client.sawFin || client.closed, 'the answer');
  return client.wasReset ? 'reset' : readAlert(client.bytes())?.name;
}
