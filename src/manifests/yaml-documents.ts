/** Parses the documents of a YAML or JSON text within limits, so that no text can block the thread for long. */
import { Composer, isScalar, LineCounter, Parser, visit, type Document } from 'yaml';
import { syntaxSentence } from './syntax-sentences.ts';
import { unclosedIn, unclosedSentence } from './unclosed.ts';

/** An error and its offset. */
export interface DocumentFault {
  readonly offset: number;
  readonly sentence: string;
}

/** A text as documents, each with its error, if any. */
interface YamlText {
  readonly documents: readonly { readonly document: Document; readonly fault?: DocumentFault }[];
  readonly lines: LineCounter;
  /** Why a text has no documents. */
  readonly fault?: DocumentFault;
}

/** The composer recurses per level. Kubernetes objects have about ten levels. */
const MAX_LEVELS = 200;

/** Limits on the size of a text. */
export interface TextBounds {
  /** Maximum number of tokens. 250,000 take about a second. */
  readonly tokens: number;
  /** Maximum number of documents. A document costs more than its content. */
  readonly documents: number;
}

/** For tools that users run on their own files. */
export const UNBOUNDED: TextBounds = { tokens: Infinity, documents: Infinity };

/** Parses the documents of a text. */
export function yamlDocuments(text: string, bounds: TextBounds): YamlText {
  const lines = new LineCounter();
  const parser = new BoundedParser(lines.addNewLine, bounds.tokens);
  // Duplicate keys are checked below, because the check of the composer is quadratic.
  const composer = new Composer({ logLevel: 'silent', merge: true, uniqueKeys: false });
  // Computed once, and only for an invalid text.
  let opened: readonly number[] | undefined;
  const unclosed = () =>
    (opened ??= unclosedIn(new BoundedParser(() => undefined, bounds.tokens).parse(text)));
  try {
    const documents: YamlText['documents'][number][] = [];
    for (const document of composer.compose(parser.parse(text))) {
      if (documents.length === bounds.documents) {
        const sentence = `more than ${bounds.documents} objects in one file: split the file`;
        throw new LimitExceeded(document.range[0], sentence);
      }
      const fault = faultOf(document, text, unclosed);
      documents.push(fault === undefined ? { document } : { document, fault });
    }
    return { documents, lines };
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return { documents: [], lines, fault: { offset: error.offset, sentence: error.message } };
  }
}

class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
  readonly code = 'LimitExceeded';
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
      const sentence = `lists or mappings are nested more than ${MAX_LEVELS} levels deep`;
      throw new LimitExceeded(this.offset, sentence);
    }
    if (++this.#tokens > this.#maxTokens) {
      const sentence = `more than ${this.#maxTokens} tokens in one file: split the file`;
      throw new LimitExceeded(this.offset, sentence);
    }
  }
}

function faultOf(
  document: Document.Parsed,
  text: string,
  unclosed: () => readonly number[],
): DocumentFault | undefined {
  // The parser treats an unknown tag as a warning and reads the value as a string.
  const [error] = [...document.errors, ...document.warnings];
  if (error === undefined) return duplicateKey(document);
  const [from] = document.range;
  const [at] = error.pos;
  const opened = unclosed().findLast((offset) => offset >= from && offset <= at);
  return opened === undefined
    ? { offset: at, sentence: syntaxSentence(error.code) }
    : { offset: opened, sentence: unclosedSentence(text[opened] ?? '') };
}

function duplicateKey(document: Document): DocumentFault | undefined {
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
