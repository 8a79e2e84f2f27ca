/** `holdfast integrity`: compares stored objects and rows with everything that names them. */
import type { Command } from "commander";
import type { IntegrityCounts } from "../../db/upkeep/organization-integrity.ts";
import { countFaults } from "../../integrity/organization.ts";
import { findNamed, findUnnamed } from "../../db/files/object-names.ts";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openObjectStore } from "../../storage/open-store.ts";
import { withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { counted, printJson, printLine, printTable } from "../output.ts";
import { eachShown, startProgress } from "../progress.ts";

interface Options {
  readonly organization?: string;
  readonly json?: boolean;
}

/** Faults of an organization; each count must be 0. */
interface Counts extends IntegrityCounts {
  /** Objects that are older than a day and that no row names. */
  readonly objects_without_row: number;
  readonly rows_without_object: number;
}

const OBJECTS_A_PAGE = 1_000;
/** An object is stored before its row is written; maintenance spares younger objects too. */
const ORPHAN_AGE_MS = 24 * 60 * 60_000;

export function addIntegrityCommand(program: Command): void {
  program
    .command("integrity")
    .description(
      "check that stored data and its references are consistent; exits with 1 if something is wrong",
    )
    .option("--organization <id>", "only this organization")
    .option("--json", "print JSON")
    .action(checkIntegrity);
}

async function checkIntegrity({ organization, json }: Options): Promise<void> {
  const results = await withDatabase(async ({ db, config }) => {
    const store = await openObjectStore(config.storage);
    const check = async (one: OrganizationRef): Promise<Counts> => ({
      ...(await countFaults(db, one)),
      ...(await compareObjects(db, store, one)),
    });
    return eachShown(
      startProgress("organizations", { json }),
      await everyOrganization(db, organization),
      async (one) => ({ organization_id: one.id, counts: await check(one) }),
    );
  });
  const faults = results.flatMap(({ organization_id, counts }) =>
    Object.entries(counts).flatMap(([kind, count]) =>
      count === 0 ? [] : [[organization_id, kind, String(count)] as const],
    ),
  );
  const ok = faults.length === 0;
  if (json) printJson({ ok, organizations: results });
  else if (ok)
    printLine(
      `${counted(results.length, "organization")} ${results.length === 1 ? "is" : "are"} whole: ` +
        "nothing is missing and nothing was left behind",
    );
  else printTable(["ORGANIZATION", "FAULT", "COUNT"], faults);
  if (!ok) process.exitCode = 1;
}

/**
 * Reads the names of objects from the store and from rows in byte order, page by page.
 * @param onAbsent called with names that rows have and the store has not
 */
export async function compareObjects(
  db: Database,
  store: ObjectStore,
  organization: OrganizationRef,
  onAbsent: (names: readonly string[]) => Promise<void> | void = () => undefined,
): Promise<{ objects_without_row: number; rows_without_object: number }> {
  let withoutRow = 0;
  let withoutObject = 0;
  let after = "";
  for (;;) {
    const page = await store.list(organization.id, {
      limit: OBJECTS_A_PAGE,
      ...(after === "" ? {} : { after }),
    });
    const last = page.length < OBJECTS_A_PAGE ? null : page.at(-1)!.name;
    const old = page
      .filter((object) => Date.now() - object.updatedAt.getTime() > ORPHAN_AGE_MS)
      .map((object) => object.name);
    const [unnamed, named] = await inTenant(
      db,
      organization,
      async (sql) => [await findUnnamed(sql, old), await findNamed(sql, after, last)] as const,
    );
    const present = new Set(page.map((object) => object.name));
    const unseen = named.filter((name) => !present.has(name));
    const areAbsent = await Promise.all(unseen.map((name) => isAbsent(store, name)));
    const absent = unseen.filter((_, index) => areAbsent[index]);
    if (absent.length > 0) await onAbsent(absent);
    withoutRow += unnamed.length;
    withoutObject += absent.length;
    if (last === null) return { objects_without_row: withoutRow, rows_without_object: withoutObject };
    after = last;
  }
}

/** Asks for the object itself: it may have been stored after the page was read. */
async function isAbsent(store: ObjectStore, name: string): Promise<boolean> {
  try {
    await store.size(name);
    return false;
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return true;
    throw error;
  }
}
