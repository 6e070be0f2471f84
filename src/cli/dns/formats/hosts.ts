/** Lines of /etc/hosts, which supports neither wildcards nor CNAME records. */
import { recordSets } from '../entries.ts';
import { byEdge, faultless, type RecordFormat } from './format.ts';

/** The format of /etc/hosts. */
export const hosts: RecordFormat = {
  title: 'lines of /etc/hosts',
  hasAliases: false,
  hasWildcards: false,
  fault: faultless,
  text: (entries) =>
    byEdge(entries)
      .map(([edge, ours]) => {
        const lines = ours.flatMap(({ name, to }) =>
          recordSets({ to }).flatMap(({ values }) => values.map((value) => `${value} ${name}\n`)),
        );
        return `# Edge ${edge}\n${lines.join('')}`;
      })
      .join(''),
};
