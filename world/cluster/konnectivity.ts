import { IMAGES } from '../images/images.ts';
import { KONNECTIVITY_PORT, type ClusterPlan } from '../spec.ts';

/**
 * Returns the konnectivity objects of a tenant cluster, as providers install them: permissions for the server, and
 * agents on the workers.
 *
 * @param port port that the agents dial. Default: the server's own.
 */
export function konnectivityObjects(cluster: ClusterPlan, port = KONNECTIVITY_PORT): object[] {
  const metadata = { name: 'konnectivity-agent', namespace: 'kube-system' };
  const labels = { 'k8s-app': 'konnectivity-agent' };
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'system:konnectivity-server' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:auth-delegator',
      },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:konnectivity-server' },
      ],
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: 'konnectivity-agent',
            priorityClassName: 'system-cluster-critical',
            hostNetwork: true,
            // The node's own resolver, because nothing in the cluster works before the agent does.
            dnsPolicy: 'Default',
            tolerations: [{ operator: 'Exists' }],
            terminationGracePeriodSeconds: 1,
            containers: [
              {
                name: 'agent',
                image: IMAGES.konnectivityAgent,
                imagePullPolicy: 'Never',
                args: [
                  '--ca-cert=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
                  '--service-account-token-path=/var/run/secrets/tokens/konnectivity',
                  `--proxy-server-host=${cluster.hosts.konnectivity}`,
                  `--proxy-server-port=${port}`,
                  // Default 5 s after the first failure, too long for a tenant that starts together with its server.
                  '--probe-interval=1s',
                  '--sync-interval=1s',
                ],
                volumeMounts: [
                  { name: 'token', mountPath: '/var/run/secrets/tokens', readOnly: true },
                ],
              },
            ],
            volumes: [
              {
                name: 'token',
                projected: {
                  sources: [
                    {
                      serviceAccountToken: {
                        path: 'konnectivity',
                        audience: 'system:konnectivity-server',
                      },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
    },
  ];
}
