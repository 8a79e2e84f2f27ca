/** How commands list all organizations, or find one by its id. */
import type { Database, OrganizationRef } from "../db/pool.ts";
import { listOrganizationsAfter } from "../db/tenancy/organizations.ts";
import { CommandError } from "./output.ts";

const ORGANIZATIONS_A_PAGE = 100;

/** @throws CommandError if there is none with that id */
export async function everyOrganization(db: Database, id: string | undefined): Promise<OrganizationRef[]> {
  const all: OrganizationRef[] = [];
  for (;;) {
    const page = await listOrganizationsAfter(db.system, all.at(-1)?.num ?? 0, ORGANIZATIONS_A_PAGE);
    all.push(...page);
    if (page.length < ORGANIZATIONS_A_PAGE) break;
  }
  if (id === undefined) return all;
  const found = all.filter((one) => one.id === id.toLowerCase());
  if (found.length === 0) throw new CommandError(`There is no organization with the id ${id}.`);
  return found;
}
