/** Makes a path folder, which shows in listings of files while nothing is in it. */
import { authorize } from "../../auth/policy.ts";
import { createPathFolder as writePathFolder } from "../../db/files/folders.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller } from "../caller.ts";
import type { CommandDeps } from "../deps.ts";
import { recordChange } from "../record-change.ts";

interface NewPathFolder {
  readonly spaceId: string;
  readonly path: string;
}

/**
 * Idempotent: if there is such a folder already, nothing is written and the answer is the same.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if a file is at the path.
 * @see test/commands/files/files.database.test.ts
 */
export async function createPathFolder(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, path }: NewPathFolder,
): Promise<{ readonly path: string }> {
  const { organization, user } = caller.principal;
  authorize(caller.principal, "files:create", { space_id: spaceId });
  await inTenant(deps.db, organization, async (sql) => {
    const { id, isNew } = await writePathFolder(sql, {
      organizationId: organization.id,
      spaceId,
      userId: user.id,
      path,
    });
    if (isNew) await recordChange(sql, caller, "files:create", { type: "file", id, spaceId });
  });
  return { path };
}
