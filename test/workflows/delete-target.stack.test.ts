/** Deletions of folders that run at the same time as changes in them, on the real stack. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Answer, call, ended, fileForm } from "../support/clients/client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();

const open = async (
  table: "deletions" | "claims",
  ended: "completed_at" | "closed_at",
): Promise<number | null> =>
  (
    await stack.database.db.owner.query(
      `select from ${table} where organization_id = $1 and ${ended} is null`,
      [tenants.acme],
    )
  ).rowCount;
const request = (method: string, path: string, body?: unknown) =>
  call(stack.url, tenants.keys.owner, method, path, body);
const move = (id: string, parent: string) => request("PATCH", `/folders/${id}`, { parent_folder_id: parent });
const make = async (name: string): Promise<Answer["body"]> =>
  (await request("POST", "/folders", { name, space_id: tenants.spaces.research })).body;
const put = async (folderId: string, text: string): Promise<Answer["body"]> =>
  (
    await request(
      "POST",
      "/data/upload",
      fileForm(text, "note.md", { space_id: tenants.spaces.research, folder_id: folderId }),
    )
  ).body;

afterEach(() => stack.provider.clearFaults());

test("folders that are moved into each other during a deletion end either present or gone", async () => {
  for (let round = 0; round < 8; round += 1) {
    const [x, y] = [await make("X"), await make("Y")];
    const document = await put(y.id, "A cockatrice was seen.");
    const [deleted, ...moved] = await Promise.all([
      request("DELETE", `/folders/${x.id}`),
      move(x.id, y.id),
      move(y.id, x.id),
    ]);
    expect(deleted.status).toBe(204);
    // One of the two moves that would form a cycle is refused; a move after the deletion finds no folder.
    for (const { status } of moved) expect([200, 400, 404]).toContain(status);
    expect((await request("GET", `/folders/${x.id}`)).status).toBe(404);
    const isGone = moved[1]!.status === 200;
    expect((await request("GET", `/folders/${y.id}`)).status).toBe(isGone ? 404 : 200);
    expect((await request("GET", `/data/${document.id}`)).status).toBe(isGone ? 404 : 200);
  }
  await until("every deletion is complete", async () => (await open("deletions", "completed_at")) === 0);
});

test("deleting a folder cancels a running pipeline in it, and leaves nothing of its document", async () => {
  const { owner } = stack.database.db;
  const folder = await make("Half done");
  const stays = await ended(
    stack.url,
    tenants.keys.owner,
    (await put(folder.id, "A manticore was seen.")).id,
  );
  stack.provider.failEmbeddings({ status: 503 });
  const document = await put(folder.id, "A basilisk was seen.");
  await until(
    "it waits for the provider",
    async () => (await request("GET", `/data/${document.id}`)).body.processing_state.chunked,
  );
  const ids = [stays.id, document.id];
  const { rows: before } = await owner.query(
    `select run.num, run.object_key, chunk.content_hash
     from pipeline_runs run
     join chunks chunk on chunk.run_num = run.num
     where run.document_id = any($1)`,
    [ids],
  );
  expect(before).toHaveLength(2);
  expect((await request("DELETE", `/folders/${folder.id}`)).status).toBe(204);
  await until("the deletion is complete", async () => (await open("deletions", "completed_at")) === 0);
  const { rows } = await owner.query(
    `select (select count(*) from documents where id = any($1))
       + (select count(*) from pipeline_runs where document_id = any($1))
       + (select count(*) from chunks where run_num = any($2))
       + (select count(*) from embeddings where run_num = any($2))
       + (select count(*) from embedding_cache where content_hash = any($3))
       + (select count(*) from raw_files where object_key = any($4)) as left`,
    [
      ids,
      before.map((row) => row.num),
      before.map((row) => row.content_hash),
      before.map((row) => row.object_key),
    ],
  );
  expect(Number(rows[0].left)).toBe(0);
  const objects = await readdir(join(stack.dataDir, "objects"), { recursive: true });
  expect(objects.filter((name) => before.some((row) => name.endsWith(row.object_key)))).toEqual([]);
  // The workflow ends its wait for the provider at its next look.
  await until("its claim is closed", async () => (await open("claims", "closed_at")) === 0, 45_000);
}, 90_000);
