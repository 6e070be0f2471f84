/**
 * The gateway's master keys. The gateway reads the key file in the state folder, and the operator gets the same keys as
 * a Secret. To rotate a key, the user adds a line to the file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readWatched } from '../../files/read-watched.ts';
import { watchFile } from '../../files/watched-file.ts';
import { writeAtomically } from '../../files/atomic-write.ts';
import { parseKeys } from '../../wire/master-keys.ts';
import { GATEWAY_KEYS } from '../../management/master-keys.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Logger } from '../../telemetry/log.ts';
import { StateRefused } from './state-folder.ts';

interface MasterKeyOptions {
  readonly client: KubeClient;
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly log: Logger;
}

/**
 * Returns the path of the key file and creates it if needed. @throws StateRefused if it has no valid key or cannot be
 * created
 */
export function ensureMasterKeyFile(state: string): string {
  const path = join(state, GATEWAY_KEYS.entry);
  try {
    if (!existsSync(path)) {
      const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
      writeAtomically(path, `${key}\n`, { isDurable: true });
    }
    parseKeys(readWatched(path).toString('latin1'), path);
    return path;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StateRefused(`invalid gateway keys: ${reason}`, { cause: error });
  }
}

/**
 * Writes the keys into the operator's Secret, now and after each change, until the returned function is called. @throws
 * KubeError
 */
export async function shareMasterKeys(
  path: string,
  { client, namespace, log }: MasterKeyOptions,
): Promise<() => void> {
  const share = async (bytes: Uint8Array) => {
    const data = { [GATEWAY_KEYS.entry]: Buffer.from(bytes).toString('base64') };
    const metadata = { name: GATEWAY_KEYS.name, namespace };
    const secret: KubeObject & { readonly data: typeof data } = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data,
    };
    await client.apply(secret, { force: true });
  };
  const initialContent = readWatched(path);
  await share(initialContent);
  // An error is logged at debug level only, because the gateway reports it. Gateway and operator keep the previous keys.
  const watched = watchFile(path, {
    initialContent,
    onContent: (bytes) => {
      parseKeys(bytes.toString('latin1'), path);
      share(bytes).catch((error: unknown) =>
        log.error('new gateway keys not shared with the operator', { error }),
      );
    },
    onError: (error) => log.debug('gateway keys not read', { error }),
  });
  return () => watched.stop();
}
