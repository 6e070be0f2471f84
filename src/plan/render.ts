/**
 * A plan as text, for `render`, `diff` and a dry run. It contains the data of Secrets only on request.
 */
import { createHash } from 'node:crypto';
import { objectText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { yamlComment, yamlText } from '../manifests/yaml-text.ts';
import { isPlaceholder } from './placeholder.ts';
import type { Plan } from './plan.ts';

/** The clusters that a plan has objects for. */
export const CLUSTERS = ['management', 'tenant'] as const;
/** One of {@link CLUSTERS}. */
export type Cluster = (typeof CLUSTERS)[number];

/** Options of {@link renderPlan}. */
export interface RenderOptions {
  /**
   * Whether to include the data of Secrets, so that the text can be applied. Default false: a fingerprint replaces each
   * value.
   */
  readonly showSecrets?: boolean;
  /** The only cluster whose objects to include. Default: both. */
  readonly only?: Cluster | undefined;
}

/** Returns YAML documents, each with a comment that names its cluster. Objects that are not known yet are a comment. */
export function renderPlan(plan: Pick<Plan, Cluster>, options: RenderOptions = {}): string {
  const clusters = options.only === undefined ? CLUSTERS : [options.only];
  return clusters
    .flatMap((cluster) => part(`${cluster} cluster`, plan[cluster], options))
    .join('---\n');
}

/** Returns an object as YAML that kubectl reads. */
export function renderObject(object: KubeObject, { showSecrets }: RenderOptions = {}): string {
  const shown = withoutSecrets(object, showSecrets === true ? (base64) => base64 : fingerprint);
  return yamlText(shown);
}

function part(
  cluster: string,
  objects: readonly KubeObject[] | undefined,
  options: RenderOptions,
): readonly string[] {
  if (objects === undefined) return [yamlComment(`${cluster}: not known yet`)];
  if (objects.length === 0) return [yamlComment(`${cluster}: nothing`)];
  return objects.map(
    (object) =>
      `${yamlComment(`${cluster}: ${objectText(object)}`)}${renderObject(object, options)}`,
  );
}

/**
 * Returns the object. In a Secret, a fingerprint replaces each value: it only shows whether two values are the same. A
 * placeholder stays as it is.
 */
export function withoutSecrets(
  object: KubeObject,
  shown: (base64: string) => string = fingerprint,
): KubeObject {
  if (object.kind !== RESOURCES.secret.kind || object.apiVersion !== RESOURCES.secret.apiVersion) {
    return object;
  }
  const { data = {} } = object as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  const entries = Object.entries(data).map(([name, value]) => {
    const text = Buffer.from(value, 'base64').toString();
    return [name, isPlaceholder(text) ? text : shown(value)] as const;
  });
  return { ...object, data: Object.fromEntries(entries) } as KubeObject;
}

function fingerprint(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return `(${bytes.length} bytes, sha256 ${hash})`;
}
