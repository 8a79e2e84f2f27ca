/** Changes and deletions of folders on the real stack, also several at once. */
import { describe, expect, test } from "vitest";
import { call, fileForm } from "../../../support/clients/client.ts";
import { folderClient } from "../../../support/clients/folder-client.ts";
import { sorted } from "../../../support/clients/raw-file-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const { request, make, move, put, stored, found } = folderClient({ stack, tenants });
const UNKNOWN = "01900000-0000-7000-8000-0000000000ff";

describe("changing a folder", () => {
  test("renames and moves it, and the paths of its documents follow", async () => {
    const from = await make("From");
    const to = await make("To");
    const folder = await make("Box", from.id);
    const document = await stored(folder.id, "A gargoyle was seen.");
    expect(document.folder_path).toBe("From/Box");
    expect(await request("PATCH", `/folders/${folder.id}`, { name: "Crate" })).toMatchObject({
      status: 200,
      body: { name: "Crate", parent_folder_id: from.id },
    });
    expect((await move(folder.id, to.id)).body).toMatchObject({ name: "Crate", parent_folder_id: to.id });
    expect((await request("GET", `/data/${document.id}`)).body.folder_path).toBe("To/Crate");
    expect(await found("gargoyle")).toMatchObject([{ document_id: document.id, folder_path: "To/Crate" }]);
    expect((await move(folder.id, null)).body.parent_folder_id).toBeNull();
    expect((await request("PATCH", `/folders/${folder.id}`, {})).body).toMatchObject({
      name: "Crate",
      parent_folder_id: null,
    });
  });

  test("never makes a cycle, reaches another space, or a folder that is not there", async () => {
    const a = await make("A");
    const b = await make("B", a.id);
    const c = await make("C", b.id);
    for (const parent of [a, b, c])
      expect(await move(a.id, parent.id)).toMatchObject({
        status: 400,
        body: { detail: "A folder cannot be moved into itself." },
      });
    const elsewhere = await make("Elsewhere", null, tenants.spaces.archive);
    expect((await move(a.id, elsewhere.id)).status).toBe(400);
    expect(
      (
        await call(stack.url, tenants.keys.editor, "PATCH", `/folders/${a.id}`, {
          parent_folder_id: elsewhere.id,
        })
      ).status,
    ).toBe(404);
    expect((await move(a.id, UNKNOWN)).status).toBe(404);
    const gone = await make("Gone");
    await request("DELETE", `/folders/${gone.id}`);
    expect((await move(a.id, gone.id)).status).toBe(404);
    expect((await request("PATCH", `/folders/${a.id}`, { name: "a/b" })).status).toBe(422);
    expect((await request("PATCH", `/folders/${a.id}`, { parent_folder_id: "x" })).status).toBe(422);
    expect((await request("GET", `/folders/${a.id}`)).body).toEqual(a);
  });

  test("by two requests that together would make a cycle lets one through", async () => {
    for (let round = 0; round < 8; round += 1) {
      const [x, y] = [await make("X"), await make("Y")];
      const answers = await Promise.all([move(x.id, y.id), move(y.id, x.id)]);
      expect(sorted(answers.map((answer) => answer.status))).toEqual([200, 400]);
    }
  });

  test("while its new parent is deleted ends with both there or both gone", async () => {
    for (let round = 0; round < 8; round += 1) {
      const [parent, child] = [await make("Parent"), await make("Child")];
      const [moved, deleted] = await Promise.all([
        move(child.id, parent.id),
        request("DELETE", `/folders/${parent.id}`),
      ]);
      expect(deleted.status).toBe(204);
      const after = await request("GET", `/folders/${child.id}`);
      expect([moved.status, after.status]).toEqual(moved.status === 200 ? [200, 404] : [404, 200]);
    }
  });

  test("is 403 for a viewer, 404 for a stranger, and 412 if it has changed", async () => {
    const folder = await make("Guarded");
    const body = { name: "Changed" };
    for (const method of ["PATCH", "DELETE"]) {
      const payload = method === "PATCH" ? body : undefined;
      expect(
        await call(stack.url, tenants.keys.viewer, method, `/folders/${folder.id}`, payload),
      ).toMatchObject({
        status: 403,
        body: { detail: "Permission denied: write on folders" },
      });
      for (const key of [tenants.keys.rival, tenants.keys.scoped])
        expect(await call(stack.url, key, method, `/folders/${folder.id}`, payload)).toMatchObject({
          status: 404,
          body: { detail: "Folder not found" },
        });
    }
    const etag = (await request("GET", `/folders/${folder.id}`)).headers.get("etag")!;
    const changed = await request("PATCH", `/folders/${folder.id}`, body, { "if-match": etag });
    expect(changed.status).toBe(200);
    expect((await request("PATCH", `/folders/${folder.id}`, body, { "if-match": etag })).status).toBe(412);
    expect((await request("DELETE", `/folders/${folder.id}`, undefined, { "if-match": etag })).status).toBe(
      412,
    );
    expect(
      (
        await request("DELETE", `/folders/${folder.id}`, undefined, {
          "if-match": changed.headers.get("etag")!,
        })
      ).status,
    ).toBe(204);
  });
});

