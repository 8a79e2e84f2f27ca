/** `holdfast headers`: says how much was embedded with headers, and how much before there were any. */
import type { Command } from "commander";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { countHeaders, type HeaderCounts } from "../../db/upkeep/without-headers.ts";
import { withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { printJson, printLine, printTable } from "../output.ts";
import { eachShown, startProgress } from "../progress.ts";

interface Options {
  readonly organization?: string;
  readonly space?: string;
  readonly documents?: boolean;
  readonly json?: boolean;
}

interface Counts {
  readonly organization_id: string;
  /** Documents with a published version. */
  readonly documents: number;
  /** Those with a chunk that was embedded without a header. */
  readonly documents_without_headers: number;
  readonly chunks: number;
  readonly chunks_without_headers: number;
}

const DOCUMENTS_A_PAGE = 500;

export function addHeadersCommand(program: Command): void {
  program
    .command("headers")
    .description(
      "count documents and chunks that are embedded and indexed with titles and headings, and those of " +
        "versions before 0.10.0, which are not; reprocessing changes that",
    )
    .option("--organization <id>", "this organization alone")
    .option("--space <id>", "this space alone")
    .option("--documents", "print the ids of documents without headers instead, one a line")
    .option("--json", "print JSON")
    .action(printHeaders);
}

async function printHeaders({ organization, space, documents, json }: Options): Promise<void> {
  const results = await withDatabase(async ({ db }) =>
    eachShown(
      startProgress("organizations", { json: json || documents }),
      await everyOrganization(db, organization),
      (one) => lookAt(db, one, { spaceId: space ?? null, keepsIds: documents === true }),
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
  printTable(
    ["ORGANIZATION", "DOCUMENTS", "WITHOUT HEADERS", "CHUNKS", "WITHOUT HEADERS"],
    counts.map(({ organization_id, ...numbers }) => [organization_id, ...Object.values(numbers).map(String)]),
  );
  if (counts.some((one) => one.chunks_without_headers > 0))
    printLine("POST /v1/data/batch-reprocess gives them theirs; --documents prints their ids");
}

/** @param keepsIds Else only counts, as an organization may have millions of documents. */
async function lookAt(
  db: Database,
  organization: OrganizationRef,
  { spaceId, keepsIds }: { readonly spaceId: string | null; readonly keepsIds: boolean },
): Promise<{ counts: Counts; ids: string[] }> {
  const ids: string[] = [];
  const counts = { documents: 0, documents_without_headers: 0, chunks: 0, chunks_without_headers: 0 };
  for (let after: string | null = null; ;) {
    const page: HeaderCounts[] = await inTenant(db, organization, (sql) =>
      countHeaders(sql, spaceId, { after, limit: DOCUMENTS_A_PAGE }),
    );
    for (const document of page) {
      const isWithout = document.chunks_without_headers > 0;
      counts.documents += 1;
      counts.documents_without_headers += isWithout ? 1 : 0;
      counts.chunks += document.chunks;
      counts.chunks_without_headers += document.chunks_without_headers;
      if (isWithout && keepsIds) ids.push(document.id);
    }
    if (page.length < DOCUMENTS_A_PAGE) break;
    after = page.at(-1)!.id;
  }
  return { counts: { organization_id: organization.id, ...counts }, ids };
}
