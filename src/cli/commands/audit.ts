/** `holdfast audit verify | anchor | public-key`: checks the chains of audit rows and signs their heads. */
import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { anchorPublicKey, makeAnchor, storeAnchor } from "../../auth/audit-anchor.ts";
import { AUDIT_CHAIN_SECRET } from "../../db/audit/chain.ts";
import { verifyAuditChain } from "../../db/audit/chain-check.ts";
import { ANCHOR_SECRET, anchorName } from "../../domain/anchor.ts";
import { openObjectStore } from "../../storage/open-store.ts";
import { type AnchorReport, IN_STORE, checkAnchors } from "../audit-anchors.ts";
import { type Connection, withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { CommandError, printJson, printLine, printTable } from "../output.ts";
import { eachShown, startProgress } from "../progress.ts";

interface Options {
  readonly organization?: string;
  readonly expect?: string;
  readonly anchors?: string;
  readonly json?: boolean;
}

export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("the audit log");
  audit
    .command("verify")
    .description(
      "verify the chain of every organization's audit rows; exits with 1 if a row was changed or " +
        "removed",
    )
    .option("--organization <id>", "only this organization")
    .option("--expect <seq:hash>", "a head printed earlier, which must still be in the organization's chain")
    .option(
      "--anchors <where>",
      `also compare the chains with these anchors: a file, a folder, or \`${IN_STORE}\` for those in the ` +
        "object store",
    )
    .option("--json", "print JSON")
    .action(verify);
  audit
    .command("anchor")
    .description(
      "sign the heads of all chains and write them to the object store; maintenance does this daily",
    )
    .option("--to <file>", "write them to this new file instead")
    .option("--json", "print JSON")
    .action(anchor);
  audit
    .command("public-key")
    .description("print the public key for verifying anchors, as a JWK")
    .action(showPublicKey);
}

type Report = { readonly organization_id: string } & Awaited<ReturnType<typeof verifyAuditChain>>;

async function verify(options: Options): Promise<void> {
  const { organization, json } = options;
  if (options.expect !== undefined && organization === undefined)
    throw new CommandError("--expect requires --organization, because each organization has its own chain.");
  const { organizations, anchors } = await withDatabase(async (connection) => ({
    organizations: await verifyChains(connection, options),
    anchors:
      options.anchors === undefined
        ? undefined
        : await readReports(connection, options.anchors, organization),
  }));
  if (organizations.length === 0 && organization !== undefined) assertNamed(anchors ?? [], organization);
  const ok =
    organizations.every(({ fault }) => fault === null) &&
    (anchors ?? []).every(({ problem, fault_count: faults }) => problem === null && faults === 0);
  if (json) printJson({ ok, organizations, ...(anchors === undefined ? {} : { anchors }) });
  else {
    printChains(organizations);
    if (anchors !== undefined) printAnchors(anchors);
  }
  if (!ok) process.exitCode = 1;
}

/** @throws CommandError if no anchor names the deleted organization, because then nothing was checked */
function assertNamed(anchors: readonly AnchorReport[], organization: string): void {
  const isNamed = anchors.some((one) => one.intact + one.expired + one.deleted_count + one.fault_count > 0);
  if (!isNamed)
    throw new CommandError(`There is no organization ${organization}, and no anchor mentions it.`);
}

async function verifyChains(
  { db, secret }: Connection,
  { organization, expect, anchors, json }: Options,
): Promise<Report[]> {
  const expected = expect === undefined ? undefined : parseHead(expect);
  const key = await secret(AUDIT_CHAIN_SECRET);
  // Anchors can be checked for a deleted organization; --expect needs its chain, so there the error stays.
  const all = await everyOrganization(db, organization).catch((error: unknown) => {
    if (anchors !== undefined && expect === undefined && error instanceof CommandError) return [];
    throw error;
  });
  return eachShown(startProgress("organizations", { json }), all, async (one) => ({
    organization_id: one.id,
    ...(await verifyAuditChain(db, key, one.id, expected)),
  }));
}

async function readReports(
  { db, secret, config }: Connection,
  where: string,
  organizationId: string | undefined,
): Promise<AnchorReport[]> {
  const check = {
    db,
    secret: await secret(ANCHOR_SECRET),
    store: await openObjectStore(config.storage),
    organizationId,
  };
  const reports: AnchorReport[] = [];
  for await (const report of checkAnchors(check, where)) reports.push(report);
  return reports;
}

async function anchor({ to, json }: { readonly to?: string; readonly json?: boolean }): Promise<void> {
  const made = await withDatabase(async ({ db, secret, config }) => {
    const now = new Date();
    const { jws, organizations } = await makeAnchor(db, await secret(ANCHOR_SECRET), now);
    const name = to ?? anchorName(now);
    if (to === undefined) await storeAnchor(await openObjectStore(config.storage), name, jws);
    else await writeNew(to, jws);
    return { anchor: name, organizations };
  });
  if (json) printJson(made);
  else printLine(`${describeHeads(made.organizations)} signed in ${made.anchor}`);
}

function describeHeads(chains: number): string {
  return chains === 1 ? "the head of 1 chain is" : `the heads of ${chains} chains are`;
}

/** Refuses to overwrite a file. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, `${text}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new CommandError(`${file} already exists. Anchors are never overwritten.`);
    if (code === "ENOENT") throw new CommandError(`The folder of ${file} does not exist.`);
    throw error;
  }
}

async function showPublicKey(): Promise<void> {
  printJson(await withDatabase(async ({ secret }) => anchorPublicKey(await secret(ANCHOR_SECRET))));
}

function printChains(reports: readonly Report[]): void {
  printTable(
    ["ORGANIZATION", "CHECKED", "NOT CHAINED YET", "FAULT", "HEAD"],
    reports.map((one) => [
      one.organization_id,
      String(one.checked),
      String(one.unchained),
      one.fault ? `${one.fault.kind} at ${one.fault.seq}` : "none",
      `${one.head.seq}:${one.head.hash}`,
    ]),
  );
}

function printAnchors(reports: readonly AnchorReport[]): void {
  printLine("");
  printTable(
    ["ANCHOR", "MADE AT", "INTACT", "TOO OLD TO COMPARE", "DELETED", "FAULTS"],
    reports.map((one) => [
      one.anchor,
      one.made_at ?? "",
      String(one.intact),
      String(one.expired),
      String(one.deleted_count),
      one.problem ?? String(one.fault_count),
    ]),
  );
  for (const { anchor: name, faults, deleted } of reports) {
    for (const { organization_id: id, seq, kind } of faults)
      printLine(`${name}: the chain of ${id} is ${kind} at ${seq}`);
    for (const id of deleted) printLine(`${name}: ${id} has since been deleted`);
  }
}

function parseHead(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new CommandError("--expect takes a head as printed: a number, a colon and 64 hexadecimal digits.");
  return { seq: Number(seq), hash };
}
