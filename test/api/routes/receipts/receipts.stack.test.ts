/** What became of the words of a receipt, through the HTTP API, on the real pipeline. */
import { createLocalJWKSet, compactVerify } from "jose";
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { ended, call, fileForm, upload } from "../../../support/clients/client.ts";
import { citationOf } from "../../../support/receipts/cited.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();

const QUOTE = "The notice period of the heron is 30 days.";
const as = (who: keyof typeof tenants.keys) => (method: string, path: string, body?: unknown) =>
  call(stack.url, tenants.keys[who], method, path, body);
const owner: ReturnType<typeof as> = (...request) => as("owner")(...request);

async function cited(content = `# Terms\n\n${QUOTE} It begins with the letter.`) {
  const { id } = await upload(stack.url, tenants.keys.owner, tenants.spaces.research, content, "terms.md");
  await ended(stack.url, tenants.keys.owner, id);
  return { id: id as string, citation: await cite(id) };
}

const cite = (documentId: string, quote = QUOTE) =>
  citationOf(stack, { organizationId: tenants.acme, key: tenants.keys.owner, documentId, quote });

const verify = async (body: unknown, who: keyof typeof tenants.keys = "owner") => {
  const answer = await as(who)("POST", "/receipts/verify", body);
  expect(answer.status).toBe(200);
  return answer.body;
};

/** Puts a file at a path of its own, and each later one in its place. */
function replaceable() {
  const path = newId();
  return async (content: string) => {
    const form = fileForm(content, "terms.md", { path });
    await owner("POST", `/spaces/${tenants.spaces.research}/data/upload`, form);
    const { body } = await owner("GET", `/spaces/${tenants.spaces.research}/data/files?prefix=${path}`);
    const id = body.items[0].document_id as string;
    return (await ended(stack.url, tenants.keys.owner, id)).id as string;
  };
}

test("while its version is published, a receipt is `same`, with and without the quote", async () => {
  const { id, citation } = await cited();

  expect(await verify({ receipt: citation.receipt })).toMatchObject({
    status: "same",
    current_version: 1,
    claims: { document: id, document_version: 1, space: tenants.spaces.research },
  });
  expect(await verify(citation, "viewer")).toMatchObject({ status: "same" });
});

test("a quote or a salt that is not the receipt's is `invalid`", async () => {
  const { citation } = await cited();
  const other = await cite((await cited()).id);

  for (const wrong of [
    { ...citation, quote: QUOTE.replace("30", "90") },
    { ...citation, salt: other.salt },
  ])
    expect(await verify(wrong)).toEqual({ status: "invalid", reason: "quote" });
});

test("what is no receipt is `invalid`, and says nothing else", async () => {
  const { citation } = await cited();
  const [head, body, signature] = citation.receipt.split(".");

  for (const receipt of [
    "none",
    "a.b.c",
    `${head}.${body}.`,
    `${head}.e30.${signature}`,
    citation.receipt.slice(1),
  ])
    expect(await verify({ ...citation, receipt })).toEqual({ status: "invalid", reason: "signature" });
});

test("who does not reach the space learns nothing, not even that the quote is wrong", async () => {
  const { id, citation } = await cited();
  const nothing = { status: "not_reachable" };

  expect(await verify(citation, "scoped")).toEqual(nothing);
  expect(await verify({ ...citation, quote: "Something else." }, "scoped")).toEqual(nothing);
  expect(await verify(citation, "rival")).toEqual(nothing);
  await owner("DELETE", `/data/${id}`);
  expect(await verify(citation, "scoped")).toEqual(nothing);
});

test("after reprocessing to the same text, the words are found in the new version", async () => {
  const { id, citation } = await cited();
  await owner("POST", `/data/${id}/reprocess`);
  await ended(stack.url, tenants.keys.owner, id);

  const { status, current_version: version, found } = await verify(citation);

  expect({ status, version }).toEqual({ status: "superseded", version: 2 });
  const { body } = await owner("GET", `/data/${id}/chunks`);
  const chunk = body.items.find((one: { id: string }) => one.id === found.chunk_id);
  expect(chunk.text.slice(found.quote_start, found.quote_end)).toBe(QUOTE);
  expect(await verify({ receipt: citation.receipt })).not.toHaveProperty("found");
});

