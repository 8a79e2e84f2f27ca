/** What the commands of raw files share: what is said of one that is not there, and its entity tag. */
import type { RawFileRow } from "../../db/files/by-path.ts";
import type { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { etagOf } from "../etag.ts";

/** Changes only with the file's content, so that a rename keeps caches. */
export function fileEtag(file: Pick<RawFileRow, "id" | "sha256">): string {
  return etagOf(file.id, file.sha256);
}

export function fileNotFound(): DomainError {
  return notFound("file");
}
