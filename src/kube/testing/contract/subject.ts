import type { KubeClient } from '../../client/client.ts';

/** Two clients of one server, where nobody else uses the namespace of the contract. */
export interface ContractSubject {
  readonly client: KubeClient;
  /** The same identity with the field manager `other`. */
  readonly other: KubeClient;
}
