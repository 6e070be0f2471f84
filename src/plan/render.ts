/**
 * A plan as text: what `render`, `diff` and a dry run show. No secret is in it unless it is asked for.
 */
import { createHash } from 'node:crypto';
import { Document } from 'yaml';
import { objectText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { Plan } from './plan.ts';

/** Options of {@link renderPlan}. */
export interface RenderOptions {
  /** With the data of Secrets, so that the text can be applied. Default false: a fingerprint stands in their place. */
  readonly showSecrets?: boolean;
}

/** Documents of YAML, each with the cluster that it is for. What cannot be told yet is a comment. */
export function renderPlan(
  { management, tenant }: Pick<Plan, 'management' | 'tenant'>,
  options: RenderOptions = {},
): string {
  return [
    ...part('management cluster', management, options),
    ...part('tenant cluster', tenant, options),
  ].join('---\n');
}

/** One object as YAML, as kubectl reads it. */
export function renderObject(object: KubeObject, { showSecrets }: RenderOptions = {}): string {
  const shown = showSecrets === true ? object : withoutSecrets(object);
  // By default, the strings `yes` and `on` would stand without quotes, and kubectl reads them as booleans.
  const document = new Document(shown, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  return document.toString({ lineWidth: 0 });
}

function part(
  cluster: string,
  objects: readonly KubeObject[] | undefined,
  options: RenderOptions,
): readonly string[] {
  if (objects === undefined) return [`# ${cluster}: not known yet\n`];
  if (objects.length === 0) return [`# ${cluster}: nothing\n`];
  return objects.map(
    (object) => `# ${cluster}: ${objectText(object)}\n${renderObject(object, options)}`,
  );
}

/** The fingerprint tells whether two are the same, and nothing else. */
function withoutSecrets(object: KubeObject): KubeObject {
  if (object.kind !== RESOURCES.secret.kind || object.apiVersion !== RESOURCES.secret.apiVersion) {
    return object;
  }
  const { data = {} } = object as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  const entries = Object.entries(data).map(([name, value]) => [name, fingerprint(value)] as const);
  return { ...object, data: Object.fromEntries(entries) } as KubeObject;
}

function fingerprint(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return `(${bytes.length} bytes, sha256 ${hash})`;
}