describe("deleting a folder", () => {
  test("hides all that is in it at once, and later nothing of it is left", async () => {
    const root = await make("Root");
    const inner = await make("Inner", root.id);
    const deepest = await make("Deepest", inner.id);
    const beside = await make("Beside");
    const documents = [
      await stored(root.id, "A hippogriff was seen here."),
      await stored(deepest.id, "A hippogriff was seen there."),
    ];
    const kept = await stored(beside.id, "A hippogriff was seen elsewhere.");
    expect(await found("hippogriff")).toHaveLength(3);
    const running = await put(inner.id, "A hippogriff is on its way.");

    expect((await request("DELETE", `/folders/${root.id}`)).status).toBe(204);
    expect((await found("hippogriff")).map((hit) => hit.document_id)).toEqual([kept.id]);
    for (const folder of [root, inner, deepest]) {
      for (const path of [`/folders/${folder.id}`, `/folders/${folder.id}/contents`])
        expect(await request("GET", path)).toMatchObject({
          status: 404,
          body: { detail: "Folder not found" },
        });
      expect((await request("PATCH", `/folders/${folder.id}`, { name: "x" })).status).toBe(404);
      expect((await request("DELETE", `/folders/${folder.id}`)).status).toBe(404);
    }
    for (const document of [...documents, running]) {
      expect((await request("GET", `/data/${document.id}`)).status).toBe(404);
      expect(
        (await request("GET", `/spaces/${tenants.spaces.research}/data/download?path=${document.file_path}`))
          .status,
      ).toBe(404);
      expect(
        (await request("DELETE", `/spaces/${tenants.spaces.research}/data/files?path=${document.file_path}`))
          .status,
      ).toBe(404);
      expect(
        (
          await request(
            "GET",
            `/spaces/${tenants.spaces.research}/data/files?prefix=documents/${document.id}`,
          )
        ).body.items,
      ).toEqual([]);
    }
    const listed = await request("GET", `/folders/space/${tenants.spaces.research}?limit=1000`);
    expect(listed.body.items.map((folder: any) => folder.id)).not.toEqual(expect.arrayContaining([root.id]));
    expect(
      (await request("GET", `/folders/space/${tenants.spaces.research}?parent_folder_id=${root.id}`)).body
        .items,
    ).toEqual([]);
    expect(
      (
        await request(
          "POST",
          "/data/upload",
          fileForm("x", "x.md", { space_id: tenants.spaces.research, folder_id: inner.id }),
        )
      ).status,
    ).toBe(404);

    await until("nothing of it is left", async () => {
      const ids = [...documents, running].map((document) => document.id);
      const { rows } = await stack.database.db.owner.query(
        `select (select count(*) from documents where id = any($1))
              + (select count(*) from chunks where document_id = any($1))
              + (select count(*) from folders where id = any($2))
              + (select count(*)
                 from raw_files
                 where path like any(select 'documents/' || id || '%' from unnest($1::uuid[]) id)) as left`,
        [ids, [root.id, inner.id, deepest.id]],
      );
      return Number(rows[0].left) === 0;
    });
    expect((await found("hippogriff")).map((hit) => hit.document_id)).toEqual([kept.id]);
    expect((await request("GET", `/data/${kept.id}`)).status).toBe(200);
  });

  test("while files are uploaded into it answers them with 201 or 404, and shows none of them", async () => {
    const folder = await make("Contested");
    const uploads = Array.from({ length: 6 }, (_, index) =>
      request(
        "POST",
        "/data/upload",
        fileForm(`text ${index}`, "x.md", { space_id: tenants.spaces.research, folder_id: folder.id }),
      ),
    );
    const [deleted, ...answers] = await Promise.all([request("DELETE", `/folders/${folder.id}`), ...uploads]);
    expect(deleted.status).toBe(204);
    expect(
      answers.map((answer) => answer.status).filter((status) => status !== 201 && status !== 404),
    ).toEqual([]);
    for (const answer of answers.filter(({ status }) => status === 201))
      expect((await request("GET", `/data/${answer.body.id}`)).status).toBe(404);
  });

  test("by several at once happens once", async () => {
    const folder = await make("Once");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => request("DELETE", `/folders/${folder.id}`)),
    );
    expect(sorted(answers.map((answer) => answer.status))).toEqual([204, 404, 404, 404, 404]);
  });
});

test("folders nest a hundred deep", async () => {
  const chain = [await make("0")];
  for (let depth = 1; depth < 100; depth += 1) chain.push(await make(String(depth), chain.at(-1)!.id));
  const document = await put(chain.at(-1)!.id, "deep");
  expect((await request("GET", `/data/${document.id}`)).body.folder_path).toBe(
    chain.map((_, depth) => depth).join("/"),
  );
  expect((await move(chain[0]!.id, chain.at(-1)!.id)).status).toBe(400);
  expect((await request("DELETE", `/folders/${chain[0]!.id}`)).status).toBe(204);
  expect((await request("GET", `/data/${document.id}`)).status).toBe(404);
  expect((await request("GET", `/folders/${chain.at(-1)!.id}`)).status).toBe(404);
});

test("every change is in the audit log, refusals too", async () => {
  const asViewer = (method: string, path: string, body?: unknown) =>
    call(stack.url, tenants.keys.viewer, method, path, body);
  const folder = await make("Audited");
  await request("PATCH", `/folders/${folder.id}`, { name: "Changed" });
  await asViewer("POST", "/folders", { name: "Refused", space_id: tenants.spaces.research });
  await asViewer("PATCH", `/folders/${folder.id}`, { name: "Refused" });
  await asViewer("DELETE", `/folders/${folder.id}`);
  await request("DELETE", `/folders/${folder.id}`);

  const expected = [
    "folders:create denied",
    "folders:create success",
    "folders:delete denied",
    "folders:delete success",
    "folders:update denied",
    "folders:update success",
  ];
  const seen = await until("the refusals are written", async () => {
    const { rows } = await stack.database.db.owner.query<{ entry: string }>(
      `select distinct action || ' ' || split_part(outcome, ' ', 1) as entry
       from audit_log
       where organization_id = $1
         and resource_type = 'folder'
         and action <> 'folders:read'
       order by entry`,
      [tenants.acme],
    );
    return rows.length >= expected.length && rows.map((row) => row.entry);
  });
  expect(seen).toEqual(expected);
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
