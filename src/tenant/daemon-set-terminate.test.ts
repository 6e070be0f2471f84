import { describe, expect, test } from 'bun:test';
import { tenantInput } from '../plan/testing/inputs.ts';
import { tenantObjects } from './tenant-objects.ts';
import { daemonSetIn } from './testing/proxy-pod.ts';

describe('the DaemonSet', () => {
  test('in mode Terminate at a virtual address', () => {
    expect(daemonSetIn(tenantObjects(tenantInput()))).toMatchInlineSnapshot(`
      {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
          "annotations": {
            "snicket.dev/exposure-hash": "17b5a8fab766ad35",
            "snicket.dev/path-hash": "e10ed90fe4dcaaab",
            "snicket.dev/release": "a628b0e13a5cf870",
          },
          "labels": {
            "app.kubernetes.io/managed-by": "snicket",
            "app.kubernetes.io/name": "snicket-proxy",
          },
          "name": "snicket-proxy",
          "namespace": "kube-system",
        },
        "spec": {
          "selector": {
            "matchLabels": {
              "app.kubernetes.io/name": "snicket-proxy",
            },
          },
          "template": {
            "metadata": {
              "annotations": {
                "snicket.dev/edge": "shared snicket",
              },
              "labels": {
                "app.kubernetes.io/managed-by": "snicket",
                "app.kubernetes.io/name": "snicket-proxy",
                "snicket.dev/inject": "false",
              },
            },
            "spec": {
              "automountServiceAccountToken": false,
              "containers": [
                {
                  "args": [
                    "proxy",
                    "--mode=terminate",
                    "--listen=100.64.64.1:7443",
                    "--edge-file=/etc/snicket/edge",
                    "--server-name=blue.k8s.example.com",
                    "--ca=/etc/snicket/ca.crt",
                    "--cert=/etc/snicket/tls.crt",
                    "--key=/etc/snicket/tls.key",
                    "--grace=5s",
                    "--drain=15s",
                    "--log-level=info",
                    "--http=127.170.63.2:7444",
                  ],
                  "image": "registry.example.com/snicket:1",
                  "livenessProbe": {
                    "failureThreshold": 6,
                    "httpGet": {
                      "host": "127.170.63.2",
                      "path": "/healthz",
                      "port": 7444,
                    },
                    "periodSeconds": 10,
                    "timeoutSeconds": 5,
                  },
                  "name": "proxy",
                  "readinessProbe": {
                    "failureThreshold": 2,
                    "httpGet": {
                      "host": "127.170.63.2",
                      "path": "/readyz",
                      "port": 7444,
                    },
                    "periodSeconds": 5,
                    "timeoutSeconds": 3,
                  },
                  "resources": {
                    "limits": {
                      "memory": "512Mi",
                    },
                    "requests": {
                      "cpu": "10m",
                      "memory": "32Mi",
                    },
                  },
                  "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "capabilities": {
                      "drop": [
                        "ALL",
                      ],
                    },
                    "readOnlyRootFilesystem": true,
                  },
                  "volumeMounts": [
                    {
                      "mountPath": "/etc/snicket",
                      "name": "credentials",
                      "readOnly": true,
                    },
                  ],
                },
              ],
              "dnsPolicy": "Default",
              "enableServiceLinks": false,
              "hostNetwork": true,
              "initContainers": [
                {
                  "args": [
                    "address",
                    "add",
                    "100.64.64.1",
                  ],
                  "image": "registry.example.com/snicket:1",
                  "name": "address",
                  "resources": {
                    "limits": {
                      "memory": "512Mi",
                    },
                    "requests": {
                      "cpu": "10m",
                      "memory": "32Mi",
                    },
                  },
                  "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "capabilities": {
                      "add": [
                        "NET_ADMIN",
                      ],
                      "drop": [
                        "ALL",
                      ],
                    },
                    "readOnlyRootFilesystem": true,
                    "runAsGroup": 0,
                    "runAsNonRoot": false,
                    "runAsUser": 0,
                  },
                },
              ],
              "nodeSelector": {
                "kubernetes.io/os": "linux",
              },
              "priorityClassName": "system-node-critical",
              "securityContext": {
                "fsGroup": 65532,
                "runAsGroup": 65532,
                "runAsNonRoot": true,
                "runAsUser": 65532,
                "seccompProfile": {
                  "type": "RuntimeDefault",
                },
              },
              "serviceAccountName": "snicket-proxy",
              "terminationGracePeriodSeconds": 30,
              "tolerations": [
                {
                  "operator": "Exists",
                },
              ],
              "volumes": [
                {
                  "name": "credentials",
                  "projected": {
                    "defaultMode": 288,
                    "sources": [
                      {
                        "secret": {
                          "name": "snicket-proxy",
                        },
                      },
                      {
                        "configMap": {
                          "name": "snicket-proxy",
                        },
                      },
                    ],
                  },
                },
              ],
            },
          },
          "updateStrategy": {
            "rollingUpdate": {
              "maxSurge": "10%",
              "maxUnavailable": 0,
            },
            "type": "RollingUpdate",
          },
        },
      }
    `);
  });
});
