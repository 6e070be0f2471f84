/**
 * The fields that Snicket sets in objects of providers, as YAML that users can keep in git.
 */
import { keyText, objectText } from '../../kube/object.ts';
import { yamlComment, yamlText } from '../../manifests/yaml-text.ts';
import type { ExposurePlan } from '../plans/exposure-view.ts';
import { pasteText, type PreparationPlan } from '../../providers/preparation/plan-preparation.ts';

/** Returns a YAML document for each object, with these fields only. */
export function preparationTexts({
  resolved,
  preparation,
}: Pick<ExposurePlan, 'resolved' | 'preparation'>): readonly string[] {
  const isReport = resolved?.exposure.spec.prepare === 'Report';
  const { plans = [], isPrepared = false } = preparation ?? {};
  const whatOf = ({ differing }: PreparationPlan) => {
    if (isReport) return 'fields to set by hand';
    // A chart can only render values once they are written.
    const isAwaited = plans.some(({ awaited }) => awaited.length > 0);
    const isStopped = differing.length > 0 && !isPrepared && !isAwaited;
    return isStopped ? 'required fields that are not set' : 'fields that the edge requires';
  };
  return plans
    .filter(({ fields }) => fields.length > 0)
    .map((plan) => {
      const head = yamlComment(`management cluster: ${objectText(plan.live)}, ${whatOf(plan)}`);
      return `${head}${pasteText(plan)}`;
    });
}

/** Returns the values of k0rdent's chart, for `spec.config` of a ClusterDeployment. */
export function valuesText({ object, chart }: Pick<ExposurePlan, 'object' | 'chart'>): string {
  const name = `Exposure ${keyText(object.metadata)}`;
  if (chart === undefined) {
    return yamlComment(`${name}: its control plane belongs to no ClusterDeployment of k0rdent`);
  }
  const { deployment, template, isKnown, values, keptType } = chart;
  const head = [
    `${name}: spec.config of ${objectText(deployment)}`,
    isKnown
      ? `the values of template ${template}`
      : `the values of template ${template} are unknown: an example for your own chart`,
    ...(keptType === undefined
      ? []
      : [
          `without ${keptType.path.join('.')}, which stays ${keptType.type}: write ClusterIP once no node and no kubeconfig uses that address`,
        ]),
  ];
  return `${head.map(yamlComment).join('')}${yamlText(values)}`;
}
