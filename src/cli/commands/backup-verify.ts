/** `holdfast backup verify`: checks that a restored backup can be served. */
import { readManifest } from "../../backup/manifest.ts";
import { countStoredFiles } from "../../db/files/object-names.ts";
import { type Database, type OrganizationRef, inTenant } from "../../db/pool.ts";
import { withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { counted, printJson, printLine } from "../output.ts";
import { startProgress } from "../progress.ts";
import { type MissingList, openBackup } from "../verify/backup.ts";
import { faultsOf, instanceFaults, instanceRowFaults, printFaults, secretFaults } from "../verify/faults.ts";
import { type Checked, checkOrganization } from "../verify/organization.ts";

interface Options {
  readonly organization?: string;
  readonly manifest?: string;
  readonly allowEmpty?: boolean;
  readonly quick?: boolean;
  readonly json?: boolean;
}

export async function verify(options: Options): Promise<void> {
  const { organization, quick = false, json, allowEmpty = false } = options;
  const manifest = options.manifest === undefined ? undefined : await readManifest(options.manifest);
  const missing: MissingList = { listed: [], more: 0 };
  const { results, ofInstance } = await withDatabase(async (connection) => {
    const all = await everyOrganization(connection.db, organization);
    const ofInstance = [
      ...(await instanceRowFaults(connection.db, manifest)),
      ...(all.length === 0 ? [] : await secretFaults(connection)),
    ];
    const progress = await fileProgress(connection.db, quick ? [] : all, json);
    try {
      const backup = {
        ...(await openBackup(connection, quick)),
        manifest,
        missing,
        onFiles: (read: number) => progress.add(read),
      };
      const checked: Checked[] = [];
      for (const one of all) checked.push(await checkOrganization(backup, one));
      return { results: checked, ofInstance };
    } finally {
      progress.stop();
    }
  });
  const faults = [
    ...ofInstance,
    ...instanceFaults(results, { organization, manifest, allowEmpty }),
    ...results.flatMap(faultsOf),
  ];
  const ok = faults.length === 0;
  if (json)
    printJson({
      ok,
      organizations: results,
      faults: faults.map(([id, fault, count]) => ({ organization_id: id, fault, count })),
      missing: missing.listed,
      missing_more: missing.more,
    });
  else if (ok) printLine(describeWhole(results));
  else printFaults(faults, missing);
  if (!ok) process.exitCode = 1;
}

function describeWhole(results: readonly Checked[]): string {
  const files = results.reduce((sum, { files_read }) => sum + files_read, 0);
  return (
    `${counted(results.length, "organization")} can be served from this backup; ` +
    `${counted(files, "file")} ${files === 1 ? "was" : "were"} read`
  );
}

/** Shows how many files have been read, of all organizations together. */
async function fileProgress(
  db: Database,
  organizations: readonly OrganizationRef[],
  json: boolean | undefined,
): Promise<{ add(files: number): void; stop(): void }> {
  const progress = startProgress("files", { json });
  let total = 0;
  let done = 0;
  for (const one of organizations) total += await inTenant(db, one, (sql) => countStoredFiles(sql, one.id));
  return {
    add(files) {
      done += files;
      progress.show({}, done, total);
    },
    stop: () => progress.stop(),
  };
}
