/** A change batch for `aws route53 change-resource-record-sets`. */
import { recordSets } from '../entries.ts';
import { byEdge, type RecordFormat } from './format.ts';

/** Maximum number of records in one request. Route 53 allows 1000 and counts a record twice in an UPSERT. */
const MAX_RECORDS = 1000 / 2;

/** The change batch format of Route 53. */
export const route53: RecordFormat = {
  title: 'a change batch for Amazon Route 53',
  hasAliases: true,
  hasWildcards: true,
  fault(entries) {
    const count = entries.flatMap(recordSets).flatMap(({ values }) => values).length;
    if (count <= MAX_RECORDS) return undefined;
    return {
      message: `Route 53 accepts ${MAX_RECORDS} records at once, but there are ${count}.`,
      action: 'Name fewer Exposures, or use --wildcard.',
    };
  },
  text(entries, { ttlSeconds }) {
    const batch = {
      Comment: `snicket: ${byEdge(entries)
        .map(([edge]) => `Edge ${edge}`)
        .join(', ')}`,
      Changes: entries.flatMap((entry) =>
        recordSets(entry).map(({ type, values }) => ({
          Action: 'UPSERT',
          ResourceRecordSet: {
            Name: `${entry.name}.`,
            Type: type,
            TTL: ttlSeconds,
            ResourceRecords: values.map((value) => ({
              Value: type === 'CNAME' ? `${value}.` : value,
            })),
          },
        })),
      ),
    };
    return `${JSON.stringify(batch, null, 2)}\n`;
  },
};
