import type { Kind, Role } from '../cases.ts';
import type { Launch } from '../lab/program.ts';
import type { Environment } from '../lab/environment.ts';

/** A program to measure, with its configuration. */
export interface Peer {
  /** Name in results and in `PEERS=`. */
  readonly name: string;
  readonly role: Role;
  /** The supported kinds. A terminating proxy supports only TLS. */
  readonly kinds: readonly Kind[];
  /** Whether it has a JIT compiler and so needs a longer warm-up. */
  readonly hasJit?: boolean;
  /** Description for reports. */
  readonly title: string;
  /** Returns the name and version as reported by the program. @throws if it is not available on this machine. */
  version(): Promise<string>;
  /** Writes its configuration and returns how to start it. @throws if it is not available on this machine. */
  launch(environment: Environment): Promise<Launch>;
}
