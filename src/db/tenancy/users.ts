/** Finds users by the subject of a token and by their e-mail address. */
import type { OrganizationRole } from "../../domain/tenancy/principal.ts";
import type { CallerRow } from "../keys/callers.ts";
import { type Database, type OrganizationRef, queryOnce } from "../pool.ts";

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
  /** Users who wait for a first login with the same e-mail address, if several: nobody is bound then. */
  readonly ambiguous: readonly string[];
}

/** Finds the user bound to the token's subject, else binds the one who waits with `verifiedEmail`. */
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

/** So many organizations with a user of one e-mail address are listed. */
const MAX_NAMESAKES = 100;

export interface FoundUser {
  readonly user: UserRow;
  readonly organization: OrganizationRef & { readonly name: string };
}

/** Finds users by e-mail address for the command line: at most one in each organization, 100 in all. */
export async function findUsersByEmail(db: Database, email: string): Promise<FoundUser[]> {
  const { rows } = await queryOnce<
    UserRow & { organization_id: string; organization_num: number; organization_name: string }
  >(
    db.maintenance,
    `select member.id,
            member.email,
            member.name,
            member.avatar_url,
            member.role,
            member.subject,
            organization.id as organization_id,
            organization.num as organization_num,
            organization.name as organization_name
     from users member
     join organizations organization on organization.id = member.organization_id
     where lower(member.email) = lower($1)
       and member.removed_at is null
       and organization.deleted_at is null
     order by organization.name, organization.id
     limit $2`,
    [email, MAX_NAMESAKES],
  );
  return rows.map(({ organization_id: id, organization_num: num, organization_name: name, ...user }) => ({
    user,
    organization: { id, num, name },
  }));
}

/** So many people are listed at once. */
const MAX_LISTED = 100;

export interface ListedUser {
  readonly id: string;
  /** Of one who has not signed in yet the id, which the first sign-in binds by the e-mail address. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly organization: string;
}

const LISTED = `
  select member.id,
         coalesce(member.subject, member.id::text) as subject,
         member.email,
         member.name,
         member.role,
         organization.name as organization
  from users member
  join organizations organization on organization.id = member.organization_id
  where member.removed_at is null
    and organization.deleted_at is null`;

/** All organizations' users for the development issuer: at most 100 with `text` in name or address. */
export async function listUsers(db: Database, text: string): Promise<ListedUser[]> {
  const { rows } = await queryOnce<ListedUser>(
    db.maintenance,
    `${LISTED}
       and strpos(lower(member.name || ' ' || member.email || ' ' || organization.name), lower($1)) > 0
     order by organization.name, member.name, member.id
     limit $2`,
    [text, MAX_LISTED],
  );
  return rows;
}

/** @param subject as {@link ListedUser} has it */
export async function findUserBySubject(db: Database, subject: string): Promise<ListedUser | undefined> {
  const { rows } = await queryOnce<ListedUser>(
    db.maintenance,
    `${LISTED}
       and coalesce(member.subject, member.id::text) = $1
     limit 1`,
    [subject],
  );
  return rows[0];
}
