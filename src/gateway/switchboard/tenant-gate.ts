/**
 * Who may speak for a tenant: verifies the signed headers of the workers' proxies.
 */
import type { TenantOutcome } from '../../wire/outcome.ts';
import type { ProxyHeader } from '../../wire/proxy-header.ts';
import { ReplayGuard } from '../../wire/replay-guard.ts';
import { verifyTenantHeader } from '../../wire/tenant-header.ts';
import { deriveTenantSecret, tenantKey, type TenantKey } from '../../wire/tenant-key.ts';

/** How far the clocks of a worker and of the gateway may differ. */
export const HEADER_WINDOW_SECONDS = 60;

/** The keys that a route has in this thread; the gate fills it when it is first asked. */
export interface KeyHolder {
  readonly host: string;
  keys: readonly TenantKey[] | undefined;
  /** Of which {@link TenantGate.generation} the keys are. */
  keysGeneration: number;
}

/** Verifies headers with keys derived from the master keys. */
export class TenantGate {
  #masterKeys: readonly Uint8Array[] = [];
  #generation = 0;
  /** 2 MiB, so only where there are keys. */
  #guard: ReplayGuard | undefined;

  /** How often the replay guard was full, and forgot headers that could still be replayed. */
  get timesFull(): number {
    return this.#guard?.forgottenEarly ?? 0;
  }

  /** Goes by these master keys from now on; each one counts, so that one can be replaced by another. */
  replaceKeys(masterKeys: readonly Uint8Array[]): void {
    this.#masterKeys = masterKeys;
    this.#generation++;
    if (masterKeys.length > 0) {
      this.#guard ??= new ReplayGuard({ windowSeconds: HEADER_WINDOW_SECONDS });
    }
  }

  /** Whether this header speaks for the host of its authority. Ask once for each connection: it uses the header up. */
  judge(header: ProxyHeader, holder: KeyHolder, nowSeconds: number): TenantOutcome {
    return verifyTenantHeader(
      header,
      this.#keysOf(holder),
      nowSeconds,
      HEADER_WINDOW_SECONDS,
      this.#guard,
    );
  }

  /** Derived on first use and kept: HKDF costs about as much as a dial. */
  #keysOf(holder: KeyHolder): readonly TenantKey[] {
    if (holder.keys !== undefined && holder.keysGeneration === this.#generation) return holder.keys;
    const keys = this.#masterKeys.map((masterKey) =>
      tenantKey(holder.host, deriveTenantSecret(masterKey, holder.host)),
    );
    holder.keys = keys;
    holder.keysGeneration = this.#generation;
    return keys;
  }
}
