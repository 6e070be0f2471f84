/**
 * The proxy image of the operator in a cluster, from the command line in its Deployment. Previews need it.
 */
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';

/** The operator's Deployment in the manifests. */
const DEPLOYMENT: Resource = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const NAME = 'snicket-operator';
const FLAG = '--proxy-image';

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
}

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

/** The variable with the operator's own image in the manifests. That is also the proxy image. */
const VARIABLE = 'SNICKET_IMAGE';

/**
 * Returns the image in the operator's own pod, which has no permission to read its Deployment;
 * undefined elsewhere.
 */
export function ownProxyImage(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  return env[VARIABLE] || undefined;
}

/** Returns the proxy image; undefined without an operator or without the flag. @throws KubeError */
export async function installedProxyImage(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await client.get<Deployment>(DEPLOYMENT, { namespace, name: NAME }, { signal });
  for (const container of found?.spec?.template?.spec?.containers ?? []) {
    const image = flagIn(container);
    if (image !== undefined) return image;
  }
  return undefined;
}

function flagIn({ args = [], env = [] }: Container): string | undefined {
  const index = args.findIndex((word) => word === FLAG || word.startsWith(`${FLAG}=`));
  if (index < 0) return undefined;
  const word = args[index] ?? '';
  const value = word === FLAG ? args[index + 1] : word.slice(FLAG.length + 1);
  // Expanded as kubelet does: an unknown variable stays unchanged.
  return value?.replaceAll(/\$\(([-._A-Za-z0-9]+)\)/g, (match: string, name: string) => {
    return env.find((variable) => variable.name === name)?.value ?? match;
  });
}
