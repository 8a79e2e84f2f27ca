/** GET /data/{document_id}/pages and /pages/{page_number}: how pages look, and where on them words stand. */
import type { Box, Location } from "../../../domain/locations/location.ts";
import type { z } from "zod";
import { etagOf, listsEtag } from "../../../commands/etag.ts";
import { findPageFile } from "../../../queries/documents/find-page-file.ts";
import { pageOf } from "../../../schema/fields.ts";
import { PageSizePage, PagesQuery, PictureContent, PictureQuery } from "../../../schema/documents/pages.ts";
import type { NumberedLocation } from "../../../domain/receipts/claims.ts";
import { openedDocument } from "../../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { readReceipt } from "../../../receipts/read-receipt.ts";
import { valueError, ValidationProblems } from "../../../schema/requests/problem.ts";
import type { Deps } from "../../deps.ts";
import { raw } from "../../response.ts";
import { defineRoute } from "../../route.ts";
import { NOT_KEPT } from "./not-kept.ts";

const WHICH_FILES =
  "Of PDF files and pictures (PNG, JPEG, TIFF); other formats are 422 `unsupported_file_type`. The files of the " +
  "published version, of the one before it and of the latest run are kept; older versions are 410.";

const listPages = defineRoute("GET /data/:document_id/pages", {
  operation: "documents.pages",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "The pages of a document with their sizes.",
  description: `For everybody with a role in its space. ${WHICH_FILES}`,
  query: PagesQuery,
  response: PageSizePage,
  errors: [410, 503],
  ownErrors: NOT_KEPT,
  async handle({ deps, principal, params, query, request }) {
    const { document, file } = await findPageFile({
      db: deps.db,
      principal,
      documentId: params.document_id,
      version: query.version,
    });
    const first = (query.page - 1) * query.limit + 1;
    const ask = { principal, file, signal: request.signal };
    const { total, pages } = await deps.pages.sizes(ask, [first, first + query.limit - 1]);
    request.opened(openedDocument(document));
    return pageOf({ items: pages, total }, query);
  },
});

const showPage = defineRoute("GET /data/:document_id/pages/:page_number", {
  operation: "documents.page",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "A page as a picture, with what was cited highlighted.",
  description:
    `For everybody with a role in its space. ${WHICH_FILES} A page is drawn apart from everything else, in at ` +
    "most 20 seconds; a picture may be 10,000 pixels high.",
  query: PictureQuery,
  headers: { "If-None-Match": "Answer 304 while the picture has one of these ETags" },
  replyHeaders: {
    ETag: "Changes with the picture",
    "Cache-Control": "`private, no-cache`: a cache of the caller may keep it, and asks with `If-None-Match`",
  },
  otherContent: { "image/png": { schema: PictureContent }, "image/webp": { schema: PictureContent } },
  otherStatuses: { 304: "The picture has not changed" },
  errors: [410, 503],
  ownErrors: NOT_KEPT,
  async handle({ deps, principal, params, query, request }) {
    const { page_number: page } = params;
    const { width, format } = query;
    const { document_id: documentId } = params;
    const cited = await readHighlight(deps, principal, documentId, query);
    const found = await findPageFile({ db: deps.db, principal, documentId, ...cited });
    const { file } = found;
    const wanted = { page, width, format, boxes: boxesOn(page, cited.locations ?? found.locations) };
    const etag = etagOf(deps.pages.pictureName(file, wanted));
    const headers = { ETag: etag, "Cache-Control": "private, no-cache" };
    if (listsEtag(request.headers["if-none-match"] ?? "", etag))
      return raw({ contentType: "", status: 304, headers, body: null });
    const body = await deps.pages.picture({ principal, file, signal: request.signal }, wanted);
    request.opened(openedDocument(found.document));
    return raw({ contentType: `image/${format}`, headers, body });
  },
});

interface Highlight {
  readonly version: number | undefined;
  readonly chunkId?: string;
  /** What a receipt names. */
  readonly locations?: readonly NumberedLocation[];
}

/** A receipt holds for the version that was cited; it opens nothing that its holder may not read. */
async function readHighlight(
  { db }: Pick<Deps, "db">,
  { organization }: Principal,
  documentId: string,
  { version, highlight }: z.output<typeof PictureQuery>,
): Promise<Highlight> {
  if (highlight === undefined) return { version };
  if (!highlight.includes(".")) return { version, chunkId: highlight };
  const claims = await readReceipt({ db }, organization, highlight);
  if (claims === undefined) throw wrongReceipt("not a receipt of this organization", highlight);
  if (claims.document !== documentId) throw wrongReceipt("the receipt of another document", highlight);
  if (version !== undefined && version !== claims.document_version)
    throw wrongReceipt(`the receipt of version ${claims.document_version}`, highlight);
  return { version: claims.document_version, locations: claims.locations ?? [] };
}

function wrongReceipt(reason: string, given: string): ValidationProblems {
  return new ValidationProblems([valueError(["query", "highlight"], reason, given)]);
}

function boxesOn(page: number, locations: readonly (Location | NumberedLocation)[]): Box[] {
  return locations.flatMap((location) => (location.page === page ? (location.boxes ?? []) : []));
}

export const pageRoutes = [listPages, showPage];
