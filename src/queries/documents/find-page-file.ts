/** Finds the file whose pages a caller wants to see, and what of a page is to be highlighted. */
import { authorize } from "../../auth/policy.ts";
import { findPlacedChunk, type KeptVersion } from "../../db/documents/kept-versions.ts";
import { findDocument } from "../../db/documents/read.ts";
import { type Database, readTenant, type Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { type Location, locationsOf } from "../../domain/locations/location.ts";
import { hasPages } from "../../domain/locations/page-picture.ts";
import { unpackPlaces } from "../../domain/locations/packed.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { chosenVersions } from "./chosen-versions.ts";

interface Wanted {
  readonly db: Database;
  readonly principal: Principal;
  readonly documentId: string;
  /** Undefined: the version that has what is highlighted, or else the published one. */
  readonly version: number | undefined;
  /** Whose places are to be highlighted. */
  readonly chunkId?: string | undefined;
}

export interface FoundPages {
  readonly document: { readonly id: string; readonly space_id: string };
  readonly file: KeptVersion;
  readonly locations: readonly Location[];
}

/**
 * @throws DomainError `not_found` for the document, the version and the chunk; `version_not_kept`;
 * `unsupported_file_type` for a format without pages
 * @see test/api/routes/documents/pages.stack.test.ts
 */
export async function findPageFile({ db, principal, ...wanted }: Wanted): Promise<FoundPages> {
  const { documentId, version, chunkId } = wanted;
  const found = await readTenant(db, principal.organization, async (sql) => {
    const document = await findDocument(sql, principal, documentId);
    authorize(principal, "documents:read", document);
    const kept = await chosenVersions(sql, documentId, version);
    const highlighted =
      chunkId === undefined
        ? { file: kept[0]!, locations: [] }
        : await findHighlighted(sql, kept, { documentId, chunkId });
    return { document, ...highlighted };
  });
  const { file_type: fileType } = found.file;
  if (!hasPages(fileType))
    throw new DomainError("unsupported_file_type", `Files of type ${fileType} have no pages to show.`);
  return found;
}

async function findHighlighted(
  sql: Sql,
  kept: readonly KeptVersion[],
  { documentId, chunkId }: { documentId: string; chunkId: string },
): Promise<Omit<FoundPages, "document">> {
  const chunks = await findPlacedChunk(sql, {
    documentId,
    chunkId,
    runNums: kept.map(({ run_num }) => run_num),
  });
  for (const file of kept) {
    const chunk = chunks.find(({ run_num }) => run_num === file.run_num);
    if (chunk !== undefined) return { file, locations: locationsOf(unpackPlaces(chunk.places)) };
  }
  throw notFound("chunk");
}
