import { isIP } from 'node:net';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Answer for a name: addresses, or a way to fail. */
export type DnsRecord = readonly string[] | 'servfail' | 'silent';

/** Records of the resolver. */
export interface DnsRecords {
  /** Names that every client sees. */
  readonly names: Readonly<Record<string, DnsRecord>>;
  readonly views: readonly DnsView[];
}

/** Names for clients whose address begins with the prefix. A tenant's workers see the names of their own cluster. */
export interface DnsView {
  readonly prefix: string;
  readonly names: Readonly<Record<string, DnsRecord>>;
}

/** Returns the record of a name for a client; undefined if the name does not exist. */
export function lookUp(records: DnsRecords, name: string, client: string): DnsRecord | undefined {
  const view = records.views.find(({ prefix }) => client.startsWith(prefix));
  return ownRecord(view?.names, name) ?? ownRecord(records.names, name);
}

/** Reads own properties only, because a client may query `constructor`, which every object inherits. */
function ownRecord(names: DnsRecords['names'] | undefined, name: string): DnsRecord | undefined {
  return names && Object.hasOwn(names, name) ? names[name] : undefined;
}

/** Replaces the file atomically, so that the resolver never reads half of it. */
export function writeRecords(path: string, records: DnsRecords): void {
  writeFileSync(`${path}.new`, JSON.stringify(records, undefined, 2));
  renameSync(`${path}.new`, path);
}

/** Returns the path of a world's records. */
export function recordsFile(world: string): string {
  return join(world, 'network', 'files', 'dns.json');
}

/** The world's DNS names, for tests to change. A change takes effect with the next query. */
export class Dns {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes a name point to these addresses. */
  set(name: string, ...addresses: string[]): void {
    const invalid = addresses.find((address) => isIP(address) === 0 || /:.*\./.test(address));
    if (invalid !== undefined)
      throw new Error(`'${invalid}' is not an address that ${name} could point to`);
    this.#change({ [name]: addresses });
  }

  /** Makes many names point to the same address with one write. */
  setAll(names: readonly string[], address: string): void {
    this.#change(Object.fromEntries(names.map((name) => [name, [address]])));
  }

  /** Removes a name. */
  remove(name: string): void {
    this.#change({ [name]: undefined });
  }

  /** Breaks a name: `servfail` answers with an error, `silent` does not answer. */
  break(name: string, failure: 'servfail' | 'silent'): void {
    this.#change({ [name]: failure });
  }

  /** Adds names that only some clients see. */
  addViews(...views: readonly DnsView[]): void {
    const records = this.#read();
    writeRecords(this.#path, { ...records, views: [...records.views, ...views] });
  }

  #change(changes: Readonly<Record<string, DnsRecord | undefined>>): void {
    // The resolver looks names up in lower case.
    const change = Object.fromEntries(
      Object.entries(changes).map(([name, record]) => [name.toLowerCase(), record]),
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

/** Returns a function that reads the file again whenever it has been replaced. */
export function recordsReader(path: string): () => DnsRecords {
  let lastVersion = '';
  let records: DnsRecords = { names: {}, views: [] };
  return () => {
    // Compares both, because a file system reuses the inode number of a removed file.
    const { ino, mtimeMs } = statSync(path);
    if (lastVersion !== `${ino} ${mtimeMs}`) {
      records = JSON.parse(readFileSync(path, 'utf8')) as DnsRecords;
      lastVersion = `${ino} ${mtimeMs}`;
    }
    return records;
  };
}
