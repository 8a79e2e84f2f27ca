/** What the commands of raw files share: the path of an address, the error of a missing file, the ETag. */
import type { RawFileRow } from "../../db/files/by-path.ts";
import type { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { pathFault, pathOf } from "../../domain/paths.ts";
import { valueError, ValidationProblems } from "../../schema/requests/problem.ts";
import { etagOf } from "../etag.ts";

/** Changes only with the file's content, so that a rename keeps caches. */
export function fileEtag(file: Pick<RawFileRow, "id" | "sha256">): string {
  return etagOf(file.id, file.sha256);
}

export function fileNotFound(): DomainError {
  return notFound("file");
}

/**
 * The path that an address in a field of the body means; a slash at its end is kept.
 * @throws ValidationProblems if no file may have it: only the space tells where the path of an object name
 *   begins.
 */
export function requirePath(spaceId: string, address: string, field: string): string {
  const path = pathOf(spaceId, address);
  const fault = pathFault(path.endsWith("/") ? path.slice(0, -1) : path);
  if (fault !== null) throw new ValidationProblems([valueError(["body", field], fault, address)]);
  return path;
}
