/** Makes an organization with what its first administrator needs. */
import { ExpectedFailure } from "../../domain/expected-failure.ts";
import type { ProvisionFile } from "../../domain/tenancy/provision-file.ts";
import { type Database, inTransaction, queryOnce } from "../pool.ts";
import { lockProvisioning, provisionWithin } from "../provisioning/apply.ts";
import type { KeyMaker } from "../provisioning/keys.ts";

export interface MadeOrganization {
  readonly organization_id: string;
  readonly admin_id: string;
  readonly space_id: string;
  /** The text of the key, which is stored nowhere. */
  readonly key: string;
}

/**
 * Makes everything that the file names in one transaction, or nothing.
 * @param file one organization with one user who has one key, and one space of that user.
 * @throws ExpectedFailure if there is an organization of that name. Upper and lower case are the same.
 * @throws DomainError `database_unavailable`.
 */
export async function createOrganization(
  db: Database,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<MadeOrganization> {
  const { name } = file.organizations[0]!;
  return inTransaction(db.maintenance, async (sql) => {
    await lockProvisioning(sql);
    const { rows } = await sql.query<{ id: string; is_deleted: boolean }>(
      `select id, deleted_at is not null as is_deleted
       from organizations
       where lower(name) = lower($1)`,
      [name],
    );
    const known = rows[0];
    if (known?.is_deleted)
      throw new ExpectedFailure(
        `An organization called ${name} is being deleted: ` +
          "use another name, or wait until it is gone (holdfast operations list).",
      );
    if (known !== undefined)
      throw new ExpectedFailure(
        `There is an organization called ${name} already (${known.id}): nothing was changed. ` +
          "For another key: holdfast keys create --email EMAIL --name NAME",
      );
    const { changes, keys } = await provisionWithin(sql, file, maker);
    const idOf = (what: string): string => changes.find((change) => change.what.startsWith(what))!.id;
    return {
      organization_id: idOf("organization "),
      admin_id: idOf("user "),
      space_id: idOf("space "),
      key: keys[0]!.key,
    };
  });
}

/** Whether the instance is empty: nobody can be served. @throws DomainError `database_unavailable`. */
export async function hasNoOrganization(db: Database): Promise<boolean> {
  const { rowCount } = await queryOnce(
    db.system,
    `select
     from organizations
     where deleted_at is null
     limit 1`,
  );
  return rowCount === 0;
}
