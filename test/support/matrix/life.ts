/**
 * Changes and deletes what the matrix test did not touch, so that every query function runs at least once
 * while the stack's processes record their statements.
 */
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { call, ended, fileForm, upload } from "../clients/client.ts";
import { runSchedule } from "../stack/maintenance.ts";
import { runCli } from "../stack/processes.ts";
import type { Stack } from "../stack/stack.ts";
import { ACME, AGENTS, KEYS, SPACES } from "../tenants/tenants.ts";
import { useMcp } from "./mcp-life.ts";
import { until } from "../until.ts";
import { makeResponses } from "./live-responses.ts";
import { measureSpace } from "./measure-space.ts";
import { useStores } from "./use-stores.ts";

type As = (method: string, path: string, body?: unknown) => ReturnType<typeof call>;

/** @param admin access token of Acme's admin, who owns Research and Archive. */
export async function liveOn(stack: Stack, admin: string): Promise<void> {
  const { url } = stack;
  const owner: As = (...request) => call(url, KEYS.owner, ...request);
  const signedIn: As = (...request) => call(url, admin, ...request);
  await moveAndReplace(stack, owner);
  await refuseSome(stack, owner);
  await measureSpace(stack, admin);
  await changePeople(stack, signedIn);
  await changeWebhooks(signedIn);
  await verifyReceipts(stack, owner);
  await makeResponses(stack);
  await useStores(stack, owner);
  await useMcp(stack);
  await runCli(
    [
      "organization",
      "export",
      ACME,
      "--to",
      join(stack.dataDir, "archive"),
      "--key-file",
      join(stack.dataDir, "archive.key"),
    ],
    stack.env,
  );
  await runCli(["backup", "verify"], stack.env);
  await runCli(["keys", "rotate-organization", ACME], stack.env);
  await runCli(["keys", "reencrypt-organization", ACME], stack.env);
  await removeThings(stack, owner, signedIn);
  await maintainOnce(stack);
}

const file = (content: string, path: string) => fileForm(content, "report.txt", { path });
const files = `/spaces/${SPACES.research}/data`;

async function moveAndReplace({ url }: Stack, owner: As): Promise<void> {
  await owner("POST", `${files}/upload`, file("First.", "reports"));
  await owner("POST", `${files}/upload`, file("Second.", "reports"));
  const { body: listed } = await owner("GET", `${files}/files?prefix=reports`);
  await ended(url, KEYS.owner, listed.items[0].document_id);
  await owner("PATCH", `${files}/rename`, {
    old_path: "reports/report.txt",
    new_path: "reports/renamed.txt",
  });
  await owner("PATCH", `${files}/rename`, { old_path: "reports/", new_path: "moved/" });
  const kept = await upload(
    url,
    KEYS.owner,
    SPACES.research,
    "# Kept\n\nOne version after another, with quoted words.",
  );
  await ended(url, KEYS.owner, kept.id);
  await owner("POST", `/data/${kept.id}/reprocess`);
  await ended(url, KEYS.owner, kept.id);
  await owner("POST", `/data/${kept.id}/versions/1/restore`);
  await ended(url, KEYS.owner, kept.id);
  await owner("GET", `/data/${kept.id}/text?format=markdown`);
  const folder = await owner("POST", "/folders", { name: "moved", space_id: SPACES.research });
  await owner("PATCH", `/data/${kept.id}`, { doc_metadata: { changed: true }, folder_id: folder.body.id });
  const other = await owner("POST", "/folders", { name: "other", space_id: SPACES.research });
  await owner("GET", `/data/${kept.id}/deletion`);
  await owner("GET", `/folders/${folder.body.id}/deletion`);
  await owner("PATCH", `/folders/${other.body.id}`, { name: "another", parent_folder_id: folder.body.id });
  await owner("POST", "/data/hybrid-search", {
    query: '"quoted words"',
    space_id: SPACES.research,
    folder_ids: [folder.body.id],
  });
  // Made, and then found.
  for (const paths of [["made/below"], ["made/below", "made/beside"]])
    await owner("POST", "/folders/ensure", { paths, space_id: SPACES.research });
  await owner("POST", "/data/batch-move", { folder_ids: [folder.body.id], folder_id: other.body.id });
  await owner("POST", "/data/batch-move", { document_ids: [kept.id], folder_id: folder.body.id });
  const bad = await upload(url, KEYS.owner, SPACES.research, "", "empty.md");
  await ended(url, KEYS.owner, bad.id);
  const batch = await owner("POST", "/data/batch-reprocess", {
    filters: { space_id__exact: SPACES.research },
  });
  for (const step of ["pause", "resume", "cancel"])
    await owner("POST", `/data/batches/${batch.body.batch_id}/${step}`);
  await owner("GET", `/data/batches/${batch.body.batch_id}/results`);
  await call(url, KEYS.owner, "POST", `/data/${kept.id}/reprocess`, undefined, { "idempotency-key": "once" });
  const [first, second] = [
    await owner("POST", `/data/${kept.id}/reprocess`),
    await owner("POST", `/data/${kept.id}/reprocess`),
  ];
  await owner("POST", `/data/runs/${second.body.pipeline_run_id ?? first.body.pipeline_run_id}/cancel`);
  await ended(url, KEYS.owner, kept.id);
}

