/** Clauses of the contract that once did not hold to the letter, each over HTTP. */
import { describe, expect, test } from "vitest";
import { ended, call, upload } from "../support/clients/client.ts";
import { rawFileClient } from "../support/clients/raw-file-client.ts";
import { signedIn } from "../support/clients/signed-in.ts";
import { until } from "../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const { keys, spaces } = tenants;
const files = rawFileClient({ stack, tenants });
const editor = (method: string, path: string, body?: unknown) =>
  call(stack.url, keys.editor, method, path, body);

describe("unknown members of a body that narrows or limits are 422, naming the nearest known one", () => {
  test("a key that was to be narrowed by a misspelled member is not made", async () => {
    const { status, body } = await people.as("eve", "POST", "/me/api-keys", {
      name: "misspelled",
      space_ids: [spaces.research],
    });
    const { body: made } = await people.as("eve", "GET", "/me/api-keys?limit=100");

    expect([status, body.detail]).toMatchObject([
      422,
      [{ loc: ["body", "space_ids"], msg: "Extra inputs are not permitted; did you mean spaces?" }],
    ]);
    expect(made.items.map(({ name }: { name: string }) => name)).not.toContain("misspelled");
  });

  test.each([
    ["/data/search", { filter: { file_type: "PDF" } }, "filters"],
    ["/data/hybrid-search", { query: "x", space_ids: [spaces.research], document: [] }, "document_id"],
    ["/spaces/search", { filter: {} }, "filters"],
    ["/agents/search", { filter: {} }, "filters"],
    ["/data/batch-reprocess", { document_ids: ["x"], filter: {} }, "filters"],
    ["/data/batch-delete", { document_ids: ["x"], dryrun: true }, "dry_run"],
  ])("POST %s with %j", async (path, body, meant) => {
    const answer = await editor("POST", path, body);

    expect(answer).toMatchObject({
      status: 422,
      body: {
        detail: [{ type: "extra_forbidden", msg: expect.stringMatching(`did you mean ${meant}\\?$`) }],
      },
    });
  });

  test("one that belongs in the query is told so", async () => {
    const { status, body } = await editor("POST", "/data/search", { limit: 5, page: 1 });

    expect([status, body.detail.map(({ msg }: { msg: string }) => msg)]).toEqual([
      422,
      [
        "Extra inputs are not permitted; send limit in the query",
        "Extra inputs are not permitted; send page in the query",
      ],
    ]);
  });

  test("a search of a vector store and a file_search are refused in OpenAI's form", async () => {
    const { body: store } = await editor("POST", "/vector_stores", {
      name: "Clauses",
      unknown: 1,
      metadata: { space_id: spaces.research },
    });
    const filter = { type: "eq", key: "year", value: 2026 };
    const searched = await editor("POST", `/vector_stores/${store.id}/search`, { query: "x", filter });
    const asked = await editor("POST", "/responses", {
      model: tenants.agents.librarian,
      input: "x",
      tools: [{ type: "file_search", vector_store_ids: [store.id], filter }],
    });

    expect(searched).toMatchObject({ status: 400, body: { error: { param: "filter" } } });
    expect(asked).toMatchObject({ status: 400, body: { error: { param: "tools[0]" } } });
    for (const { body } of [searched, asked]) expect(body.error.message).toMatch("did you mean filters?");
  });

  test("elsewhere the Warning stays", async () => {
    const { status, headers } = await editor("POST", "/folders", {
      name: "Clauses",
      space_id: spaces.research,
      parent_folder: null,
    });

    expect([status, headers.get("warning")]).toEqual([
      201,
      '199 holdfast "unknown field parent_folder; did you mean parent_folder_id?"',
    ]);
  });

  test("an agent that was read may be changed and written back", async () => {
    const { body: agent } = await people.as("eve", "POST", "/agents", {
      name: "Written back",
      space_id: spaces.research,
    });
    const path = `/agents/${agent.id}`;

    expect(await people.as("eve", "PATCH", path, { ...agent, system_prompt: "Be brief." })).toMatchObject({
      status: 200,
      body: { system_prompt: "Be brief." },
    });
    expect((await people.as("eve", "PATCH", path, { allowed_folders: [] })).status).toBe(422);
  });
});

