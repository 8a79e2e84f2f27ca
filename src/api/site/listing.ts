/** The list of the files of a built site, as scripts/site/listing.ts writes it. */

/** Written last, so a folder that has it is whole. */
export const LISTING = "files.json";

export interface BuiltFile {
  readonly type: string;
  /** SHA-256 of the bytes, short. */
  readonly tag: string;
  /** Its name has a hash of its content, so it never changes. */
  readonly isHashed: boolean;
  /** Beside it are `<name>.br` and `<name>.gz`. */
  readonly isZipped: boolean;
}

/** By the path below the site's address, which has no `.html` at its end. */
export type Listing = Readonly<Record<string, BuiltFile>>;
