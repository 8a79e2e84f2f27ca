/** Renames, moves and deletions of raw files on the real stack, also several at once. */
import { describe, expect, test } from "vitest";
import { call, upload } from "../../../support/clients/client.ts";
import { at, rawFileClient, sorted } from "../../../support/clients/raw-file-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const client = rawFileClient({ stack, tenants });

describe("a rename", () => {
  test("moves the file, and the document's name follows", async () => {
    const file = await client.stored("ren", "old.md", "An echidna was seen.");
    expect((await client.rename("ren/old.md", "elsewhere/new.md")).status).toBe(204);
    expect(await client.paths("ren/")).toEqual([]);
    expect(await client.content("elsewhere/new.md")).toBe("An echidna was seen.");
    const { body: document } = await client.request("GET", `/data/${file.document_id}`);
    expect(document).toMatchObject({
      doc_metadata: { original_filename: "new.md" },
      file_path: `spaces/${tenants.spaces.research}/documents/${file.document_id}/original/new.md`,
      version: 1,
    });
    const { body } = await client.request("POST", "/data/hybrid-search", {
      query: "echidna",
      space_id: tenants.spaces.research,
    });
    expect(body.results[0]).toMatchObject({ document_id: file.document_id, document_name: "new.md" });
    expect((await client.get("ren/old.md")).status).toBe(404);
    expect(await client.content(document.file_path)).toBe("An echidna was seen.");
  });

  test("works for the file of a document, which is found by all its names", async () => {
    const document = await upload(stack.url, tenants.keys.editor, tenants.spaces.research, "moved", "own.md");
    expect((await client.rename(`documents/${document.id}/original/own.md`, "shelf/mine.md")).status).toBe(
      204,
    );
    for (const name of [
      "shelf/mine.md",
      `spaces/${tenants.spaces.research}/data/shelf/mine.md`,
      `spaces/${tenants.spaces.research}/documents/${document.id}/original/mine.md`,
    ])
      expect(await client.content(name)).toBe("moved");
  });

  test("leaves what a document states to its own file, wherever that and others lie", async () => {
    const made = (text: string) =>
      upload(stack.url, tenants.keys.editor, tenants.spaces.research, text, `${text}.txt`);
    const [own, other] = [await made("own"), await made("other")];
    const place = `documents/${own.id}/original/own.txt`;
    expect((await client.rename(own.file_path, "archive/own.txt")).status).toBe(204);
    expect(await client.rename(other.file_path, own.file_path)).toMatchObject({
      status: 400,
      body: { detail: "A file already exists at the new path." },
    });

    expect((await client.rename(other.file_path, place)).status).toBe(204);
    const { object_name: name } = await client.one(place);

    expect(name).toBe(`spaces/${tenants.spaces.research}/data/${place}`);
    expect(await client.content(name)).toBe("other");
    expect((await client.put(`documents/${own.id}/original`, "own.txt", "next")).body).toEqual({
      object_name: name,
    });
    expect(await client.content(own.file_path)).toBe("own");
    const remove = () => client.remove(own.file_path);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    expect(await client.content(place)).toBe("next");
  });

  test("onto a file that exists is 400 and changes nothing; onto itself it is nothing", async () => {
    await client.put("con", "a.txt", "a");
    await client.put("con", "b.txt", "b");
    expect(await client.rename("con/a.txt", "con/b.txt")).toMatchObject({
      status: 400,
      body: { detail: "A file already exists at the new path." },
    });
    expect([await client.content("con/a.txt"), await client.content("con/b.txt")]).toEqual(["a", "b"]);
    expect((await client.rename("con/a.txt", "con/a.txt")).status).toBe(204);
  });

  test("of an unknown file is 404, of a bad path 422, by a viewer 403, by a stranger 404", async () => {
    expect(await client.rename("con/none.txt", "con/c.txt")).toMatchObject({
      status: 404,
      body: { detail: "File not found" },
    });
    expect((await client.rename("con/none/", "con/c/")).status).toBe(404);
    for (const [from, to] of [
      ["con/a.txt", "../a.txt"],
      ["con/a.txt", "/a.txt"],
      ["con/a.txt", "con/b/"],
      ["con/", "x"],
      ["con/a.txt", ""],
    ])
      expect([to, (await client.rename(from!, to!)).status]).toEqual([to, 422]);
    expect(
      (await client.request("PATCH", `${client.root}/rename`, {})).body.detail.map(
        (problem: any) => problem.loc,
      ),
    ).toEqual([
      ["body", "old_path"],
      ["body", "new_path"],
    ]);
    const body = { old_path: "con/a.txt", new_path: "con/c.txt" };
    expect(await call(stack.url, tenants.keys.viewer, "PATCH", `${client.root}/rename`, body)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: files:rename" },
    });
    expect((await call(stack.url, tenants.keys.rival, "PATCH", `${client.root}/rename`, body)).status).toBe(
      404,
    );
  });

  test("of a prefix moves all files under it and no others", async () => {
    for (const [folder, name] of [
      ["tree/a", "1.txt"],
      ["tree/a/b", "2.txt"],
      ["tree/ab", "3.txt"],
    ])
      await client.put(folder!, name!, name!);
    expect((await client.rename("tree/a/", "wood/x/y/")).status).toBe(204);
    expect(await client.paths("tree/")).toEqual(["tree/ab/3.txt"]);
    expect(await client.paths("wood/")).toEqual(["wood/x/y/1.txt", "wood/x/y/b/2.txt"]);
    expect(await client.content("wood/x/y/b/2.txt")).toBe("2.txt");
  });

  test("of a prefix onto a file that exists moves nothing at all", async () => {
    for (const [folder, name] of [
      ["from", "1.txt"],
      ["from", "2.txt"],
      ["to", "2.txt"],
    ])
      await client.put(folder!, name!, folder!);
    expect((await client.rename("from/", "to/")).status).toBe(400);
    expect([await client.paths("from/"), await client.paths("to/")]).toEqual([
      ["from/1.txt", "from/2.txt"],
      ["to/2.txt"],
    ]);
  });

  test("of a prefix to one that it begins with works if paths cross, and the reverse is 400", async () => {
    for (const folder of ["n/n", "n/n/n"]) await client.put(folder, "x.txt", folder);
    expect((await client.rename("n/n/", "n/")).status).toBe(204);
    expect([await client.content("n/x.txt"), await client.content("n/n/x.txt")]).toEqual(["n/n", "n/n/n"]);
    expect(await client.rename("n/", "n/deeper/")).toMatchObject({ status: 400 });
  });

  test("of a prefix is 422 if paths would be too long", async () => {
    const long = Array.from({ length: 5 }, () => "p".repeat(190)).join("/");
    await client.put("long/folder-with-a-name", `${"n".repeat(100)}.txt`, "x");
    expect((await client.rename("long/", `${long}/`)).status).toBe(422);
    expect(await client.paths("long/")).toHaveLength(1);
  });

  test("of prefixes and uploads at the same time lose no file", async () => {
    const rounds = Array.from({ length: 10 }, (_, index) => index);
    const answers = await Promise.all([
      ...rounds.map((index) => client.put("busy/a", `${index}.txt`, String(index))),
      ...rounds.map((index) =>
        client.rename(index % 2 === 0 ? "busy/a/" : "busy/b/", index % 2 === 0 ? "busy/b/" : "busy/a/"),
      ),
    ]);
    expect(
      answers.map((answer) => answer.status).filter((status) => ![201, 204, 400, 404].includes(status)),
    ).toEqual([]);
    const names = sorted((await client.list("busy/")).map((file): string => file.name));
    expect(names).toEqual(rounds.map((index) => `${index}.txt`));
  });
});

