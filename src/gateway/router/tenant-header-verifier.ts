/** Verifies the signed headers of the workers' proxies, which prove that a connection belongs to a tenant. */
import type { TenantOutcome } from '../../wire/outcome.ts';
import type { ProxyHeader } from '../../wire/proxy-header.ts';
import { ReplayGuard } from '../../wire/replay-guard.ts';
import { verifyTenantHeader } from '../../wire/tenant-header.ts';
import { deriveTenantSecret, tenantKey, type TenantKey } from '../../wire/tenant-key.ts';

/** Maximum clock difference between a worker and the gateway. */
const HEADER_WINDOW_SECONDS = 60;

/** Caches the keys of a route in one thread. The verifier derives them on first use. */
export interface TenantKeyCache {
  readonly host: string;
  keys: readonly TenantKey[] | undefined;
  /** The {@link TenantHeaderVerifier.generation} of master keys that the keys were derived from. */
  keysGeneration: number;
}

/** Verifies headers with keys derived from the master keys. */
export class TenantHeaderVerifier {
  #masterKeys: readonly Uint8Array[] = [];
  #generation = 0;
  /** Takes 2 MiB, so it is created only if there are keys. */
  #guard: ReplayGuard | undefined;

  /** Number of times that the replay guard was full and forgot headers that could still be replayed. */
  get guardOverflows(): number {
    return this.#guard?.forgottenEarly ?? 0;
  }

  /** Replaces the master keys. All of them are valid at the same time, so that keys can be rotated. */
  replaceKeys(masterKeys: readonly Uint8Array[]): void {
    this.#masterKeys = masterKeys;
    this.#generation++;
    if (masterKeys.length > 0) {
      this.#guard ??= new ReplayGuard({ windowSeconds: HEADER_WINDOW_SECONDS });
    }
  }

  /**
   * Verifies that the header was signed for the host in its authority. Call it once per connection: it marks the header
   * as used.
   */
  verify(header: ProxyHeader, cache: TenantKeyCache, nowSeconds: number): TenantOutcome {
    return verifyTenantHeader(
      header,
      this.#keysOf(cache),
      nowSeconds,
      HEADER_WINDOW_SECONDS,
      this.#guard,
    );
  }

  /** Derives the keys on first use and caches them, since HKDF costs about as much as a dial. */
  #keysOf(cache: TenantKeyCache): readonly TenantKey[] {
    if (cache.keys !== undefined && cache.keysGeneration === this.#generation) return cache.keys;
    const keys = this.#masterKeys.map((masterKey) =>
      tenantKey(cache.host, deriveTenantSecret(masterKey, cache.host)),
    );
    cache.keys = keys;
    cache.keysGeneration = this.#generation;
    return keys;
  }
}