/** Uploads a large document that contains one text that the provider refuses. */
async function refuseSome({ provider, url }: Stack, owner: As): Promise<void> {
  const words = Array.from({ length: 26_000 }, (_, index) => `word${index % 9_973}`).join(" ");
  const { id } = await upload(url, KEYS.owner, SPACES.research, words, "words.md");
  await ended(url, KEYS.owner, id);
  provider.poisonTexts((text) => (/\bword77\b/.test(text) ? { status: 400 } : undefined));
  await owner("POST", `/data/${id}/reprocess`, {
    chunker_name: "fixed_tokens",
    chunker_config: { max_tokens: 50 },
  });
  await ended(url, KEYS.owner, id);
  provider.poisonTexts();
}

async function changePeople(stack: Stack, signedIn: As): Promise<void> {
  const userId = "01900000-0000-7000-8000-00000000aaaa";
  await signedIn("PUT", `/organizations/${ACME}/members/${userId}`, {
    email: "passing@acme.example",
    name: "Passing",
    role: "member",
  });
  await signedIn("PUT", `/organizations/${ACME}/members/${userId}`, {
    email: "passing@acme.example",
    name: "Passing through",
    role: "member",
  });
  await signedIn("PUT", `/spaces/${SPACES.archive}/members/${userId}`, { role: "viewer" });
  await signedIn("PUT", `/spaces/${SPACES.archive}/members/${userId}`, { role: "owner" });
  await signedIn("DELETE", `/spaces/${SPACES.archive}/members/${userId}`);
  const made = await signedIn("POST", "/me/api-keys", { name: "short", spaces: [SPACES.archive] });
  await signedIn("POST", `/me/api-keys/${made.body.id}/roll`);
  await signedIn("GET", "/me/access");
  await signedIn("GET", `/spaces/${SPACES.archive}/deletion`);
  await signedIn("GET", `/me/api-keys/${made.body.id}/access`);
  await signedIn("PATCH", `/organizations/${ACME}`, { default_key_lifetime_seconds: 3_600 });
  await signedIn("POST", "/api-keys/revoke-leaked", { keys: [made.body.key] });
  await until(
    "the reported key is revoked",
    async () =>
      (await stack.database.db.owner.query("select from api_keys where revoked_reason = 'leaked'"))
        .rowCount === 1,
  );
  const issued = await signedIn("POST", `/organizations/${ACME}/api-keys`, {
    name: "issued",
    user_id: userId,
  });
  await signedIn("GET", `/organizations/${ACME}/api-keys/${issued.body.id}/access`);
  await signedIn("GET", `/organizations/${ACME}/members/${userId}/access`);
  await signedIn("DELETE", `/organizations/${ACME}/api-keys/${issued.body.id}`);
  await signedIn("GET", `/organizations/${ACME}/members/${userId}/deletion`);
  await signedIn("DELETE", `/organizations/${ACME}/members/${userId}`);
  await signedIn("PATCH", `/spaces/${SPACES.archive}`, { name: "Archived" });
  await signedIn("GET", `/organizations/${ACME}/audit-log?format=ndjson`);
  await signedIn("GET", `/organizations/${ACME}/audit-log/chain`);
  await signedIn("GET", `/organizations/${ACME}/token-budgets`);
  const agent = await signedIn("POST", "/agents", { name: "Brief", space_id: SPACES.archive });
  await signedIn("PATCH", `/agents/${agent.body.id}`, { name: "Briefer" });
  await signedIn("GET", `/agents/${agent.body.id}/deletion`);
  await signedIn("DELETE", `/agents/${agent.body.id}`);
}

