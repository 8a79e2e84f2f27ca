/** Finds the user with an e-mail address, which users of several organizations may share. */
import type { Database } from "../db/pool.ts";
import { findUsersByEmail, type FoundUser } from "../db/tenancy/users.ts";
import { CommandError } from "./output.ts";

/**
 * @param organization its id or name; may be absent if only one user has the address.
 * @throws CommandError if no user or several have it
 */
export async function theUser(
  db: Database,
  email: string,
  organization: string | undefined,
): Promise<FoundUser> {
  const wanted = organization?.toLowerCase();
  const found = (await findUsersByEmail(db, email)).filter(
    (one) =>
      wanted === undefined ||
      one.organization.id === wanted ||
      one.organization.name.toLowerCase() === wanted,
  );
  const [first, ...others] = found;
  if (first === undefined)
    throw new CommandError(
      `There is no user with the e-mail address ${email}` +
        `${wanted === undefined ? "" : ` in ${organization}`}.`,
    );
  if (others.length > 0)
    throw new CommandError(
      `Users of ${found.map((one) => one.organization.name).join(", ")} have the e-mail address ${email}: ` +
        "choose one with --organization.",
    );
  return first;
}