test("after a replacement the words are found with other line breaks, or are gone", async () => {
  const put = replaceable();
  const id = await put(`# Terms\n\n${QUOTE}`);
  const citation = await cite(id);

  await put("# New terms\n\nFirst something else.\n\nThe notice period of\nthe heron is 30 days. Of course.");
  const moved = await verify(citation);
  await put("# New terms\n\nThe notice period of the heron is 90 days.");
  const gone = await verify(citation);

  expect(moved).toMatchObject({ status: "superseded", current_version: 2, found: { chunk_index: 0 } });
  expect(gone).toMatchObject({ status: "superseded", current_version: 3, found: null });
});

test("words that the new version cuts between chunks are found in its text", async () => {
  const put = replaceable();
  const quote = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
  const citation = await cite(await put(quote), quote);
  const id = await put(`Other ${"text ".repeat(80)}${quote} and more.`);
  await owner("POST", `/data/${id}/reprocess`, {
    chunker_name: "fixed_tokens",
    chunker_config: { max_tokens: 50, overlap_tokens: 0 },
  });
  await ended(stack.url, tenants.keys.owner, id);

  expect(await verify(citation)).toMatchObject({
    status: "superseded",
    current_version: 3,
    found: { chunk_id: null, chunk_index: null },
  });
});

test("when the cited version is restored, the receipt is `same` again, under its new number", async () => {
  const { id, citation } = await cited();
  await owner("POST", `/data/${id}/reprocess`, { chunker_name: "sentence" });
  await ended(stack.url, tenants.keys.owner, id);
  await owner("POST", `/data/${id}/versions/1/restore`);
  await ended(stack.url, tenants.keys.owner, id);

  expect(await verify(citation)).toMatchObject({
    status: "same",
    current_version: 3,
    claims: { document_version: 1 },
  });
});

test("a deleted document is `deleted`, before and after its rows are gone", async () => {
  const { id, citation } = await cited();
  await owner("DELETE", `/data/${id}`);

  expect(await verify(citation)).toMatchObject({ status: "deleted", claims: { document: id } });
  await until("its rows are gone", async () => {
    const rows = await stack.database.db.owner.query("select from documents where id = $1", [id]);
    return rows.rowCount === 0;
  });
  expect(await verify(citation)).toMatchObject({ status: "deleted" });
});

test("any library checks a receipt by the organization's keys, or by its own key without credentials", async () => {
  const { citation } = await cited();
  const kid = JSON.parse(Buffer.from(citation.receipt.split(".")[0]!, "base64url").toString()).kid as string;

  const own = await owner("GET", "/receipts/jwks");
  const anybody = await call(stack.url, null, "GET", `/receipts/jwks/${kid}`);
  const rival = await as("rival")("GET", "/receipts/jwks");

  expect(own.headers.get("cache-control")).toBe("private, max-age=300");
  expect(anybody.headers.get("cache-control")).toBe("public, max-age=300");
  for (const { body } of [own, anybody])
    expect((await compactVerify(citation.receipt, createLocalJWKSet(body))).protectedHeader).toEqual({
      alg: "EdDSA",
      kid,
      typ: "holdfast-receipt+jwt",
    });
  expect(rival.body.keys.map((key: { kid: string }) => key.kid)).not.toContain(kid);
  expect((await call(stack.url, null, "GET", `/receipts/jwks/${"A".repeat(22)}`)).body).toEqual({ keys: [] });
});

test("a quote without its salt, a text that is too long and a missing receipt are 422 at their place", async () => {
  const refused = async (body: unknown) => {
    const answer = await owner("POST", "/receipts/verify", body);
    expect(answer.status).toBe(422);
    return answer.body.detail[0].loc;
  };

  expect(await refused({ receipt: "a", quote: "b" })).toEqual(["body", "salt"]);
  expect(await refused({ receipt: "a".repeat(8_193) })).toEqual(["body", "receipt"]);
  expect(await refused({ receipt: "a", quote: "b".repeat(1_001), salt: "A".repeat(22) })).toEqual([
    "body",
    "quote",
  ]);
  expect(await refused({})).toEqual(["body", "receipt"]);
});
