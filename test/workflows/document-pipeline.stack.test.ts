/** The pipeline on the real stack: every accepted document ends, exactly once, whatever is killed or down. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";

import { call, fileForm } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { expectWhole, longText } from "../support/tenants/document-entries.ts";
import { makeGarbagePdf, makePdf, truncated } from "../support/files/text.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const { end, accept } = documentClient({ stack, tenants });

const search = async (query: string) =>
  (
    await call(stack.url, tenants.keys.viewer, "POST", "/data/hybrid-search", {
      query,
      space_id: tenants.spaces.research,
    })
  ).body;
const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

describe("an upload", () => {
  test("answers with the three flags alone, all false, and ends completed and searchable", async () => {
    const accepted = await accept("# Zebras\n\nZebras have stripes that no two of them share.", "zebras.md");
    expect(accepted.processing_state).toEqual({ parsed: false, chunked: false, embedded: false });
    const document = await end(accepted.id);
    expect(document.processing_state).toMatchObject({
      parsed: true,
      chunked: true,
      embedded: true,
      pipeline_status: "completed",
      chunker_name: "page_based",
      parser_name: "markdown",
    });
    await expectWhole(stack, document);
    const { results } = await search("zebra stripes");
    expect(results[0]).toMatchObject({
      document_id: accepted.id,
      document_name: "zebras.md",
      file_type: "MARKDOWN",
    });
    expect(results[0].score).toBeCloseTo((results[0].dense_score ?? 0) + (results[0].sparse_score ?? 0), 9);
  });

  test("of a PDF keeps its pages", async () => {
    const accepted = await accept(
      bytes(
        makePdf([
          ["Quarterly numbers", "Revenue of the first quarter was high."],
          ["Costs of the second page were low."],
        ]),
      ),
      "numbers.pdf",
    );
    const document = await end(accepted.id);
    expect(document).toMatchObject({
      file_type: "PDF",
      processing_state: { pipeline_status: "completed", parser_name: "liteparse" },
    });
    await expectWhole(stack, document);
  });
});

describe("a large document", () => {
  test("goes alone, is indexed in batches that search does not see, and is published whole", async () => {
    // Another word at each try, since every hit must be of this document.
    const word = `leviathan${randomBytes(4).toString("hex")}`;
    const accepted = await accept(longText(word, 1_600), "leviathan.md");
    // Without pauses, because the part of its time in which some of it is indexed is short.
    const reasons = new Set<string | null>();
    for (let status = ""; status !== "completed" && status !== "failed";) {
      const { rows } = await stack.database.db.owner.query(
        `select run.status,
                hidden.reason,
                exists (select from embeddings embedding where embedding.run_num = run.num) as is_indexed
         from pipeline_runs run
         left join hidden_runs hidden on hidden.run_num = run.num
         where run.document_id = $1`,
        [accepted.id],
      );
      status = rows[0].status;
      if (status === "embedding" && rows[0].is_indexed) reasons.add(rows[0].reason);
    }
    expect([...reasons]).toEqual(["in_flight"]);
    const document = await end(accepted.id, 60_000);
    expect(document.processing_state).toMatchObject({ pipeline_status: "completed" });
    expect(document.processing_state.chunk_count).toBeGreaterThan(512);
    await expectWhole(stack, document);
    expect(
      (await search(word)).results.every((hit: { document_id: string }) => hit.document_id === accepted.id),
    ).toBe(true);
    const workflows = await stack.database.db.owner.query(
      "select cardinality(run_ids) as members from claims where $1 = any(run_ids)",
      [
        (
          await stack.database.db.owner.query("select id from pipeline_runs where document_id = $1", [
            accepted.id,
          ])
        ).rows[0].id,
      ],
    );
    expect(workflows.rows).toEqual([{ members: 1 }]);
  });
});

describe("a file that cannot be read ends failed with its code, and the document stays", () => {
  test.each([
    ["empty_file", Buffer.alloc(0), "empty.md"],
    ["corrupt", makeGarbagePdf(), "garbage.pdf"],
    ["corrupt", truncated(makePdf([["A page that is cut off in the middle."]])), "truncated.pdf"],
    ["encrypted", makePdf([["Secret"]], { userPassword: "hidden" }), "locked.pdf"],
    ["unsupported_file_type", Buffer.from([0, 1, 2, 3, 255, 254, 0, 9, 8, 7]), "blob.bin"],
  ])("%s", async (code, content, filename) => {
    const accepted = await accept(bytes(content), filename);
    const document = await end(accepted.id);
    expect(document.processing_state).toMatchObject({ pipeline_status: "failed", error: { code } });
    expect(document.processing_state.error.message).toMatch(/\.$/);
    expect(document.version).toBeNull();
  });
});

describe("nothing accepted is lost, doubled or stuck", () => {
  afterEach(() => stack.provider.clearFaults());

  test("a provider that is down makes runs wait, and costs none", async () => {
    stack.provider.failEmbeddings({ status: 429, headers: { "retry-after": "1" } });
    const accepted = await accept(longText("elephant", 5), "elephant.md");
    await until("the run says what it waits for", async () => {
      const { rows } = await stack.database.db.owner.query(
        "select waiting_for from pipeline_runs where document_id = $1",
        [accepted.id],
      );
      return rows[0].waiting_for === "provider_rate_limited";
    });
    stack.provider.clearFaults();
    const document = await end(accepted.id);
    expect(document.processing_state.pipeline_status).toBe("completed");
    await expectWhole(stack, document);
  });
});

describe("an upload that is refused stores nothing", () => {
  const objects = async () =>
    (
      await stack.database.db.owner.query(
        `select (select count(*)::int from documents where organization_id = any($1)) as documents,
                (select count(*)::int from pipeline_runs where organization_id = any($1)) as runs`,
        [[tenants.acme, tenants.rival]],
      )
    ).rows[0];
  test.each([
    [
      "a viewer",
      403,
      { detail: "Permission denied: documents:create" },
      () =>
        call(
          stack.url,
          tenants.keys.viewer,
          "POST",
          "/data/upload",
          fileForm("text", "a.md", { space_id: tenants.spaces.research }),
        ),
    ],
    [
      "another organization",
      404,
      { detail: "Space not found" },
      () =>
        call(
          stack.url,
          tenants.keys.rival,
          "POST",
          "/data/upload",
          fileForm("text", "a.md", { space_id: tenants.spaces.research }),
        ),
    ],
    [
      "a key out of its scope",
      404,
      { detail: "Space not found" },
      () =>
        call(
          stack.url,
          tenants.keys.scoped,
          "POST",
          "/data/upload",
          fileForm("text", "a.md", { space_id: tenants.spaces.research }),
        ),
    ],
  ])("%s", async (_who, status, body, send) => {
    const before = await objects();
    const answer = await send();
    expect(answer).toMatchObject({ status, body });
    expect(await objects()).toEqual(before);
  });

  test("missing fields are all named at once", async () => {
    const answer = await call(stack.url, tenants.keys.editor, "POST", "/data/upload", new FormData());
    expect(answer.status).toBe(422);
    expect(
      answer.body.detail.map((problem: { loc: string[]; type: string }) => [problem.type, problem.loc]),
    ).toEqual([
      ["missing", ["body", "file"]],
      ["missing", ["body", "space_id"]],
    ]);
  });
});
