/**
 * The files of each mode: their current content, reloaded when they change.
 */
import type { Clock } from '../../clock/clock.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import { parseEdgeFile } from '../edge/edge-file.ts';
import type { FileReloads } from '../metrics.ts';
import { LiveFiles, UnreadableFile, type LiveFilesOptions } from './live-files.ts';
import {
  datesFault,
  parseServingCertificate,
  withIssuer,
  type ServingCertificate,
} from './serving-certificate.ts';
import { parseTenantSecret } from './tenant-secret.ts';
import { parseTrustedAuthorities, type TrustedAuthorities } from './trusted-authorities.ts';

/** The paths of the files. {@link ProxyMode} has those that each mode needs. */
export interface CredentialPaths {
  readonly authorities: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly tenantKey?: string | undefined;
  /** The file with the addresses of the edge. */
  readonly edge?: string | undefined;
}

/** Options of {@link Credentials}. */
export interface CredentialsOptions {
  readonly paths: CredentialPaths;
  readonly serverName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when new content is in use. */
  readonly onReload: () => void;
}

/** Any of the files, whatever its type of content. */
type Watched = Pick<LiveFiles<unknown>, 'reloads' | 'failures' | 'isCurrent' | 'watch' | 'stop'>;

/** A certificate with its issuer, and the inputs of both. Either input may change independently. */
interface Chain {
  readonly of: ServingCertificate;
  readonly authorities: string;
  readonly chain: ServingCertificate;
}

/** All files that the proxy reads. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #files = new Map<string, Watched>();
  readonly #authorities: LiveFiles<TrustedAuthorities>;
  readonly #certificate: LiveFiles<ServingCertificate> | undefined;
  readonly #tenantKey: LiveFiles<TenantKey> | undefined;
  readonly #edge: LiveFiles<readonly EdgeAddress[]> | undefined;
  #chain: Chain | undefined;

  /** Reads the files. @throws Error with a message about the first invalid one. */
  constructor(options: CredentialsOptions) {
    this.#options = options;
    const { authorities, certificate, key, tenantKey, edge } = options.paths;
    this.#authorities = this.#follow({ ca: authorities }, ([bytes = EMPTY]) =>
      parseTrustedAuthorities(bytes, authorities),
    );
    if (certificate !== undefined && key !== undefined) {
      const paths = { certificate, key };
      this.#certificate = this.#follow(
        { cert: certificate, key },
        ([leaf = EMPTY, secret = EMPTY]) => parseServingCertificate(leaf, secret, paths),
        (serving) => this.#warnOfDates(serving),
      );
      this.#warnOfDates(this.#certificate.value);
    }
    if (tenantKey !== undefined) {
      this.#tenantKey = this.#follow({ 'tenant-key-file': tenantKey }, ([bytes = EMPTY]) =>
        parseTenantSecret(bytes, tenantKey, options.serverName),
      );
    }
    if (edge !== undefined) {
      this.#edge = this.#follow({ 'edge-file': edge }, ([bytes = EMPTY]) =>
        parseEdgeFile(bytes, edge),
      );
    }
  }

  /** Returns the authorities as PEM. */
  readonly authorities = (): string => this.#authorities.value.certificates;

  /** Returns the serving certificate with its issuer. @throws TypeError in a mode without one. */
  readonly certificate = (): ServingCertificate => {
    const { value } = present(this.#certificate, 'certificate');
    const authorities = this.authorities();
    const known = this.#chain;
    if (known?.of === value && known.authorities === authorities) return known.chain;
    const chain = withIssuer(value, authorities);
    this.#chain = { of: value, authorities, chain };
    return chain;
  };

  /** Returns the key of the tenant. @throws TypeError in a mode without one. */
  readonly tenantKey = (): TenantKey => present(this.#tenantKey, 'tenant key').value;

  /** Returns the addresses in the file. @throws TypeError if there is no such file */
  readonly edge = (): readonly EdgeAddress[] => present(this.#edge, 'file of the edge').value;

  reloads(): readonly FileReloads[] {
    return [...this.#files].map(([file, { reloads: successes, failures, isCurrent }]) => {
      return { file, successes, failures, isCurrent };
    });
  }

  watch(): void {
    for (const files of this.#files.values()) files.watch();
  }

  stop(): void {
    for (const files of this.#files.values()) files.stop();
  }

  /**
   * Warns about a certificate that is not valid now. Pods refuse it, but the proxy keeps running, so that it can reload
   * the next one.
   */
  #warnOfDates(serving: ServingCertificate): void {
    const fault = datesFault(serving, Date.now() / 1000);
    if (fault !== undefined)
      this.#options.log.warn('serving certificate not valid', { error: fault });
  }

  /** Watches files, given by flag. The first flag identifies all of them in logs and metrics. */
  #follow<Value>(
    pathsByFlag: Readonly<Record<string, string>>,
    parse: (contents: readonly Buffer[]) => Value,
    onValue: (value: Value) => void = () => {},
  ): LiveFiles<Value> {
    const { clock, log, onReload } = this.#options;
    const paths = Object.values(pathsByFlag);
    const [file = ''] = Object.keys(pathsByFlag);
    const files = naming(pathsByFlag, {
      paths,
      parse,
      clock,
      onReload: (value) => {
        log.info('file reloaded', { file, paths });
        onValue(value);
        onReload();
      },
      onRecovered: () => log.info('file restored to its last valid content', { file, paths }),
      onError: (error) =>
        log.error('cannot reload file, keeping the last valid content', { file, error }),
    });
    this.#files.set(file, files);
    return files;
  }
}

const EMPTY = Buffer.alloc(0);

/**
 * Reads the files. @throws Error that begins with the flag of the invalid file, or with the flags of an invalid pair.
 */
function naming<Value>(
  pathsByFlag: Readonly<Record<string, string>>,
  options: LiveFilesOptions<Value>,
): LiveFiles<Value> {
  try {
    return new LiveFiles<Value>(options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const flags = Object.entries(pathsByFlag)
      .filter(([, path]) => !(error instanceof UnreadableFile) || error.path === path)
      .map(([flag]) => `--${flag}`);
    throw new Error(`${flags.join(', ')}: ${error.message}`, { cause: error });
  }
}

function present<Value>(files: LiveFiles<Value> | undefined, what: string): LiveFiles<Value> {
  if (files === undefined) throw new TypeError(`this mode has no ${what}`);
  return files;
}
