import { describe, expect, test } from 'bun:test';
import { TENANT_KEY, tenantInput } from '../plan/testing/inputs.ts';
import { tenantObjects } from './tenant-objects.ts';
import { podIn } from './testing/proxy-pod.ts';

describe('the DaemonSet', () => {
  test('in mode Passthrough at node addresses', () => {
    const input = tenantInput(
      { address: 'Node' },
      { mode: 'Passthrough', credentials: TENANT_KEY, edgeAddresses: [] },
    );

    expect(podIn(tenantObjects(input))).toMatchInlineSnapshot(`
      {
        "automountServiceAccountToken": false,
        "containers": [
          {
            "args": [
              "proxy",
              "--mode=passthrough",
              "--listen=:7443",
              "--edge-file=/etc/snicket/edge",
              "--server-name=blue.k8s.example.com",
              "--ca=/etc/snicket/ca.crt",
              "--tenant-key-file=/etc/snicket/tenant.key",
              "--grace=5s",
              "--drain=15s",
              "--log-level=info",
              "--http=127.17.26.190:7444",
            ],
            "image": "registry.example.com/snicket:1",
            "livenessProbe": {
              "failureThreshold": 6,
              "httpGet": {
                "host": "127.17.26.190",
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
                "host": "127.17.26.190",
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
      }
    `);
  });
});
