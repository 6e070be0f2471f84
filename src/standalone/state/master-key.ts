/**
 * The gateway's master keys: a file of the state, from which the gateway reads them itself and the operator gets them as
 * the Secret that it expects. Whoever replaces a key adds a line to the file.
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

/** What it takes. */
export interface MasterKeyOptions {
  readonly client: KubeClient;
  /** Of the operator. */
  readonly namespace: string;
  readonly log: Logger;
}

/** The file with the keys. @throws StateRefused if it is there and holds no key, or cannot be made */
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
    const said = error instanceof Error ? error.message : String(error);
    throw new StateRefused(`the keys of the gateway cannot be used: ${said}`, { cause: error });
  }
}

/** Gives the operator the keys, now and whenever they change; until the returned function is called. @throws KubeError */
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
  const known = readWatched(path);
  await share(known);
  // A file that is no good is the gateway's to tell: both go on with the keys that they have.
  const watched = watchFile(path, {
    known,
    onContent: (bytes) => {
      parseKeys(bytes.toString('latin1'), path);
      share(bytes).catch((error: unknown) => log.error('the new keys are not shared', { error }));
    },
    onError: (error) => log.debug('the keys are not read', { error }),
  });
  return () => watched.stop();
}
