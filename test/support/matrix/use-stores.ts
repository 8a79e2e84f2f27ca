/** What is done to files and vector stores while the stack's processes record their statements. */
import { type Answer, fileForm } from "../clients/client.ts";
import type { Stack } from "../stack/stack.ts";
import { SPACES } from "../tenants/tenants.ts";
import { until } from "../until.ts";

type As = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Files in stores in every way, two stores of which expire, and files that do. */
export async function useStores({ database, provider }: Stack, owner: As): Promise<void> {
  const put = async (text: string): Promise<string> =>
    (await owner("POST", "/files", fileForm(text, "stored.md", { purpose: "assistants" }))).body.id;
  const store = async (more: object = {}): Promise<string> =>
    (
      await owner("POST", "/vector_stores", {
        name: "Stored",
        metadata: { space_id: SPACES.research },
        ...more,
      })
    ).body.id;
  const chunking_strategy = {
    type: "static",
    static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 },
  };
  const [kept, removed, deleted, expiring] = [
    await put("Stored words that are kept."),
    await put("Stored words that are removed."),
    await put("Stored words that are deleted."),
    await put("Stored words that expire."),
  ];
  const [first, second] = [
    await store({ file_ids: [kept, removed] }),
    // In the private space, which is there when maintenance runs.
    await store({
      file_ids: [deleted, expiring],
      metadata: {},
      expires_after: { anchor: "last_active_at", days: 1 },
    }),
  ];
  const done = (id: string, total: number) =>
    until("the store is done", async () => {
      const { body } = await owner("GET", `/vector_stores/${id}`);
      return body.file_counts.completed === total;
    });
  await done(first, 2);
  await done(second, 2);
  const at = `/vector_stores/${first}`;
  await owner("POST", `${at}/files`, { file_id: kept, attributes: { kept: true }, chunking_strategy });
  await done(first, 2);
  await owner("GET", `${at}/files/${kept}/content`);
  await owner("GET", `${at}/files?after=${kept}`);
  await database.db.owner.query("update vector_stores set last_active_at = now() - interval '1 hour'");
  await owner("POST", `${at}/search`, {
    query: "stored words",
    filters: { type: "or", filters: [{ type: "eq", key: "kept", value: true }] },
  });
  await owner("POST", at, { name: "Stored otherwise", metadata: { changed: "yes" } });
  await owner("DELETE", `${at}/files/${removed}`);
  provider.failEmbeddings({ status: 503 });
  const slow = await put("Stored words that wait.");
  const batch = await owner("POST", `${at}/file_batches`, { file_ids: [slow] });
  await owner("POST", `${at}/file_batches/${batch.body.id}/cancel`);
  provider.clearFaults();
  for (const path of ["/files?limit=1", `/files/${kept}`, `/files/${kept}/content`, "/vector_stores?limit=1"])
    await owner("GET", path);
  await owner("DELETE", `/files/${deleted}`);
  // The store's last use and the upload were long ago; the next round of maintenance finds both.
  await database.db.owner.query(
    `update vector_stores
     set last_active_at = now() - interval '3 days'
     where expires_after_days is not null`,
  );
  const other = await store({ file_ids: [expiring], metadata: {} });
  await done(other, 1);
  await database.db.owner.query(
    "update openai_files set expires_at = now() - interval '1 second' where name = 'stored.md'",
  );
}
