/**
 * The documents of a text of YAML or JSON, within bounds: whoever writes the text must not be able to stop the thread that
 * reads it.
 */
import { Composer, isScalar, LineCounter, Parser, visit, type Document } from 'yaml';
import { syntaxSentence } from './syntax-sentences.ts';
import { unclosedIn, unclosedSentence } from './unclosed.ts';

/** What cannot be read, and where. */
export interface DocumentFault {
  readonly offset: number;
  readonly sentence: string;
}

/** A text as documents, with what is wrong with each. */
export interface YamlText {
  readonly documents: readonly { readonly document: Document; readonly fault?: DocumentFault }[];
  readonly lines: LineCounter;
  /** Why there are no documents, though there is a text. */
  readonly fault?: DocumentFault;
}

/** The composer calls itself for each level. An object of Kubernetes has some ten of them. */
const MAX_LEVELS = 200;

/** How much of a text is read. */
export interface TextBounds {
  /** Words and signs: 250,000 are about a second of work. */
  readonly tokens: number;
  /** Each of them costs more than what is in it. */
  readonly documents: number;
}

/** For whoever runs a tool on files of their own. */
export const UNBOUNDED: TextBounds = { tokens: Infinity, documents: Infinity };

/** Reads the documents. */
export function yamlDocuments(text: string, bounds: TextBounds): YamlText {
  const lines = new LineCounter();
  const parser = new BoundedParser(lines.addNewLine, bounds.tokens);
  // Its own look for keys that are there twice takes the square of their number.
  const composer = new Composer({ logLevel: 'silent', merge: true, uniqueKeys: false });
  // Once, and only for a text that is wrong.
  let opened: readonly number[] | undefined;
  const unclosed = () =>
    (opened ??= unclosedIn(new BoundedParser(() => undefined, bounds.tokens).parse(text)));
  try {
    const documents: YamlText['documents'][number][] = [];
    for (const document of composer.compose(parser.parse(text))) {
      if (documents.length === bounds.documents) {
        const sentence = `more than ${bounds.documents} objects in one file; put them into several`;
        throw new TooMuch(document.range[0], sentence);
      }
      const fault = faultOf(document, text, unclosed);
      documents.push(fault === undefined ? { document } : { document, fault });
    }
    return { documents, lines };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return { documents: [], lines, fault: { offset: error.offset, sentence: error.message } };
  }
}

class TooMuch extends Error {
  override readonly name = 'TooMuch';
  readonly code = 'TooMuch';
  readonly offset: number;

  constructor(offset: number, sentence: string) {
    super(sentence);
    this.offset = offset;
  }
}

class BoundedParser extends Parser {
  readonly #maxTokens: number;
  #tokens = 0;

  constructor(onNewLine: (offset: number) => void, maxTokens: number) {
    super(onNewLine);
    this.#maxTokens = maxTokens;
  }

  override *next(source: string): ReturnType<Parser['next']> {
    yield* super.next(source);
    if (this.stack.length > MAX_LEVELS) {
      const sentence = `lists or mappings are nested more than ${MAX_LEVELS} deep; write it flatter`;
      throw new TooMuch(this.offset, sentence);
    }
    if (++this.#tokens > this.#maxTokens) {
      const sentence = `more than ${this.#maxTokens} words and signs in one file; put its objects into several`;
      throw new TooMuch(this.offset, sentence);
    }
  }
}

function faultOf(
  document: Document.Parsed,
  text: string,
  unclosed: () => readonly number[],
): DocumentFault | undefined {
  // A tag that is not known is a warning to the parser: it takes what follows for a text.
  const [error] = [...document.errors, ...document.warnings];
  if (error === undefined) return keyThatIsThereTwice(document);
  const [from] = document.range;
  const [at] = error.pos;
  const opened = unclosed().findLast((offset) => offset >= from && offset <= at);
  return opened === undefined
    ? { offset: at, sentence: syntaxSentence(error.code) }
    : { offset: opened, sentence: unclosedSentence(text[opened] ?? '') };
}

function keyThatIsThereTwice(document: Document): DocumentFault | undefined {
  let offset: number | undefined;
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return offset === undefined ? undefined : { offset, sentence: syntaxSentence('DUPLICATE_KEY') };
}
