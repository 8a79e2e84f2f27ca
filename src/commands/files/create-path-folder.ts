/** Makes a path folder, which shows in listings of files while nothing is in it. */
import { authorize } from "../../auth/policy.ts";
import { createPathFolder as writePathFolder } from "../../db/files/folders.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { requirePath } from "./file.ts";

interface NewPathFolder {
  readonly spaceId: string;
  /** A path, or the object name of the folder. */
  readonly path: string;
}

/**
 * Idempotent: if there is such a folder already, nothing is written and the answer is the same.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if a file is at the path;
 * ValidationProblems for the root.
 */
export async function createPathFolder(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, path: address }: NewPathFolder,
): Promise<{ readonly path: string }> {
  const { organization, user } = caller.principal;
  authorize(caller.principal, "files:create", { space_id: spaceId });
  const path = requirePath(spaceId, `${address}/`, "path").slice(0, -1);
  await inTenant(deps.db, organization, async (sql) => {
    const { id, isNew } = await writePathFolder(sql, {
      organizationId: organization.id,
      spaceId,
      userId: user.id,
      path,
    });
    if (isNew)
      await recordChange(sql, caller, "files:create", {
        type: "file",
        id,
        spaceId,
        events: [{ type: "file.created" }],
      });
  });
  return { path };
}
