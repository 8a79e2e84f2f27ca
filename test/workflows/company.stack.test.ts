/** A document that shares its claim, its user and its processes with slow ones waits for none of them. */
import { describe, expect, test } from "vitest";
import { batchClient } from "../support/clients/batch-client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { makeLongPdf, makePdf } from "../support/files/text.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const on = { stack, tenants };
const { accept, editor, end, rows, put, versions } = documentClient(on);
const batches = batchClient(on);

const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);
const runOf = async (id: string) =>
  (
    await rows(
      `select run.claim_id, run.completed_at, run.status, claim.lane
       from pipeline_runs run
       left join claims claim on claim.id = run.claim_id
       where run.document_id = $1
       order by run.version desc
       limit 1`,
      [id],
    )
  )[0];

/** Both documents are in one claim; documents that are published together have the same time. */
async function expectEarlier(small: string, slow: string): Promise<void> {
  const [ofSmall, ofSlow] = [await runOf(small), await runOf(slow)];
  expect([ofSmall.status, ofSlow.status]).toEqual(["completed", "completed"]);
  expect(ofSmall.claim_id).toBe(ofSlow.claim_id);
  expect(ofSmall.completed_at.getTime()).toBeLessThan(ofSlow.completed_at.getTime());
}

describe("a document in a claim with a slow one", () => {
  test("is published while the slow one is still parsed", async () => {
    const slow = await put(bytes(makeLongPdf(1_000)), "long.pdf");
    const small = await put(bytes(makePdf([["A short letter about herons."]])), "letter.pdf");
    const { body } = await batches.start({ document_ids: [slow.id, small.id], chunker_name: "recursive" });
    const standing = () =>
      rows(
        `select run.status, run.claim_id
         from pipeline_runs run
         join documents document on document.id = run.document_id and document.latest_run_num = run.num
         where document.id = any($1)
         order by document.id`,
        [[slow.id, small.id]],
      );
    const [ofSlow, ofSmall] = await until("the small one has ended", async () => {
      const both = await standing();
      return both[1].status === "completed" && both;
    });
    expect([ofSlow.status, ofSmall.claim_id]).toEqual(["parsing", ofSlow.claim_id]);
    await editor("POST", `/data/batches/${body.batch_id}/cancel`);
  });

  test("is published while the slow one is still embedded", async () => {
    const long = Array.from(
      { length: 400 },
      (_, index) => `Paragraph ${index} of the long one says ${`word${index} `.repeat(8)}.`,
    ).join("\n\n");
    const slow = await put(long, "long.md");
    const small = await put("A note about bitterns.", "note.md");
    const { body } = await batches.start({
      document_ids: [slow.id, small.id],
      chunker_name: "fixed_tokens",
      chunker_config: { max_tokens: 50 },
    });
    await batches.end(body.batch_id);
    await expectEarlier(small.id, slow.id);
  });
});

describe("a small upload of a user who has ten large ones under way", () => {
  test("is done before the last three of them are claimed", async () => {
    const padding = "Padding of a large file. ".repeat(50_000);
    const large = await Promise.all(
      Array.from({ length: 10 }, (_, index) => accept(`# Large ${index}\n\n${padding}`, `large-${index}.md`)),
    );
    const note = await accept("A note about egrets.", "note.md");
    await end(note.id);
    const waiting = await rows(
      "select from pipeline_runs where document_id = any($1) and status = 'queued' and claim_id is null",
      [large.map((one) => one.id)],
    );
    expect(waiting.length).toBeGreaterThanOrEqual(3);
    for (const one of large)
      await editor("POST", `/data/runs/${(await versions(one.id))[0].pipeline_run_id}/cancel`);
  }, 120_000);
});
