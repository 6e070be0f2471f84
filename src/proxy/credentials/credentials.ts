/** Loads the files of the proxy and reloads them when they change. */
import type { Clock } from '../../clock/clock.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import { parseEdgeFile } from '../edge/edge-file.ts';
import type { FileReloads } from '../metrics.ts';
import { LiveFiles, UnreadableFile, type LiveFilesOptions } from './live-files.ts';
import {
  validityProblem,
  parseServingCertificate,
  withIssuer,
  type ServingCertificate,
} from './serving-certificate.ts';
import { parseTenantSecret } from './tenant-secret.ts';
import { parseTrustedAuthorities, type TrustedAuthorities } from './trusted-authorities.ts';

/** The paths of the files. {@link ProxyMode} defines which of them each mode requires. */
export interface CredentialPaths {
  readonly authorities: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly tenantKey?: string | undefined;
  /** The file with the addresses of the edge. */
  readonly edge?: string | undefined;
}

interface CredentialsOptions {
  readonly paths: CredentialPaths;
  readonly serverName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when new content is in use. */
  readonly onReload: () => void;
}

/** {@link LiveFiles} with any type of content. */
type AnyLiveFiles = Pick<
  LiveFiles<unknown>,
  'reloads' | 'failures' | 'isCurrent' | 'watch' | 'stop'
>;

/** A certificate chain, with the leaf and the authorities that it was built from. Either may change. */
interface Chain {
  readonly leaf: ServingCertificate;
  readonly authorities: string;
  readonly chain: ServingCertificate;
}

/** All files that the proxy reads. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #files = new Map<string, AnyLiveFiles>();
  readonly #authorities: LiveFiles<TrustedAuthorities>;
  readonly #certificate: LiveFiles<ServingCertificate> | undefined;
  readonly #tenantKey: LiveFiles<TenantKey> | undefined;
  readonly #edge: LiveFiles<readonly EdgeAddress[]> | undefined;
  #chain: Chain | undefined;

  /** Reads the files. @throws Error with a message about the first invalid one. */
  constructor(options: CredentialsOptions) {
    this.#options = options;
    const { authorities, certificate, key, tenantKey, edge } = options.paths;
    this.#authorities = this.#loadFiles({ ca: authorities }, ([bytes = EMPTY]) =>
      parseTrustedAuthorities(bytes, authorities),
    );
    if (certificate !== undefined && key !== undefined) {
      const paths = { certificate, key };
      this.#certificate = this.#loadFiles(
        { cert: certificate, key },
        ([leaf = EMPTY, secret = EMPTY]) => parseServingCertificate(leaf, secret, paths),
        (serving) => this.#warnIfNotValid(serving),
      );
      this.#warnIfNotValid(this.#certificate.value);
    }
    if (tenantKey !== undefined) {
      this.#tenantKey = this.#loadFiles({ 'tenant-key-file': tenantKey }, ([bytes = EMPTY]) =>
        parseTenantSecret(bytes, tenantKey, options.serverName),
      );
    }
    if (edge !== undefined) {
      this.#edge = this.#loadFiles({ 'edge-file': edge }, ([bytes = EMPTY]) =>
        parseEdgeFile(bytes, edge),
      );
    }
  }

  /** Returns the authorities as PEM. */
  readonly authorities = (): string => this.#authorities.value.certificates;

  /** Returns the serving certificate with its issuer. @throws TypeError in a mode without one. */
  readonly certificate = (): ServingCertificate => {
    const { value } = required(this.#certificate, 'certificate');
    const authorities = this.authorities();
    const cached = this.#chain;
    if (cached?.leaf === value && cached.authorities === authorities) return cached.chain;
    const chain = withIssuer(value, authorities);
    this.#chain = { leaf: value, authorities, chain };
    return chain;
  };

  /** Returns the key of the tenant. @throws TypeError in a mode without one. */
  readonly tenantKey = (): TenantKey => required(this.#tenantKey, 'tenant key').value;

  /** Returns the addresses in the file. @throws TypeError if there is no such file */
  readonly edge = (): readonly EdgeAddress[] => required(this.#edge, 'file of the edge').value;

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
  #warnIfNotValid(serving: ServingCertificate): void {
    const fault = validityProblem(serving, Date.now() / 1000);
    if (fault !== undefined)
      this.#options.log.warn('serving certificate not valid', { error: fault });
  }

  /** Watches files, given by flag. The first flag identifies all of them in logs and metrics. */
  #loadFiles<Value>(
    pathsByFlag: Readonly<Record<string, string>>,
    parse: (contents: readonly Buffer[]) => Value,
    onValue: (value: Value) => void = () => {},
  ): LiveFiles<Value> {
    const { clock, log, onReload } = this.#options;
    const paths = Object.values(pathsByFlag);
    const [file = ''] = Object.keys(pathsByFlag);
    const files = createLiveFiles(pathsByFlag, {
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

/** Reads the files. @throws Error whose message begins with the flags of the invalid files. */
function createLiveFiles<Value>(
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

function required<Value>(
  files: LiveFiles<Value> | undefined,
  description: string,
): LiveFiles<Value> {
  if (files === undefined) throw new TypeError(`this mode has no ${description}`);
  return files;
}
