/** The faults of a backup as lines: one for each organization and kind. */
import { PEPPER } from "../../auth/api-keys.ts";
import { tryInstanceSecrets } from "../../db/instance/secrets.ts";
import type { Database } from "../../db/pool.ts";
import { countInstanceRows } from "../../db/transfer/backup-rows.ts";
import type { Manifest } from "../../schema/files/backup.ts";
import type { Connection } from "../connect.ts";
import { printLine, printTable } from "../output.ts";
import { MOST_LISTED, type MissingList } from "./backup.ts";
import type { Checked } from "./organization.ts";

const LINES_SHOWN = 20;

export type FaultLine = readonly [organization: string | null, fault: string, count: number];

/** Faults that no existing organization shows: that there is none, or that one is gone. */
export function instanceFaults(
  results: readonly Checked[],
  {
    organization,
    manifest,
    allowEmpty,
  }: {
    readonly organization: string | undefined;
    readonly manifest: Manifest | undefined;
    readonly allowEmpty: boolean;
  },
): FaultLine[] {
  const there = new Set(results.map(({ organization_id }) => organization_id));
  const wanted = (manifest?.database.organizations ?? []).filter(
    ({ id, is_deleted }) => !is_deleted && (organization === undefined || id === organization.toLowerCase()),
  );
  const gone = wanted
    .filter(({ id }) => !there.has(id))
    .map(({ id }): FaultLine => [id, "organization_missing", 1]);
  const mayBeEmpty = allowEmpty || (manifest !== undefined && wanted.length === 0);
  return results.length === 0 && !mayBeEmpty && gone.length === 0 ? [[null, "no_organizations", 1]] : gone;
}

/** Rows of the instance of which the manifest has more, such as its secrets: without them no key works. */
export async function instanceRowFaults(db: Database, manifest: Manifest | undefined): Promise<FaultLine[]> {
  if (manifest === undefined) return [];
  return Object.entries(await countInstanceRows(db)).flatMap(([table, found]): FaultLine[] => {
    const saved = manifest.database.rows[table] ?? 0;
    return found < saved ? [[null, `rows_missing ${table}`, saved - found]] : [];
  });
}

/** A missing pepper is a fault: every instance with organizations has one, which its API keys need. */
export async function secretFaults({ db, masterKey }: Connection): Promise<FaultLine[]> {
  const { opened, closed } = await tryInstanceSecrets(db, await masterKey());
  return [...opened, ...closed].includes(PEPPER) ? [] : [[null, `secret_missing ${PEPPER}`, 1]];
}

export function faultsOf({ organization_id, counts, fewer_rows }: Checked): FaultLine[] {
  const rows = Object.entries(fewer_rows).map(([table, { manifest, found }]): FaultLine => [
    organization_id,
    `rows_missing ${table}`,
    manifest - found,
  ]);
  return [
    ...Object.entries(counts).flatMap(([kind, count]): FaultLine[] =>
      count === 0 ? [] : [[organization_id, kind, count]],
    ),
    ...rows,
  ];
}

export function printFaults(faults: readonly FaultLine[], { listed, more }: MissingList): void {
  printTable(
    ["ORGANIZATION", "FAULT", "COUNT"],
    faults.map(([id, fault, count]) => [id ?? "-", fault, String(count)]),
  );
  if (faults.some(([, fault]) => fault === "no_organizations"))
    printLine(
      "There is no organization: nothing was restored into this database. " +
        "If that is expected, pass --allow-empty.",
    );
  if (listed.length === 0) return;
  const shown = listed.slice(0, LINES_SHOWN);
  printTable(
    ["DOCUMENT", "WHAT", "ID", "FAULT"],
    shown.map(({ document_id, kind, id, fault }) => [document_id ?? "-", kind, id ?? "-", fault]),
  );
  const left = listed.length - shown.length + more;
  if (left > 0) printLine(`and ${left} more; --json lists the first ${MOST_LISTED}`);
}
