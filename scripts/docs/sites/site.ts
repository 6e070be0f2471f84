/** For tests only: the clusters that the commands of some pages need. */
import { spyOn } from 'bun:test';
import type { Transcript } from '../../../src/cli/testing/snicket.ts';
import type { PageTerminal, Substitution } from './page-terminal.ts';
import type { DocumentedCommand } from '../documented-commands.ts';

/** Clusters, simulated in this process. */
export interface Site extends AsyncDisposable {
  /** Opens a terminal with the files of a page. */
  open(page: string): PageTerminal;
  /** Prepares the state that the page describes, and runs a command. Default: {@link PageTerminal.run}. */
  run?(command: DocumentedCommand, terminal: PageTerminal): Promise<Transcript>;
}

/** The address and the domain of Edge `shared` in the documentation. */
export function edgeSubstitutions(port: number | undefined): readonly Substitution[] {
  return [
    [':443', `:${port}`],
    ['203.0.113.10', '127.0.0.1'],
    ['example.com', 'example.test'],
  ];
}

/** Simulates the DNS of the pages: all names resolve to the address of the Edge. */
export class DocumentedDns implements Disposable {
  /** Matches names without an address. */
  missing = /^$/;
  readonly #lookup = spyOn(Bun.dns, 'lookup').mockImplementation(async (name) => {
    if (this.missing.test(name))
      throw Object.assign(new Error('no address'), { code: 'DNS_ENOTFOUND' });
    return Promise.resolve([{ address: '127.0.0.1', family: 4, ttl: 60 }]);
  });

  [Symbol.dispose](): void {
    this.#lookup.mockRestore();
  }
}