async function changeWebhooks(signedIn: As): Promise<void> {
  const made = await signedIn("POST", "/webhooks", {
    url: "https://receiver.invalid/",
    space_id: SPACES.archive,
  });
  const path = `/webhooks/${made.body.id}`;
  await signedIn("POST", `${path}/test`);
  let deliveries: { id: string }[] = [];
  await until("the test has a delivery", async () => {
    deliveries = (await signedIn("GET", `${path}/deliveries`)).body.items;
    return deliveries.length > 0;
  });
  await signedIn("POST", `${path}/deliveries/${deliveries[0]!.id}/redeliver`);
  await signedIn("PATCH", path, { status: "paused" });
  await signedIn("PATCH", path, { status: "active" });
  await signedIn("DELETE", path);
}

/**
 * Lets an agent cite a document, and asks for the receipt while that is published and after changes of it.
 */
async function verifyReceipts({ url, provider }: Stack, owner: As): Promise<void> {
  const quote = `The keel of the ${"very ".repeat(30)}old ferry is iron.`;
  const put = async (content: string) => {
    await owner("POST", `${files}/upload`, fileForm(content, "ferry.txt", { path: "ferry" }));
    const { body } = await owner("GET", `${files}/files?prefix=ferry`);
    await ended(url, KEYS.owner, body.items[0].document_id);
    return body.items[0].document_id as string;
  };
  await put(quote);
  provider.reply({ pieces: [quote, " [1]"] });
  const { body: answer } = await owner("POST", "/chat/completions", {
    model: AGENTS.analyst,
    messages: [{ role: "user", content: quote }],
  });
  const { receipt, salt, quote: cited } = answer.citations[0];
  const verify = () => owner("POST", "/receipts/verify", { receipt, salt, quote: cited });
  await verify();
  await owner(
    "GET",
    `/data/${answer.citations[0].document_id}/pages/1?highlight=${answer.citations[0].chunk_id}`,
  );
  await owner("GET", `/data/${answer.citations[0].document_id}/pages?version=99`);
  await owner("GET", "/receipts/jwks");
  const again = await put(`First. ${quote}`);
  await verify();
  await put(`${"Other ".repeat(30)}${quote.replaceAll(" ", "\n")}`);
  await verify();
  await owner("POST", `/data/${again}/reprocess`, {
    chunker_name: "fixed_tokens",
    chunker_config: { max_tokens: 50, overlap_tokens: 0 },
  });
  await ended(url, KEYS.owner, again);
  await verify();
}

async function removeThings(stack: Stack, owner: As, signedIn: As): Promise<void> {
  await owner("DELETE", `${files}/files?path=${encodeURIComponent("moved/renamed.txt")}`);
  const gone = await upload(stack.url, KEYS.owner, SPACES.research, "# Gone\n\nSoon.");
  await ended(stack.url, KEYS.owner, gone.id);
  await owner("POST", "/data/batch-delete", { document_ids: [gone.id], dry_run: true });
  await owner("POST", "/data/batch-delete", { document_ids: [gone.id] });
  await signedIn("POST", `${files}/folders`, { path: "empty" });
  await owner("DELETE", `${files}/files?path=empty`);
  const { body } = await owner("GET", `/folders/space/${SPACES.research}`);
  for (const { id } of body.items ?? body) await owner("DELETE", `/folders/${id}`);
  await signedIn("DELETE", `/spaces/${SPACES.archive}`);
  await until(
    "every deletion is complete",
    async () =>
      (await stack.database.db.owner.query("select from deletions where completed_at is null")).rowCount ===
      0,
    60_000,
  );
}

async function maintainOnce({ temporalAddress, database }: Stack): Promise<void> {
  // Makes maintenance due: it depends on the age of rows and on their number.
  await database.db.owner.query(
    `insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
     select statistic.*
     from (
       select distinct on (space_num) organization_num, space_num, 0, 0, embedding_model
       from space_statistics) statistic,
       generate_series(1, 20)`,
  );
  await database.db.owner.query("update hidden_runs set hidden_at = now() - interval '10 days'");
  await database.db.owner.query(
    `update embedding_cache
     set last_used_at = now() - interval '100 days'
     where content_hash in (select content_hash from embedding_cache limit 2)`,
  );
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  for (const schedule of ["maintenance", "maintenance-thorough"] as const)
    await runSchedule(client, schedule);
  await connection.close();
}
