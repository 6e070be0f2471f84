/**
 * Decides which Secrets hold the CA and the kubeconfig of a control plane without a provider.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import type { Question, Questions } from './questions.ts';
import {
  caIn,
  kubeconfigIn,
  likelyCas,
  likelyKubeconfigs,
  type CaSecret,
  type KubeconfigSecret,
  type Likely,
} from './tenant-secrets.ts';

/** Names of Secrets given by flags. */
export interface SecretNames {
  readonly caSecret?: string | undefined;
  readonly kubeconfigSecret?: string | undefined;
}

/** Reads Secrets, and lists those of a namespace once. Secrets that the user may not read count as missing. */
export class SecretsSource {
  readonly #client: Pick<KubeClient, 'get' | 'list'>;
  readonly #signal: AbortSignal;
  readonly #listed = new Map<string, Promise<readonly Secret[] | undefined>>();

  constructor(client: Pick<KubeClient, 'get' | 'list'>, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Returns undefined if the user may not list the Secrets. @throws KubeError */
  async list(namespace: string): Promise<readonly Secret[] | undefined> {
    const listed = this.#listed.get(namespace) ?? this.#list(namespace);
    this.#listed.set(namespace, listed);
    return listed;
  }

  /** Returns undefined if there is no such Secret, or the user may not read it. @throws KubeError */
  async get(key: ObjectKey): Promise<Secret | undefined> {
    const signal = this.#signal;
    return orNothing(this.#client.get<Secret>(RESOURCES.secret, key, { signal }));
  }

  async #list(namespace: string): Promise<readonly Secret[] | undefined> {
    // Helm's release Secrets are many, and large.
    const options = { namespace, labelSelector: 'owner!=helm', signal: this.#signal };
    const list = await orNothing(this.#client.list<Secret>(RESOURCES.secret, options));
    return list?.items;
  }
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** The control plane whose Secrets to find. */
interface SecretsOwner {
  readonly namespace: string;
  /** Name of the control plane. */
  readonly name: string;
  /** Names of other possible control planes in the namespace, which may have Secrets named after them. */
  readonly neighbors: readonly string[];
}

/** Returns the references of an Exposure to both Secrets. @throws CommandError, KubeError */
export async function decideSecrets(
  { namespace, name, neighbors }: SecretsOwner,
  { caSecret, kubeconfigSecret }: SecretNames,
  { secrets, questions }: { readonly secrets: SecretsSource; readonly questions: Questions },
): Promise<object> {
  const areNamed = caSecret !== undefined && kubeconfigSecret !== undefined;
  const listed = areNamed ? undefined : await secrets.list(namespace);
  const secretNamed = async (secret: string) => secrets.get({ name: secret, namespace });
  const kubeconfig: KubeconfigSecret =
    kubeconfigSecret === undefined
      ? await oneOf(KUBECONFIG, listed && likelyKubeconfigs(listed, name, neighbors), questions)
      : (readIn(await secretNamed(kubeconfigSecret), kubeconfigIn) ?? { name: kubeconfigSecret });
  const ca: CaSecret =
    caSecret === undefined
      ? await oneOf(CA, listed && likelyCas(listed, name, kubeconfig), questions)
      : (readIn(await secretNamed(caSecret), caIn) ?? { name: caSecret });
  return { caSecretRef: caSpec(ca), kubeconfigSecretRef: kubeconfigSpec(kubeconfig) };
}

/** Returns the reference without fields that have their default. */
function caSpec({ name, certificateKey = 'tls.crt', privateKeyKey }: CaSecret): object {
  return { name, ...(certificateKey !== 'tls.crt' && { certificateKey, privateKeyKey }) };
}

function kubeconfigSpec({ name, key = 'admin.conf' }: KubeconfigSecret): object {
  return { name, ...(key !== 'admin.conf' && { key }) };
}

function readIn<T>(
  secret: Secret | undefined,
  read: (secret: Secret) => T | undefined,
): T | undefined {
  return secret === undefined ? undefined : read(secret);
}

const KUBECONFIG: Question = {
  question: "Which Secret has a kubeconfig of the tenant's administrator?",
  flag: '--kubeconfig-secret',
  value: "the Secret with the tenant's admin kubeconfig",
};
const CA: Question = {
  question: 'Which Secret has the CA of the tenant?',
  flag: '--ca-secret',
  value: "the Secret with the tenant's CA",
};

async function oneOf<T extends { readonly name: string }>(
  question: Question,
  likely: Likely<T> | undefined,
  questions: Questions,
): Promise<T | { readonly name: string }> {
  if (likely?.sure !== undefined) return likely.sure;
  if (likely === undefined || likely.all.length === 0) {
    const name = await questions.text(question, (text) =>
      text === '' ? 'Enter the name of the Secret.' : undefined,
    );
    return { name };
  }
  return questions.choose(
    question,
    likely.all.map((secret) => ({ text: secret.name, value: secret })),
  );
}
