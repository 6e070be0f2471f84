/** Whom the API server asks about the objects of a provider. */
export interface Webhooks {
  /** Name of the configurations. */
  readonly name: string;
  /** API group of the resources. */
  readonly group: string;
  /** Where the controller listens, up to the port. */
  readonly url: string;
  /** The certificate that it can be known by. */
  readonly authority: string;
}

/**
 * Lets the API server ask the controller at an address, since it is no pod behind a Service. What the
 * controller serves beyond this (telemetry, the deletion of Secrets) is left out: no test has a use for it, and
 * the latter would make every deletion of a Secret wait for the controller.
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
      // The path that controller-runtime makes of group, version and kind.
      url: `${url}/${verb}-${group.replaceAll('.', '-')}-v1alpha1-${kind}`,
      caBundle: Buffer.from(authority).toString('base64'),
    },
    rules: [{ apiGroups: [group], apiVersions: ['v1alpha1'], operations, resources: [`${kind}s`] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}
