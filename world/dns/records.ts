import { isIP } from 'node:net';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the resolver says of a name: addresses, or a way to fail. */
export type DnsRecord = readonly string[] | 'servfail' | 'silent';

/** The resolver's names. */
export interface DnsRecords {
  /** For everybody. */
  readonly names: Readonly<Record<string, DnsRecord>>;
  readonly views: readonly DnsView[];
}

/** Names for askers whose address begins with the prefix: a tenant's workers see their own cluster's names. */
export interface DnsView {
  readonly prefix: string;
  readonly names: Readonly<Record<string, DnsRecord>>;
}

/** What to answer to an asker; undefined is a name that does not exist. */
export function lookUp(records: DnsRecords, name: string, asker: string): DnsRecord | undefined {
  const view = records.views.find(({ prefix }) => asker.startsWith(prefix));
  return own(view?.names, name) ?? own(records.names, name);
}

/** Anybody may ask for `constructor`, which every object has without being given it. */
function own(names: DnsRecords['names'] | undefined, name: string): DnsRecord | undefined {
  return names && Object.hasOwn(names, name) ? names[name] : undefined;
}

/** Replaces the file in one step: the resolver sees the old names or the new, never half. */
export function writeRecords(path: string, records: DnsRecords): void {
  writeFileSync(`${path}.new`, JSON.stringify(records, undefined, 2));
  renameSync(`${path}.new`, path);
}

/** Where the names of a world are. */
export function recordsFile(world: string): string {
  return join(world, 'network', 'files', 'dns.json');
}

/** The world's names as a test changes them; a change holds for the very next query. */
export class Dns {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes a name point to these addresses. */
  set(name: string, ...addresses: string[]): void {
    const wrong = addresses.find((address) => isIP(address) === 0 || /:.*\./.test(address));
    if (wrong !== undefined)
      throw new Error(`'${wrong}' is not an address that ${name} could point to`);
    this.#change({ [name]: addresses });
  }

  /** Makes many names point to the same address, in one step. */
  setAll(names: readonly string[], address: string): void {
    this.#change(Object.fromEntries(names.map((name) => [name, [address]])));
  }

  /** Makes a name unknown. */
  remove(name: string): void {
    this.#change({ [name]: undefined });
  }

  /** Breaks a name: `servfail` answers with an error, `silent` not at all. */
  break(name: string, how: 'servfail' | 'silent'): void {
    this.#change({ [name]: how });
  }

  /** Gives some askers names of their own. */
  addViews(...views: readonly DnsView[]): void {
    const records = this.#read();
    writeRecords(this.#path, { ...records, views: [...records.views, ...views] });
  }

  #change(asked: Readonly<Record<string, DnsRecord | undefined>>): void {
    // Questions come in lower case.
    const change = Object.fromEntries(
      Object.entries(asked).map(([name, record]) => [name.toLowerCase(), record]),
    );
    const records = this.#read();
    writeRecords(this.#path, {
      ...records,
      names: { ...records.names, ...change } as DnsRecords['names'],
    });
  }

  #read(): DnsRecords {
    return JSON.parse(readFileSync(this.#path, 'utf8')) as DnsRecords;
  }
}

/** Reads the file again whenever it was replaced. */
export function recordsReader(path: string): () => DnsRecords {
  let seen = '';
  let records: DnsRecords = { names: {}, views: [] };
  return () => {
    // Both, since a file system gives the number of a removed file to the next new one.
    const { ino, mtimeMs } = statSync(path);
    if (seen !== `${ino} ${mtimeMs}`) {
      records = JSON.parse(readFileSync(path, 'utf8')) as DnsRecords;
      seen = `${ino} ${mtimeMs}`;
    }
    return records;
  };
}
