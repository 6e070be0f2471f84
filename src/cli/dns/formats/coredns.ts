/**
 * Lines for a server block of a Corefile. They use the template plugin and not hosts: a block may contain hosts only
 * once, and hosts supports neither wildcards nor CNAME records.
 */
import { recordSets, type DnsEntry, type RecordSet } from '../entries.ts';
import { byEdge, faultless, type FormatOptions, type RecordFormat } from './format.ts';

/** The Corefile format of CoreDNS. */
export const coredns: RecordFormat = {
  title: 'lines for a server block of a Corefile',
  hasAliases: true,
  hasWildcards: true,
  fault: faultless,
  text: (entries, options) =>
    inTurn(entries)
      .map(([edge, ours]) => {
        const blocks = ours.flatMap((entry) => blocksOf(entry, options));
        return `# Edge ${edge}\n${blocks.join('')}`;
      })
      .join(''),
};

/** Groups the entries by Edge, with wildcards last, because CoreDNS answers from the first template that matches. */
function inTurn(entries: readonly DnsEntry[]): ReturnType<typeof byEdge> {
  const own = entries.filter(({ name }) => !isWildcard(name));
  const wildcards = entries.filter(({ name }) => isWildcard(name));
  return [...byEdge(own), ...byEdge(wildcards)];
}

const TYPES = ['A', 'AAAA'] as const;

function blocksOf(entry: DnsEntry, options: FormatOptions): readonly string[] {
  const sets = recordSets(entry);
  const alias = sets.find(({ type }) => type === 'CNAME');
  return TYPES.map((type) => {
    const set = alias ?? sets.find((one) => one.type === type);
    return blockOf(entry.name, type, answersOf(set, options));
  });
}

/**
 * Returns the answers for one type. Without records it is an empty NOERROR: the query would otherwise fall through to
 * another plugin, which would answer NXDOMAIN.
 */
function answersOf(set: RecordSet | undefined, { ttlSeconds }: FormatOptions): readonly string[] {
  if (set === undefined) return ['rcode NOERROR'];
  const { type, values } = set;
  return values.map((value) => {
    const data = type === 'CNAME' ? `${value}.` : value;
    return `answer "{{ .Name }} ${ttlSeconds} IN ${type} ${data}"`;
  });
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.');
}

function blockOf(name: string, type: string, answers: readonly string[]): string {
  const zone = isWildcard(name) ? name.slice(2) : name;
  const pattern = `${isWildcard(name) ? '^[^.]+[.]' : '^'}${zone.replaceAll('.', '[.]')}[.]$`;
  const lines = [`match "${pattern}"`, ...answers, 'fallthrough'];
  return `template IN ${type} ${zone} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
}
