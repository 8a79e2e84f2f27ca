/** The parts of an organization's archive, by name. Ids are kept; internal numbers are left out. */

import type { PackedPlaces } from "./locations/packed.ts";

export const ARCHIVE_VERSION = 1;

/** A row as Postgres writes it in JSON. */
export type Row = Record<string, unknown>;

/** The manifest of the archive's folder; it is not encrypted. */
export interface Manifest {
  readonly version: typeof ARCHIVE_VERSION;
  readonly organization_id: string;
  readonly created_at: string;
  /** The part with {@link Directory}. */
  readonly directory: string;
  /** The part with the last page; each names the one before. */
  readonly last_page: string | null;
}

export interface ArchivedOrganization {
  readonly name: string;
  readonly max_key_lifetime_seconds: number | null;
  readonly default_key_lifetime_seconds: number | null;
}

export interface Directory {
  readonly organization: ArchivedOrganization;
  readonly users: Row[];
  readonly spaces: Row[];
  readonly space_members: Row[];
  readonly folders: Row[];
  readonly agents: Row[];
  readonly receipt_keys: Row[];
  readonly vector_stores: Row[];
}

export interface Page {
  readonly before: string | null;
  readonly documents: readonly ArchivedDocument[];
  readonly files: readonly ArchivedFile[];
  readonly user_files: readonly ArchivedUserFile[];
}

export interface ArchivedFile {
  readonly raw_file: Row & { readonly id: string; readonly sha256: string | null };
  /** The parts of the content, in order; null if it has none. */
  readonly content: readonly string[] | null;
}

/** A file that a user sent to /v1/files. */
export interface ArchivedUserFile {
  readonly user_file: Row & { readonly id: string; readonly sha256: string };
  readonly content: readonly string[];
}

export interface ArchivedDocument extends ArchivedFile {
  readonly document: Row & { readonly id: string };
  /** The file that it was made of in a vector store; null if it came in another way. */
  readonly store_file: Row | null;
  /** Null: the document is parsed again when it is imported. */
  readonly published: ArchivedRun | null;
}

export interface ArchivedRun {
  readonly run: Row;
  readonly model: { readonly name: string; readonly dimensions: number };
  /** Parts with {@link ArchivedChunk} lists, and with {@link ArchivedBlock} lists. */
  readonly chunks: readonly string[];
  readonly text: readonly string[];
}

export interface ArchivedChunk {
  readonly chunk_index: number;
  readonly id: string;
  readonly text: string;
  readonly token_count: number;
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: Record<string, unknown>;
  /** These three are null if they are unknown. */
  readonly start_offset: number | null;
  readonly end_offset: number | null;
  readonly places: PackedPlaces | null;
  /** Null in what versions before 0.10 processed. */
  readonly header: string | null;
  /** As Postgres writes a vector: `[0.1,…]`; null for a text that the model's provider refuses. */
  readonly vector: string | null;
}

export interface ArchivedBlock {
  readonly first_index: number;
  readonly unit_count: number;
  readonly units: readonly unknown[];
}
