/** Types of the part of word-extractor that is used: the package has none. */

declare module "word-extractor" {
  interface WordDocument {
    getBody(): string;
    getFootnotes(): string;
    getEndnotes(): string;
    getAnnotations(): string;
    getHeaders(options: { includeFooters: boolean }): string;
    getFooters(): string;
    getTextboxes(options: object): string;
  }
  // oxlint-disable-next-line import/no-default-export -- as the package has it
  export default class WordExtractor {
    extract(source: string | Buffer): Promise<WordDocument>;
  }
}
