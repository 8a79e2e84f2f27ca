/** The audit log of an organization, for its admins: in pages, or whole as NDJSON. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as pause } from "node:timers/promises";
import { authorize } from "../../../auth/policy.ts";
import { checkChainPart } from "../../../db/audit/chain-check.ts";
import { type AuditCursor, readAuditLog, searchAuditLog } from "../../../db/audit/read.ts";
import { readTenant } from "../../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import type { Condition, OrderTerm } from "../../../domain/requests/conditions.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  AuditChainPart,
  AuditChainQuery,
  AuditPage,
  AuditQuery,
  AuditRow,
} from "../../../schema/organization.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import { stream, type StreamAnswer } from "../../response.ts";
import { defineRoute } from "../../route.ts";

const ROWS_A_READ = 1_000;
/** The event loop is free for other requests after each piece. */
const ROWS_A_PIECE = 100;
/** Their hashes take about 120 ms, in ten pieces. */
const CHAINED_ROWS_AN_ANSWER = 10_000;
const NDJSON = "application/x-ndjson";

const getAuditLog = defineRoute("GET /organizations/:organization_id/audit-log", {
  operation: "organizations.audit_log",
  access: "jwt",
  audit: { action: "audit_log:read", resource: "organization" },
  summary: "Read an organization's audit log.",
  description:
    "For admins. Each change, each read and each refusal is a row, kept in a chain of hashes. " +
    "With `format=ndjson` every row that the filters let through, one JSON object a line, in the " +
    "order of `at`. An export that breaks off ends with a cut connection.",
  query: AuditQuery,
  response: AuditPage,
  otherContent: { [NDJSON]: { schema: AuditRow, description: "With `format=ndjson`: one row a line" } },
  async handle({ deps, principal, read, params, query }) {
    authorize(principal, "organization:manage", params);
    if (query.format === "ndjson") return exportRows(deps, principal, query);
    return pageOf(await read((sql) => searchAuditLog(sql, params.organization_id, query, query)), query);
  },
});

const checkChain = defineRoute("GET /organizations/:organization_id/audit-log/chain", {
  operation: "organizations.audit_log.chain",
  access: "jwt",
  audit: { action: "audit_log:verify", resource: "organization" },
  summary: "Verify that no row of the audit log was changed or removed.",
  description:
    "For admins. Recomputes the chain of hashes, up to 10,000 rows an answer: ask on with " +
    "`after` until `next` is null. `holdfast audit verify` also compares it with the anchors " +
    "that are signed each day.",
  query: AuditChainQuery,
  response: AuditChainPart,
  async handle({ deps, principal, params, query: { after } }) {
    authorize(principal, "organization:manage", params);
    const part = await readTenant(
      deps.db,
      principal.organization,
      (sql) =>
        checkChainPart(sql, {
          secret: deps.auditChainSecret,
          organizationId: params.organization_id,
          after,
          limit: CHAINED_ROWS_AN_ANSWER,
        }),
      "isolation level repeatable read",
    );
    if (part === undefined)
      throw new ValidationProblems([valueError(["query", "after"], "the chain ends before this row")]);
    return part;
  },
});

export const auditLogRoutes = [getAuditLog, checkChain];

interface Export {
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/**
 * Each read is a transaction of its own, so that a slow client holds no connection to the database. The first
 * read comes before the head of the answer, so that its failure is answered with a status.
 */
async function exportRows(
  { db }: Deps,
  { organization }: Principal,
  { filters, order_by: order }: Export,
): Promise<StreamAnswer> {
  if (order.some(({ field }) => field !== "at"))
    throw new ValidationProblems([
      valueError(["query", "order_by"], "ndjson is in the order of at: at, -at"),
    ]);
  const until = new Date();
  const descending = order[0]?.descending ?? true;
  const read = (after: AuditCursor | null) =>
    readTenant(db, organization, (sql) =>
      readAuditLog(sql, {
        organizationId: organization.id,
        filters,
        descending,
        until,
        after,
        limit: ROWS_A_READ,
      }),
    );
  const first = await read(null);

  async function* lines(): AsyncGenerator<string> {
    for (let part = first; ; part = await read(part.next)) {
      for (let at = 0; at < part.rows.length; at += ROWS_A_PIECE) {
        const rows = part.rows.slice(at, at + ROWS_A_PIECE);
        yield rows.map((row) => `${JSON.stringify(AuditRow.parse(row))}\n`).join("");
        await pause();
      }
      if (part.next === null) return;
    }
  }

  return stream(async (res) => {
    res.writeHead(200, { "Content-Type": NDJSON });
    await pipeline(Readable.from(lines()), res);
  });
}
