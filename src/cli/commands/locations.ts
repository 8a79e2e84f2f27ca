/** `holdfast locations`: says how many documents have to be reprocessed until all know where they stand. */
import type { Command } from "commander";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { listLocatedDocuments, type LocatedDocument } from "../../db/upkeep/unlocated.ts";
import { withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { printJson, printLine, printTable } from "../output.ts";
import { eachShown, startProgress } from "../progress.ts";

interface Options {
  readonly organization?: string;
  readonly documents?: boolean;
  readonly json?: boolean;
}

interface Counts {
  readonly organization_id: string;
  /** Documents with a published version. */
  readonly documents: number;
  readonly without_locations: number;
}

const DOCUMENTS_A_PAGE = 500;

export function addLocationsCommand(program: Command): void {
  program
    .command("locations")
    .description(
      "count documents that a version before 0.9.0 processed, so that their chunks have no locations; " +
        "reprocessing gives them theirs",
    )
    .option("--organization <id>", "this organization alone")
    .option("--documents", "print the ids of these documents instead, one a line")
    .option("--json", "print JSON")
    .action(countLocations);
}

async function countLocations({ organization, documents, json }: Options): Promise<void> {
  const results = await withDatabase(async ({ db }) =>
    eachShown(
      startProgress("organizations", { json: json || documents }),
      await everyOrganization(db, organization),
      (one) => lookAt(db, one, documents === true),
    ),
  );
  const ids = results.flatMap((result) => result.ids);
  const counts = results.map((result) => result.counts);
  if (documents) {
    if (json) printJson(ids);
    else for (const id of ids) printLine(id);
    return;
  }
  if (json) return printJson({ organizations: counts });
  const lacking = counts.filter((one) => one.without_locations > 0);
  if (lacking.length === 0) return printLine("every document knows its locations");
  printTable(
    ["ORGANIZATION", "DOCUMENTS", "WITHOUT LOCATIONS"],
    lacking.map((one) => [one.organization_id, String(one.documents), String(one.without_locations)]),
  );
  printLine("POST /v1/data/batch-reprocess gives them theirs; --documents prints their ids");
}

/** @param keepsIds Else only counts, as an organization may have millions of documents. */
async function lookAt(
  db: Database,
  organization: OrganizationRef,
  keepsIds: boolean,
): Promise<{ counts: Counts; ids: string[] }> {
  const ids: string[] = [];
  let documents = 0;
  let lacking = 0;
  for (let after: string | null = null; ;) {
    const page: LocatedDocument[] = await inTenant(db, organization, (sql) =>
      listLocatedDocuments(sql, after, DOCUMENTS_A_PAGE),
    );
    const found = page.filter((document) => document.lacks_locations);
    documents += page.length;
    lacking += found.length;
    if (keepsIds) for (const { id } of found) ids.push(id);
    if (page.length < DOCUMENTS_A_PAGE) break;
    after = page.at(-1)!.id;
  }
  return { counts: { organization_id: organization.id, documents, without_locations: lacking }, ids };
}
