/** Which of the versions that are kept a caller means. */
import { countVersions, type KeptVersion, listKeptVersions } from "../../db/documents/kept-versions.ts";
import type { Sql } from "../../db/pool.ts";
import { notFound, versionNotKept } from "../../domain/not-found.ts";

/** The kept versions, or the one asked for. @throws DomainError `version_not_found`, `version_not_kept` */
export async function chosenVersions(
  sql: Sql,
  documentId: string,
  version: number | undefined,
): Promise<KeptVersion[]> {
  const kept = await listKeptVersions(sql, documentId);
  const chosen = version === undefined ? kept : kept.filter((one) => one.version === version);
  if (chosen.length > 0) return chosen;
  const count = await countVersions(sql, documentId);
  if (version === undefined || version > count) throw notFound("version");
  throw versionNotKept(version);
}
