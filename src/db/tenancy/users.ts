/** All SQL on `users`. */
import type { OrganizationRole } from "../../domain/tenancy/principal.ts";
import type { CallerRow } from "../keys/callers.ts";
import { type Database, type OrganizationKey, queryOnce } from "../pool.ts";

interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly role: OrganizationRole;
  readonly subject: string | null;
}

interface FoundSubject {
  readonly caller: CallerRow | null;
  /** Ids of users who wait for a first login with the same verified e-mail address, where there are several: nobody is bound then. */
  readonly ambiguous: readonly string[];
}

/** The user bound to the token's subject; a subject that nobody has is bound to the one user who waits for a first login with its verified e-mail. */
export async function findSubjectCaller(
  db: Database,
  subject: string,
  verifiedEmail: string | null,
): Promise<FoundSubject> {
  const { rows } = await queryOnce<{ found: FoundSubject }>(db.app, {
    name: "authenticate_token",
    text: "select authenticate_token($1, $2) as found",
    values: [subject, verifiedEmail],
  });
  return rows[0]!.found;
}

/** More organizations with one e-mail address are not told apart by name. */
const MAX_NAMESAKES = 100;

export interface FoundUser {
  readonly user: UserRow;
  readonly organization: OrganizationKey & { readonly name: string };
}

/** For the command line, which serves no tenant: users by e-mail, at most one in each organization. */
export async function findUsersByEmail(db: Database, email: string): Promise<FoundUser[]> {
  const { rows } = await queryOnce<
    UserRow & { organization_id: string; organization_num: number; organization_name: string }
  >(
    db.maintenance,
    `select u.id, u.email, u.name, u.avatar_url, u.role, u.subject, o.id as organization_id, o.num as organization_num, o.name as organization_name
     from users u join organizations o on o.id = u.organization_id where lower(u.email) = lower($1) and u.removed_at is null and o.deleted_at is null
     order by o.name, o.id limit ${MAX_NAMESAKES}`,
    [email],
  );
  return rows.map(({ organization_id: id, organization_num: num, organization_name: name, ...user }) => ({
    user,
    organization: { id, num, name },
  }));
}