describe("PATCH of doc_metadata", () => {
  const TEXT = "---\ntitle: Otters\nauthor: Ada\n---\n\nOtters sleep in a raft.";
  const withExtracted = async () => {
    const { id } = await upload(stack.url, keys.editor, spaces.research, TEXT, "otters.md");
    return ended(stack.url, keys.editor, id);
  };

  test("takes what was read, with a change", async () => {
    const document = await withExtracted();
    const { doc_metadata: read } = document;
    const answer = await editor("PATCH", `/data/${document.id}`, {
      doc_metadata: { ...read, project: "apollo" },
    });

    expect(read).toMatchObject({ original_filename: "otters.md", extracted: { title: "Otters" } });
    expect([answer.status, answer.body.doc_metadata]).toEqual([200, { ...read, project: "apollo" }]);
  });

  test("refuses another value for any member of the service, and changes nothing", async () => {
    const document = await withExtracted();
    const wrong = { original_filename: "x.md", content_type: "text/html", extracted: { title: "Mine" } };
    const answer = await editor("PATCH", `/data/${document.id}`, {
      doc_metadata: { ...wrong, project: "apollo" },
    });
    const nulls = await editor("PATCH", `/data/${document.id}`, { doc_metadata: { extracted: null } });
    const { body: after } = await editor("GET", `/data/${document.id}`);

    expect([answer.status, answer.body.detail.map(({ loc }: { loc: unknown }) => loc)]).toEqual([
      422,
      Object.keys(wrong).map((key) => ["body", "doc_metadata", key]),
    ]);
    expect(nulls.status).toBe(422);
    expect(after.doc_metadata).toEqual(document.doc_metadata);
  });

  test("attributes of a vector store's file do not stand in for what the file says of itself", async () => {
    const { id } = await upload(stack.url, keys.editor, spaces.research, "Plain text.", "plain.txt");
    const { body: store } = await editor("POST", "/vector_stores", {
      metadata: { space_id: spaces.research },
    });
    const added = await editor("POST", `/vector_stores/${store.id}/files`, {
      file_id: `file-${id.replaceAll("-", "")}`,
      attributes: { extracted: "mine", year: 2026 },
    });
    const { body: found } = await editor("POST", "/data/search", {
      filters: { folder_id: store.folder_id },
    });

    expect(added.status).toBe(200);
    expect(found.items).toMatchObject([{ doc_metadata: { year: 2026 } }]);
    expect(found.items[0].doc_metadata).not.toHaveProperty("extracted");
  });
});

describe("an object_name is understood by every parameter of raw files", () => {
  const named = (path: string) => `spaces/${spaces.research}/data/${path}`;

  test("of an upload, a list, a rename, a download and a deletion", async () => {
    const put = await files.put(named("names/up/"), "a.md", "An axolotl.");
    expect(put.body).toEqual({ object_name: named("names/up/a.md") });
    expect((await files.put(named(""), "names-root.md", "x")).body).toEqual({
      object_name: named("names-root.md"),
    });
    expect(await files.paths(named("names/"))).toEqual(["names/up/a.md"]);
    expect((await files.rename(named("names/up/a.md"), named("names/b.md"))).status).toBe(204);
    expect((await files.rename(named("names/"), named("renamed/"))).status).toBe(204);
    expect(await files.paths("renamed/")).toEqual(["renamed/b.md"]);
    expect(await files.content(named("renamed/b.md"))).toBe("An axolotl.");
    expect((await files.remove(named("renamed/b.md"))).status).toBe(204);
    expect(await files.paths(named("renamed"))).toEqual([]);
  });

  test("of a path folder; the root is no folder to make or move", async () => {
    const made = await people.as("eve", "POST", `${files.root}/folders`, { path: named("empty/folder/") });
    expect([made.status, made.body]).toEqual([201, { path: "empty/folder" }]);
    for (const answer of [
      await people.as("eve", "POST", `${files.root}/folders`, { path: named("") }),
      await files.rename(named(""), "elsewhere/"),
      await files.rename("empty/", named("")),
    ])
      expect(answer.status).toBe(422);
  });

  test("a literal path of that form is reached by its own object name, and by nothing else", async () => {
    await files.put("", "twin.md", "The plain one.");
    const literal = await files.put(named(named("")), "twin.md", "The literal one.");

    expect(literal.body).toEqual({ object_name: named(named("twin.md")) });
    expect(await files.content(named("twin.md"))).toBe("The plain one.");
    expect(await files.content(named(named("twin.md")))).toBe("The literal one.");
    expect((await files.remove(named("twin.md"))).status).toBe(204);
    expect((await files.get(named("twin.md"))).status).toBe(404);
    expect(await files.content(named(named("twin.md")))).toBe("The literal one.");
  });
});

describe("a deleted or changed agent holds from the next request on", () => {
  test("a turn that follows a change or a deletion sees it", async () => {
    const { body: agent } = await people.as("eve", "POST", "/agents", {
      name: "Short-lived",
      space_id: spaces.research,
      is_public: false,
    });
    const ask = () =>
      editor("POST", "/chat/completions", {
        model: agent.id,
        messages: [{ role: "user", content: "Hello" }],
      });
    await until("chat is ready", async () => (await ask()).status === 200);

    expect((await people.as("eve", "DELETE", `/agents/${agent.id}`)).status).toBe(204);
    expect(await ask()).toMatchObject({ status: 404, body: { detail: `Model '${agent.id}' not found` } });
  });
});
