/** DNSEndpoints for external-dns with `--source=crd`: one for each Edge. */
import { yamlText } from '../../../manifests/yaml-text.ts';
import { recordSets } from '../entries.ts';
import { byEdge, faultless, type RecordFormat } from './format.ts';

/** The DNSEndpoint format of external-dns. */
export const externalDns: RecordFormat = {
  title: 'DNSEndpoint objects for external-dns',
  hasAliases: true,
  hasWildcards: true,
  fault: faultless,
  text: (entries, { ttlSeconds }) =>
    byEdge(entries)
      .map(([edge, ours]) =>
        yamlText({
          apiVersion: 'externaldns.k8s.io/v1alpha1',
          kind: 'DNSEndpoint',
          metadata: { name: `snicket-${edge}` },
          spec: {
            endpoints: ours.flatMap((entry) =>
              recordSets(entry).map(({ type, values }) => ({
                dnsName: entry.name,
                recordType: type,
                recordTTL: ttlSeconds,
                targets: values,
              })),
            ),
          },
        }),
      )
      .join('---\n'),
};
