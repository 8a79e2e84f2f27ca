/** Reads the files of a backup and compares them with the checksums of their uploads. */
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { type StoredFile, listStoredFiles } from "../../db/files/object-names.ts";
import { type OrganizationRef, inTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Backup, noteMissing } from "./backup.ts";

const FILES_A_PAGE = 200;
const READ_AT_ONCE = 4;

/** Decrypts every file that is not deleted and compares it with the checksum of its upload. */
export async function readFiles(
  backup: Backup,
  organization: OrganizationRef,
): Promise<{ files_read: number; files_unreadable: number }> {
  const { db, storage, onFiles } = backup;
  let read = 0;
  let unreadable = 0;
  for (let after: string | null = null; ;) {
    const page: StoredFile[] = await inTenant(db, organization, (sql) =>
      listStoredFiles(sql, organization.id, { after, limit: FILES_A_PAGE }),
    );
    for (let from = 0; from < page.length; from += READ_AT_ONCE) {
      const some = page.slice(from, from + READ_AT_ONCE);
      const faults = await Promise.all(some.map((file) => faultOfFile(storage, organization.id, file)));
      read += some.length;
      onFiles(some.length);
      unreadable += faults.filter((fault) => fault !== undefined).length;
      const other = some.filter((_, index) => faults[index] === "unreadable");
      other.forEach(({ id, document_id }) =>
        noteMissing(backup, {
          organization_id: organization.id,
          document_id,
          kind: "file",
          id,
          fault: "file_unreadable",
        }),
      );
    }
    if (page.length < FILES_A_PAGE) return { files_read: read, files_unreadable: unreadable };
    after = page.at(-1)!.id;
  }
}

/** @returns `absent` for a missing object, which the comparison of objects reports. */
async function faultOfFile(
  storage: Storage,
  organizationId: string,
  { object_key: name, sha256 }: StoredFile,
): Promise<"absent" | "unreadable" | undefined> {
  const hash = createHash("sha256");
  try {
    await pipeline(await storage.get({ organizationId, name }), async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) hash.update(piece);
    });
  } catch (error) {
    if (error instanceof DomainError && error.class === "hopeless")
      return error.code === "not_found" ? "absent" : "unreadable";
    throw error;
  }
  return sha256 === null || hash.digest("hex") === sha256 ? undefined : "unreadable";
}