describe("a deletion", () => {
  test("hides the file and its document at once, and later nothing of them is left", async () => {
    const file = await client.stored("del", "secret.md", "A firebird was seen.");
    expect(await client.found("firebird")).toHaveLength(1);
    const { rows } = await stack.database.db.owner.query(
      "select object_key from raw_files where space_id = $1 and path = 'del/secret.md'",
      [tenants.spaces.research],
    );
    expect((await client.remove("del/secret.md")).status).toBe(204);
    expect(await client.found("firebird")).toEqual([]);
    expect((await client.get("del/secret.md")).status).toBe(404);
    expect((await client.request("GET", `/data/${file.document_id}`)).status).toBe(404);
    expect(await client.paths("del/")).toEqual([]);
    expect(await client.remove("del/secret.md")).toMatchObject({
      status: 404,
      body: { detail: "File not found" },
    });
    await until("nothing of it is left", async () => {
      const left = await stack.database.db.owner.query(
        `select (select count(*) from documents where id = $1)
              + (select count(*) from chunks where document_id = $1)
              + (select count(*) from raw_files where object_key = $2) as left`,
        [file.document_id, rows[0].object_key],
      );
      return Number(left.rows[0].left) === 0;
    });
    expect((await client.put("del", "secret.md", "again")).status).toBe(201);
  });

  test("works for the file of a document, and by its object name", async () => {
    const document = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "to be deleted",
      "own.md",
    );
    expect((await client.remove(document.file_path)).status).toBe(204);
    expect((await client.request("GET", `/data/${document.id}`)).status).toBe(404);
  });

  test("is refused if the file has changed since it was read", async () => {
    await client.put("match", "a.txt", "a");
    const etag = (await client.get("match/a.txt", {}, "HEAD")).headers.get("etag")!;
    await client.put("match", "a.txt", "b");
    expect(
      (
        await client.request("DELETE", `${client.root}/files?${at("match/a.txt")}`, undefined, {
          "if-match": etag,
        })
      ).status,
    ).toBe(412);
    expect(await client.content("match/a.txt")).toBe("b");
  });

  test("is 403 for a viewer, 404 for a stranger, 422 without a path", async () => {
    await client.put("del", "kept.txt", "kept");
    const path = `${client.root}/files?${at("del/kept.txt")}`;
    expect(await call(stack.url, tenants.keys.viewer, "DELETE", path)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: files:delete" },
    });
    expect((await call(stack.url, tenants.keys.rival, "DELETE", path)).status).toBe(404);
    expect((await client.request("DELETE", `${client.root}/files`)).body.detail).toMatchObject([
      { loc: ["query", "path"], type: "missing" },
    ]);
  });

  test("at the same time as the deletion of its document never fails", async () => {
    const files = [];
    for (const index of Array.from({ length: 8 }, (_, number) => number))
      files.push(
        await upload(stack.url, tenants.keys.editor, tenants.spaces.research, `race ${index}`, "race.md"),
      );
    const answers = await Promise.all(
      files.flatMap((document) => [
        client.remove(document.file_path),
        client.request("DELETE", `/data/${document.id}`),
        client.remove(document.file_path),
      ]),
    );
    expect(
      answers.map((answer) => answer.status).filter((status) => status !== 204 && status !== 404),
    ).toEqual([]);
  });
});

test("every change is in the audit log with the key that made it, refusals too", async () => {
  const expected = [
    "files:create success",
    "files:rename success",
    "files:delete success",
    "files:rename denied",
    "files:delete denied",
  ];
  const seen = await until("the refusals are written", async () => {
    const { rows } = await stack.database.db.owner.query(
      `select distinct action || ' ' || split_part(outcome, ' ', 1) as entry
       from audit_log
       where action in ('files:create', 'files:rename', 'files:delete')
         and auth_method = 'api_key'
         and api_key_id is not null
         and space_id = $1`,
      [tenants.spaces.research],
    );
    return rows.length >= expected.length && rows.map((row): string => row.entry);
  });
  expect(sorted(seen)).toEqual(sorted(expected));
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
