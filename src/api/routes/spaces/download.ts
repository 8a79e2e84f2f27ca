/** The route that downloads a file. The bytes pass through the API, which checks each request. */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline } from "node:stream/promises";
import { errorBody, errorGuide } from "../../errors/error-body.ts";
import { authorize } from "../../../auth/policy.ts";
import { listsEtag } from "../../../commands/etag.ts";
import { fileEtag, fileNotFound } from "../../../commands/files/file.ts";
import { readTenant } from "../../../db/pool.ts";
import { findRawFile, type RawFileRow } from "../../../db/files/by-path.ts";
import { fileNameOf, readAddress } from "../../../domain/paths.ts";
import { openedDocument } from "../../../domain/tenancy/opened-content.ts";
import { FilePart } from "../../../schema/fields.ts";
import { RawFileAddress } from "../../../schema/documents/raw-file.ts";
import type { Deps } from "../../deps.ts";
import { attachment, type ByteRange, readRange } from "../../downloads.ts";
import { raw, stream } from "../../response.ts";
import { defineRoute, type RouteRequest } from "../../route.ts";

/** Keeps a browser from running a file or showing it as a page of this origin, whatever its type. */
const CSP = "sandbox; default-src 'none'; frame-ancestors 'none'";

export const downloadRawFile = defineRoute("GET /spaces/:space_id/data/download", {
  operation: "files.download",
  access: "keys",
  capability: "read",
  audit: { action: "files:read", resource: "file" },
  unauthenticatedStatus: 403,
  summary: "Download a file.",
  description:
    "For everybody with a role in the space. The type of the content is the file's. Every failed " +
    "authentication is 403. One range of bytes may be asked for; several are answered with the whole " +
    "file.",
  query: RawFileAddress,
  headers: {
    Range: "One range of bytes",
    "If-Range": "Serve the range only while the file has this ETag",
    "If-None-Match": "Answer 304 while the file has one of these ETags",
  },
  replyHeaders: {
    ETag: "Changes with the content",
    "Content-Disposition": "`attachment` with the file's name",
    "Content-Range": "The range that is served, of how many bytes",
    "Content-Length": "Bytes of the answer",
    "Accept-Ranges": "Always `bytes`",
    "Cache-Control": "`private, no-cache`: a cache of the caller may keep it, and asks with `If-None-Match`",
  },
  otherContent: { "*/*": { schema: FilePart } },
  otherStatuses: { 206: "The range of the file", 304: "The file has not changed" },
  errors: [416],
  async handle({ deps, principal, params, query, request, reply }) {
    authorize(principal, "files:read", { space_id: params.space_id }, "space");
    const { organization } = principal;
    const file = await readTenant(deps.db, organization, (sql) =>
      findRawFile(sql, readAddress(params.space_id, query.path)),
    );
    if (file === undefined || file.object_key === null || file.size === null) throw fileNotFound();
    const etag = fileEtag(file);
    const caching = { ETag: etag, "Cache-Control": "private, no-cache" };
    if (listsEtag(request.headers["if-none-match"] ?? "", etag))
      return raw({ contentType: "", status: 304, headers: caching, body: null });
    const range = readRange(wantedRange(request.headers, etag), file.size);
    if (range === "unsatisfiable") return unsatisfiable(file.size, errorGuide(deps.config.api.publicUrl));
    const from = { organizationId: organization.id, name: file.object_key, range: range ?? undefined };
    const body = await openedBytes(deps, request, file, from);
    const headers = {
      ...caching,
      "Content-Type": file.content_type ?? "application/octet-stream",
      "Content-Disposition": attachment(fileNameOf(file.path)),
      "Content-Security-Policy": CSP,
      ...lengthOf(range, file.size),
    };
    for (const [header, value] of Object.entries(headers)) reply.header(header, value);
    if (range !== null) reply.status = 206;
    return stream(async (res) => {
      if (body !== null) await pipeline(body, res);
    });
  },
});

/** Null for a HEAD request, which opens nothing. */
async function openedBytes(
  { storage }: Pick<Deps, "storage">,
  request: RouteRequest,
  { document_id: id, space_id }: Pick<RawFileRow, "document_id" | "space_id">,
  from: Parameters<Deps["storage"]["get"]>[0],
) {
  if (request.req.method === "HEAD") return null;
  const bytes = await storage.get({ ...from, signal: request.signal });
  if (id !== null) request.opened(openedDocument({ id, space_id }));
  return bytes;
}

/** The whole file is sent if it has changed since the client read the ETag of `If-Range`. */
function wantedRange(headers: IncomingHttpHeaders, etag: string): string | undefined {
  const condition = headers["if-range"];
  return condition === undefined || condition === etag ? headers.range : undefined;
}

function lengthOf(range: ByteRange | null, size: number): Record<string, string> {
  const accepted = { "Accept-Ranges": "bytes" };
  if (range === null) return { ...accepted, "Content-Length": String(size) };
  return {
    ...accepted,
    "Content-Length": String(range.end - range.start),
    "Content-Range": `bytes ${range.start}-${range.end - 1}/${size}`,
  };
}

function unsatisfiable(size: number, guide: string) {
  return raw({
    contentType: "application/json; charset=utf-8",
    status: 416,
    headers: { "Content-Range": `bytes */${size}` },
    body: JSON.stringify(
      errorBody("range_not_satisfiable", "The range starts beyond the end of the file.", guide),
    ),
  });
}
