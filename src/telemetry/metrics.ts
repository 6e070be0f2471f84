/**
 * Metrics in the Prometheus text format (version 0.0.4). Callers count in plain numbers. A family has a function that
 * reads them on each scrape, so that counting costs one addition.
 */

/** One sample of a family. */
export interface Sample {
  /** Appended to the name of the family, for the samples of a histogram or summary. Default: none. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of one kind, distinguished by their labels. */
export interface MetricFamily {
  readonly name: string;
  /** The help text of the metric, as a sentence. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Called for each scrape. */
  readonly samples: () => Iterable<Sample>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** The metric families of a program. */
export class Metrics {
  readonly #families = new Map<string, MetricFamily>();

  /** Adds a family. @throws TypeError if the name is registered already or invalid in Prometheus. */
  register(family: MetricFamily): void {
    if (!NAME.test(family.name)) throw new TypeError(`'${family.name}' cannot name a metric`);
    if (this.#families.has(family.name)) {
      throw new TypeError(`the metric ${family.name} is registered already`);
    }
    this.#families.set(family.name, family);
  }

  /** Adds the families that `other` has at this time. @throws TypeError if a name is registered already. */
  include(other: Metrics): void {
    for (const family of other.#families.values()) this.register(family);
  }

  /** Returns the metrics page, in the order of registration. */
  text(): string {
    let page = '';
    for (const { name, help, type, samples } of this.#families.values()) {
      page += `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
      for (const { suffix = '', labels, value } of samples()) {
        const labelSet = labels === undefined ? '' : labelText(labels);
        page += `${name}${suffix}${labelSet} ${numberText(value)}\n`;
      }
    }
    return page;
  }
}

function labelText(labels: Readonly<Record<string, string>>): string {
  let text = '';
  for (const label in labels) {
    text += `${text === '' ? '' : ','}${label}="${quoted(labels[label] ?? '')}"`;
  }
  return text === '' ? '' : `{${text}}`;
}

/** Escapes a value only if necessary, because a large page has a hundred thousand values. */
function quoted(value: string): string {
  return /["\\\n]/.test(value) ? escaped(value).replaceAll('"', '\\"') : value;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
