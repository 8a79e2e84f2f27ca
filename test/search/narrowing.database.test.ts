import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTenant } from "../../src/db/pool.ts";
import { hideRun } from "../../src/db/search/hidden.ts";
import { newId } from "../../src/domain/ids.ts";
import { parseFilters } from "../../src/schema/requests/filters.ts";
import { DOCUMENT_FIELDS } from "../../src/schema/documents/document.ts";
import { searchSpaces } from "../../src/search/hybrid.ts";
import { along, createFoxSpace, type FoxSpace } from "../support/stack/fox-space.ts";
import { createSpace, publishDocuments, type SearchSpace } from "../support/stack/search-space.ts";

let foxes: FoxSpace;
let other: SearchSpace;
beforeAll(async () => {
  foxes = await createFoxSpace();
  other = await createSpace(foxes.database.db, foxes.organization);
  await publishDocuments(foxes.database.db, other, [
    { name: "other.txt", chunks: [{ text: "Another fox, in another space.", vector: along(0, 0.5) }] },
    { name: "cats.txt", chunks: [{ text: "Cats sleep.", vector: along(3) }] },
  ]);
});
afterAll(() => foxes.drop());

const filtered = (filters: Record<string, unknown>): Promise<string[]> =>
  foxes.names({
    query: "fox",
    limit: 100,
    filters: parseFilters(filters, DOCUMENT_FIELDS, (key, reason) => {
      throw new Error(`${key}: ${reason}`);
    }),
  });

describe("filters let through what they say, exactly", () => {
  const setMetadata = (name: string, metadata: unknown) =>
    foxes.database.db.owner.query("update documents set metadata = $2 where name = $1", [name, metadata]);
  beforeAll(async () => {
    await setMetadata("root.txt", { year: 2025, team: "red" });
    await setMetadata("parent.txt", { year: "2025", team: "blue" });
    await setMetadata("child.txt", { year: null, tags: ["a", "b"] });
    await setMetadata("words.txt", { year: { of: 2025 }, team: "red" });
  });

  test("by the fields of documents", async () => {
    expect(await filtered({ id: foxes.documents.child.id })).toEqual(["child.txt"]);
    expect(await filtered({ folder_id__isnull: true })).toEqual(["root.txt", "root.txt", "words.txt"]);
    expect(await filtered({ folder_id: foxes.folders.parent })).toEqual(["parent.txt"]);
    expect(await filtered({ "processing_state.pipeline_status": "failed" })).toEqual([]);
    expect(await filtered({ created_at__gt: "2100-01-01" })).toEqual([]);
  });

  test("also where they leave out little", async () => {
    const all = await foxes.names({ query: "fox", limit: 100 });
    const { child } = foxes.documents;
    expect(all).toContain("child.txt");
    expect(await filtered({ id__ne: child.id })).toEqual(all.filter((name) => name !== "child.txt"));
    expect(await filtered({ file_size__gte: 0 })).toEqual(all);
    const { owner } = foxes.database.db;
    await owner.query("update documents set deleted_at = now() where id = $1", [child.id]);
    await inTenant(foxes.database.db, foxes.organization, (sql) =>
      hideRun(sql, {
        organizationNum: foxes.organization.num,
        spaceNum: foxes.target.space.num,
        runNum: child.runNum,
        reason: "deleted",
      }),
    );
    expect(await filtered({ file_size__gte: 0 })).toEqual(all.filter((name) => name !== "child.txt"));
    await owner.query("update documents set deleted_at = null where id = $1", [child.id]);
    await owner.query("delete from hidden_runs where run_num = $1", [child.runNum]);
  });

  test("by metadata, of which a value of another type never matches and never fails", async () => {
    expect(await filtered({ "doc_metadata.team": "red" })).toEqual(["root.txt", "root.txt", "words.txt"]);
    expect(await filtered({ "doc_metadata.year": 2025 })).toEqual(["root.txt", "root.txt"]);
    expect(await filtered({ "doc_metadata.year": "2025" })).toEqual(["parent.txt"]);
    expect(await filtered({ "doc_metadata.year__gte": 2025 })).toEqual(["root.txt", "root.txt"]);
    expect(await filtered({ "doc_metadata.year__startswith": "20" })).toEqual(["parent.txt"]);
    expect(await filtered({ "doc_metadata.year__isnull": true })).toEqual(["child.txt"]);
    expect(await filtered({ "doc_metadata.team__in": ["blue", 7] })).toEqual(["parent.txt"]);
  });

  test("together with documents and folders, and the scores stay", async () => {
    const filters = { "doc_metadata.team": "blue" };
    const conditions = parseFilters(filters, DOCUMENT_FIELDS, () => undefined);
    const narrowed = { query: "fox", filters: conditions };
    expect(await foxes.names({ ...narrowed, folder_ids: [foxes.folders.parent] })).toEqual(["parent.txt"]);
    expect(await foxes.names({ ...narrowed, folder_ids: [foxes.folders.child] })).toEqual([]);
    expect(await foxes.names({ ...narrowed, document_ids: [newId()] })).toEqual([]);
    const all = (await foxes.search({ query: "fox", limit: 100 })).results;
    expect((await foxes.search(narrowed)).results).toEqual(
      all.filter((hit) => hit.document_name === "parent.txt"),
    );
  });
});

describe("several spaces", () => {
  const inBoth = (limit: number, request = {}) =>
    searchSpaces(
      foxes.deps(),
      { organization: foxes.organization, spaces: [foxes.target.space, other.space] },
      { query: "fox", limit, ...request },
    );

  test("make one ranking, in which each hit has the score of its space alone", async () => {
    const { results } = await inBoth(100);
    const alone = [
      ...(await foxes.search({ query: "fox", limit: 100 })).results,
      ...(await foxes.search({ query: "fox", limit: 100 }, other)).results,
    ];
    expect(results).toEqual(alone.toSorted((one, another) => another.score - one.score));
    expect(new Set(results.map((hit) => hit.space_id))).toEqual(
      new Set([foxes.target.space.id, other.space.id]),
    );
  });

  test("share the limit and the query's vector", async () => {
    let embedded = 0;
    const { results } = await searchSpaces(
      foxes.deps(async () => {
        embedded += 1;
        return along(0);
      }),
      { organization: foxes.organization, spaces: [foxes.target.space, other.space] },
      { query: "fox", limit: 2 },
    );
    expect(results).toEqual((await inBoth(100)).results.slice(0, 2));
    expect(embedded).toBe(1);
  });

  test("of which none is reached find nothing", async () => {
    expect(
      await searchSpaces(foxes.deps(), { organization: foxes.organization, spaces: [] }, { query: "fox" }),
    ).toEqual({ results: [] });
  });
});
