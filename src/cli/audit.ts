/** `holdfast audit verify` */
import type { Command } from "commander";
import { AUDIT_CHAIN_SECRET, verifyAuditChain } from "../db/audit-chain.ts";
import { withDatabase } from "./connect.ts";
import { everyOrganization } from "./organizations.ts";
import { CommandError, printJson, printTable } from "./output.ts";
import { eachShown, startProgress } from "./progress.ts";

interface Options {
  readonly organization?: string;
  readonly expect?: string;
  readonly json?: boolean;
}

export function addAuditCommand(program: Command): void {
  program
    .command("audit")
    .description("the audit log")
    .command("verify")
    .description("recompute the chain of every organization's audit rows; exits with 1 where a row was changed or removed")
    .option("--organization <id>", "this organization alone")
    .option("--expect <seq:hash>", "a head that was printed before: it must still stand in the organization's chain")
    .option("--json", "print JSON")
    .action(verify);
}

async function verify({ organization, expect, json }: Options): Promise<void> {
  if (expect !== undefined && organization === undefined) throw new CommandError("--expect needs --organization: each has a chain of its own.");
  const expected = expect === undefined ? undefined : parseHead(expect);
  const reports = await withDatabase(async ({ db, secret }) => {
    const key = await secret(AUDIT_CHAIN_SECRET);
    const all = await everyOrganization(db, organization);
    return eachShown(startProgress("organizations", { json }), all, async (one) => ({ organization_id: one.id, ...(await verifyAuditChain(db, key, one.id, expected)) }));
  });
  const ok = reports.every(({ fault }) => fault === null);
  if (json) printJson({ ok, organizations: reports });
  else
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
  if (!ok) process.exitCode = 1;
}

function parseHead(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new CommandError("--expect takes what HEAD showed: a number, a colon and 64 hexadecimal digits.");
  return { seq: Number(seq), hash };
}
