import type { KubeClient } from '../../client/client.ts';

/** Two clients of one server. No other client uses the namespace of the contract tests. */
export interface ContractSubject {
  readonly client: KubeClient;
  /** The same identity with the field manager `other`. */
  readonly other: KubeClient;
}
