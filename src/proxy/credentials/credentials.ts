/**
 * The files of each mode: what they hold now, and that they are followed.
 */
import type { Clock } from '../../engine/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { Reloads } from '../metrics.ts';
import { LiveFiles } from './live-files.ts';
import {
  parseServingCertificate,
  withIssuer,
  type ServingCertificate,
} from './serving-certificate.ts';
import { parseTenantSecret } from './tenant-secret.ts';
import { parseTrustedAuthorities, type TrustedAuthorities } from './trusted-authorities.ts';

/** Where the files are. What each mode needs is in {@link ProxyMode}. */
export interface CredentialPaths {
  readonly authorities: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly tenantKey?: string | undefined;
}

/** Options of {@link Credentials}. */
export interface CredentialsOptions {
  readonly paths: CredentialPaths;
  readonly serverName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Something new is in force. */
  readonly onSwap: () => void;
}

/** Any of them, whatever it holds. */
type Watched = Pick<LiveFiles<unknown>, 'swaps' | 'failures' | 'watch' | 'stop'>;

/** A certificate with its issuer, and what it was made of: either may change by itself. */
interface Chain {
  readonly of: ServingCertificate;
  readonly authorities: string;
  readonly chain: ServingCertificate;
}

/** All that the proxy reads from files. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #files = new Map<string, Watched>();
  readonly #authorities: LiveFiles<TrustedAuthorities>;
  readonly #certificate: LiveFiles<ServingCertificate> | undefined;
  readonly #tenantKey: LiveFiles<TenantKey> | undefined;
  #chain: Chain | undefined;

  /** Reads them. @throws Error with a sentence about the first that is of no use. */
  constructor(options: CredentialsOptions) {
    this.#options = options;
    const { authorities, certificate, key, tenantKey } = options.paths;
    this.#authorities = this.#follow('ca', [authorities], ([bytes = EMPTY]) =>
      parseTrustedAuthorities(bytes, authorities),
    );
    if (certificate !== undefined && key !== undefined) {
      const paths = { certificate, key };
      this.#certificate = this.#follow(
        'cert',
        [certificate, key],
        ([leaf = EMPTY, secret = EMPTY]) => parseServingCertificate(leaf, secret, paths),
      );
    }
    if (tenantKey !== undefined) {
      this.#tenantKey = this.#follow('tenant-key-file', [tenantKey], ([bytes = EMPTY]) =>
        parseTenantSecret(bytes, tenantKey, options.serverName),
      );
    }
  }

  /** The authorities as PEM. */
  readonly authorities = (): string => this.#authorities.value.certificates;

  /** With its issuer. @throws TypeError in a mode that has none. */
  readonly certificate = (): ServingCertificate => {
    const { value } = present(this.#certificate, 'certificate');
    const authorities = this.authorities();
    const known = this.#chain;
    if (known?.of === value && known.authorities === authorities) return known.chain;
    const chain = withIssuer(value, authorities);
    this.#chain = { of: value, authorities, chain };
    return chain;
  };

  /** @throws TypeError in a mode that has none. */
  readonly tenantKey = (): TenantKey => present(this.#tenantKey, 'tenant key').value;

  reloads(): readonly Reloads[] {
    return [...this.#files].map(([file, { swaps, failures }]) => ({ file, swaps, failures }));
  }

  watch(): void {
    for (const files of this.#files.values()) files.watch();
  }

  stop(): void {
    for (const files of this.#files.values()) files.stop();
  }

  #follow<Value>(
    file: string,
    paths: readonly string[],
    parse: (contents: readonly Buffer[]) => Value,
  ): LiveFiles<Value> {
    const { clock, log, onSwap } = this.#options;
    const files = new LiveFiles<Value>({
      paths,
      parse,
      clock,
      onSwap: () => {
        log.info('a file has changed, and its new content is in force', { file, paths });
        onSwap();
      },
      onError: (error) =>
        log.error('a file has changed; the last good content stays in force', { file, error }),
    });
    this.#files.set(file, files);
    return files;
  }
}

const EMPTY = Buffer.alloc(0);

function present<Value>(files: LiveFiles<Value> | undefined, what: string): LiveFiles<Value> {
  if (files === undefined) throw new TypeError(`this mode has no ${what}`);
  return files;
}
