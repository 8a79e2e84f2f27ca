/** Adds and updates the users that a provisioning file names, each with a private space. */
import type { ProvisionUser } from "../../domain/tenancy/provision-file.ts";
import { ensurePrivateSpace } from "../tenancy/spaces.ts";
import { changeOf, type Located, locate, noteChange, type Run, save } from "./rows.ts";
import type { Scope } from "./scope.ts";

/** @param path where the user is in the file, such as `organizations[0].users[1]`. */
export async function provisionUser(
  run: Run,
  scope: Scope,
  path: string,
  named: ProvisionUser,
): Promise<void> {
  const organizationId = scope.organization.id;
  const { email, name, avatar_url, role, subject } = named;
  const located = await locate(run, "users", { path, id: named.id, name: email, parentId: organizationId });
  if (located === undefined) return;
  if (await isSubjectTaken(run, subject ?? null, located.id)) {
    run.mistakes.push(`${path}.subject: is bound to another user`);
    return;
  }
  await save(run, "users", located, {
    fields: { email, name, avatar_url, role, subject, ...(located.isGone ? { removed_at: null } : {}) },
    defaults: { organization_id: organizationId, name: email.split("@")[0], role: "member" },
  });
  scope.userIds.set(email, located.id);
  if (!located.isNew) await confirmEmail(run, located, named);
  if (await ensurePrivateSpace(run.sql, scope.organization, located.id)) {
    const id = `${located.id} private`;
    noteChange(run, { path, id, what: `private space of ${email}`, outcome: "made" });
  }
}

async function isSubjectTaken(run: Run, subject: string | null, userId: string): Promise<boolean> {
  if (subject === null) return false;
  const { rowCount } = await run.sql.query(
    `select
     from users
     where subject = $1
       and removed_at is null
       and id <> $2`,
    [subject, userId],
  );
  return rowCount !== 0;
}

/**
 * Counts the operator's word as the confirmation of an address, if the file names the user by id or has the
 * address that was confirmed before. A user who was found by an address that an administrator chose still has
 * to confirm it by a login.
 */
async function confirmEmail(run: Run, located: Located, { id, email }: ProvisionUser): Promise<void> {
  const { rowCount } = await run.sql.query(
    `update users
     set confirmed_email = null
     where id = $1
       and confirmed_email is not null
       and ($2 or lower(confirmed_email) = lower($3))`,
    [located.id, id !== undefined, email],
  );
  if (rowCount === 1)
    noteChange(
      run,
      { ...changeOf("users", located), outcome: "changed" },
      { type: "member.updated", resource_type: "user", resource_id: located.id },
    );
}
