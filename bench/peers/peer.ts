import type { Kind, Role } from '../cases.ts';
import type { Launch } from '../lab/program.ts';
import type { Site } from '../lab/site.ts';

/** A program that is measured, with its settings. */
export interface Peer {
  /** As in results and in `PEERS=`. */
  readonly name: string;
  readonly role: Role;
  /** What it can carry. A terminating proxy speaks TLS only. */
  readonly kinds: readonly Kind[];
  /** Does it compile itself while it runs, and so need a longer warm-up? */
  readonly compilesItself?: boolean;
  /** One line for people. */
  readonly title: string;
  /** Name and version as the program itself says. @throws if it cannot be had on this machine. */
  version(): Promise<string>;
  /** Writes its settings and says how to start it. @throws if it cannot be had on this machine. */
  launch(site: Site): Promise<Launch>;
}
