/**
 * Metrics in the text format of Prometheus (version 0.0.4). Whoever counts keeps plain numbers; a family is a function
 * that reads them when somebody asks, so that counting costs an addition and nothing else.
 */

/** One number of a family. */
export interface Sample {
  /** After the name of the family: a histogram has several kinds of samples. Default: none. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Numbers of one kind, told apart by their labels. */
export interface MetricFamily {
  readonly name: string;
  /** A sentence for whoever reads the page. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Called for each scrape. */
  readonly samples: () => Iterable<Sample>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** The families of a program. */
export class Metrics {
  readonly #families = new Map<string, MetricFamily>();

  /** @throws TypeError if the name is taken, or none in Prometheus. */
  register(family: MetricFamily): void {
    if (!NAME.test(family.name)) throw new TypeError(`'${family.name}' cannot name a metric`);
    if (this.#families.has(family.name)) {
      throw new TypeError(`the metric ${family.name} is registered already`);
    }
    this.#families.set(family.name, family);
  }

  /** Shows the families that another has by now, too. @throws TypeError if a name is taken */
  include(other: Metrics): void {
    for (const family of other.#families.values()) this.register(family);
  }

  /** The page, in the order of registration. */
  text(): string {
    let page = '';
    for (const { name, help, type, samples } of this.#families.values()) {
      page += `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
      for (const { suffix = '', labels, value } of samples()) {
        const labelled = labels === undefined ? '' : labelText(labels);
        page += `${name}${suffix}${labelled} ${numberText(value)}\n`;
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

/** Most values need no escaping, and a large page has a hundred thousand of them. */
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
