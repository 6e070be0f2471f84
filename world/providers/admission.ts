/** A provider's webhooks, which the API server calls. */
export interface Webhooks {
  /** Name of the configurations. */
  readonly name: string;
  /** API group of the resources. */
  readonly group: string;
  /** URL of the controller's webhook server, up to the port. */
  readonly url: string;
  /** CA certificate that verifies the controller's webhook server. */
  readonly authority: string;
}

/**
 * Returns the objects that make the API server call the controller at a URL, because the controller is not a pod behind
 * a Service. Omits the webhooks for telemetry and for deletions of Secrets: no test needs them, and the latter would
 * make every
deletion of a Secret wait for the controller.
 */
export function admissionObjects(webhooks: Webhooks): object[] {
  const { name } = webhooks;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name },
      webhooks: [webhook(webhooks, 'mutate', 'tenantcontrolplane', ['CREATE', 'UPDATE'])],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
      webhooks: [
        webhook(webhooks, 'validate', 'tenantcontrolplane', ['CREATE', 'UPDATE']),
        webhook(webhooks, 'validate', 'datastore', ['CREATE', 'UPDATE', 'DELETE']),
      ],
    },
  ];
}

function webhook(
  { group, url, authority }: Webhooks,
  verb: 'mutate' | 'validate',
  kind: string,
  operations: readonly string[],
): object {
  return {
    name: `${verb}-${kind}.${group}`,
    clientConfig: {
      // controller-runtime derives the path from group, version and kind.
      url: `${url}/${verb}-${group.replaceAll('.', '-')}-v1alpha1-${kind}`,
      caBundle: Buffer.from(authority).toString('base64'),
    },
    rules: [{ apiGroups: [group], apiVersions: ['v1alpha1'], operations, resources: [`${kind}s`] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}
