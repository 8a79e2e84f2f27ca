/** All SQL on `users`. */
import type { OrganizationRole } from "../domain/principal.ts";
import type { CallerRow } from "./api-keys.ts";
import { type Database, type OrganizationKey, queryOnce } from "./pool.ts";

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly role: OrganizationRole;
  readonly subject: string | null;
}

/** The user bound to the token's subject; a subject that nobody has is bound to the user with its verified e-mail. */
export async function findSubjectCaller(db: Database, subject: string, verifiedEmail: string | null): Promise<CallerRow | null> {
  const { rows } = await queryOnce<{ caller: CallerRow | null }>(db.app, {
    name: "authenticate_subject",
    text: "select authenticate_subject($1, $2) as caller",
    values: [subject, verifiedEmail],
  });
  return rows[0]?.caller ?? null;
}

/** For the command line, which serves no tenant: a user of any organization, by e-mail. */
export async function findUserByEmail(db: Database, email: string): Promise<{ user: UserRow; organization: OrganizationKey } | undefined> {
  const { rows } = await queryOnce<UserRow & { organization_id: string; organization_num: number }>(
    db.maintenance,
    `select u.id, u.email, u.name, u.avatar_url, u.role, u.subject, o.id as organization_id, o.num as organization_num
     from users u join organizations o on o.id = u.organization_id where lower(u.email) = lower($1) and u.removed_at is null and o.deleted_at is null`,
    [email],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const { organization_id: id, organization_num: num, ...user } = row;
  return { user, organization: { id, num } };
}
