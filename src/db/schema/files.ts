/** The files of the schema, and the migrations of 0.10 that they stand for. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** In their order: each refers to those before it. */
const FILES = [
  "access",
  "tenancy",
  "keys",
  "callers",
  "documents",
  "runs",
  "search",
  "agents",
  "turns",
  "audit",
  "webhooks",
  "events",
  "event-sources",
  "receipts",
  "stores",
  "responses",
  "mcp",
  "instance",
  "closing",
  "integrity",
];

/** A new database notes these names as applied, because 0.10 looks for them; one of 0.10 has them. */
export const MIGRATIONS_OF_0_10: readonly string[] = [
  "0001_tenancy.sql",
  "0002_documents.sql",
  "0003_search.sql",
  "0004_agents.sql",
  "0005_maintenance.sql",
  "0006_kept_turns.sql",
  "0007_audit_chain.sql",
  "0008_rate_limits.sql",
  "0009_operations.sql",
  "0010_vector_indexes.sql",
  "0011_lanes_and_waits.sql",
  "0012_refused_chunks.sql",
  "0013_turns_of_outboxes.sql",
  "0014_keys.sql",
  "0015_cut_overs.sql",
  "0016_logins.sql",
  "0017_documents_of_answers.sql",
  "0018_emails.sql",
  "0019_turns_of_user.sql",
  "0020_events.sql",
  "0021_webhooks.sql",
  "0022_locations.sql",
  "0024_require_support.sql",
  "0025_receipts.sql",
  "0026_attempts.sql",
  "0027_agent_history.sql",
  "0028_processes.sql",
  "0029_vector_stores.sql",
  "0030_responses.sql",
  "0031_mcp.sql",
  "0032_chunk_headers.sql",
  "0033_language_fit.sql",
  "0034_reranks.sql",
  "0035_response_items.sql",
  "0040_agents_told.sql",
  "0041_ownership.sql",
];

/** The statements that make a database as 0.10 left it, without policies and rights. */
export async function readSchema(): Promise<string> {
  const texts = await Promise.all(
    FILES.map((name) => readFile(join(import.meta.dirname, `${name}.sql`), "utf8")),
  );
  return texts.join("\n");
}
