/**
 * A redacted view of the management cluster, for users without permission to read its Secrets. The other checks still
 * run.
 */
import type { FindingCode } from '../../api/finding-codes/catalog.ts';
import type { Finding } from '../../api/finding.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { DelegatingView } from '../../management/delegating-view.ts';
import type { ManagementView } from '../../management/management-view.ts';
import type { Secret } from '../../providers/plain.ts';

/** Findings that missing permissions cause. */
const MISSING: ReadonlySet<FindingCode> = new Set(['SecretMissing']);

/** The same cluster, in which objects that the user may not read count as missing. Records which reads were refused. */
export class RedactedView extends DelegatingView {
  readonly #refused = new Set<string>();
  readonly #client: Pick<KubeClient, 'get'>;

  constructor(view: ManagementView) {
    super(view);
    this.#client = {
      get: async (resource, key, options) =>
        this.#unlessRefused(resource, key, view.client.get(resource, key, options)),
    };
  }

  override get client(): Pick<KubeClient, 'get'> {
    return this.#client;
  }

  async #unlessRefused<T>(
    { kind }: Resource,
    key: ObjectKey,
    reading: Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      return await reading;
    } catch (error) {
      if (!isKubeError(error, 'Forbidden')) throw error;
      this.#refused.add(`${kind} ${keyText(key)}`);
      return undefined;
    }
  }

  /**
   * Returns the findings. If reads were refused, one finding about permissions replaces those that missing permissions
   * cause.
   */
  explained(findings: readonly Finding[]): readonly Finding[] {
    if (this.#refused.size === 0) return findings;
    const names = [...this.#refused].toSorted().join(', ');
    return [
      ...findings.filter(({ code }) => !MISSING.has(code)),
      {
        code: 'PermissionMissing',
        severity: 'warning',
        message: `You are not allowed to read ${names}, so what depends on them is not checked.`,
        action: 'Ask a person who can read these Secrets, or request permission to get them.',
      },
    ];
  }

  override async secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    return this.#unlessRefused(RESOURCES.secret, key, this.view.secret(key, signal));
  }

  override async currentSecret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    return this.#unlessRefused(RESOURCES.secret, key, this.view.currentSecret(key, signal));
  }

  override async object(
    resource: Resource,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    return this.#unlessRefused(resource, key, this.view.object(resource, key, signal));
  }
}
