/** The pages of documents through the HTTP API: how they look, from which version, and for whom. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Location } from "../../../../src/domain/locations/location.ts";
import { createReceiptSigner } from "../../../../src/receipts/signer.ts";
import type { Answer } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { rawFileClient } from "../../../support/clients/raw-file-client.ts";
import { makeDrawnPdf, see } from "../../../support/files/pages.ts";
import { makeGarbagePdf, makePdf } from "../../../support/files/text.ts";
import { statement } from "../../../support/receipts/statements.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { keyringOf } from "../../../support/tenants/webhooks.ts";

const { stack, tenants } = onSharedStack();
const { as, put, reprocess, end, versions } = documentClient({ stack, tenants });
const files = rawFileClient({ stack, tenants });

const bytesOf = (file: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(file);
const viewer = (path: string): Promise<Answer> => as(tenants.keys.viewer, "GET", path);
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.error.code];

/** Asks for a picture as a viewer. */
async function fetchPicture(
  id: string,
  query: Record<string, string | number>,
  { page = 1, headers = {} }: { page?: number; headers?: Record<string, string> } = {},
): Promise<Response> {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) text.set(name, String(value));
  return fetch(`${stack.url}/v1/data/${id}/pages/${page}?${text.toString()}`, {
    headers: { authorization: `Bearer ${tenants.keys.viewer}`, ...headers },
  });
}

async function show(id: string, query: Record<string, string | number> = {}, page = 1) {
  const response = await fetchPicture(id, query, { page });
  expect(response.status).toBe(200);
  return see(new Uint8Array(await response.arrayBuffer()));
}

/** A page in one colour with a line of text, so that it can be published. */
const coloured = (colour: string, text: string): Uint8Array<ArrayBuffer> =>
  bytesOf(
    makeDrawnPdf([
      {
        content: `${colour} rg 0 0 200 100 re f 0 g BT /F1 12 Tf 20 150 Td (${text}) Tj ET`,
        entries: "/MediaBox [0 0 200 200]",
      },
    ]),
  );
const RED = "1 0 0";
const BLUE = "0 0 1";

let report: Answer["body"];
let chunk: { id: string; locations: Location[] };

beforeAll(async () => {
  report = await put(
    bytesOf(
      makePdf([
        [{ text: "Zebras", size: 20 }, "Zebras have stripes that no two of them share."],
        [{ text: "Food", size: 20 }, "They eat grass for most of the day."],
      ]),
    ),
    "zebras.pdf",
  );
  const { body } = await viewer(`/data/${report.id}/chunks`);
  chunk = body.items.find(({ text }: { text: string }) => text.includes("stripes"));
});

describe("GET /data/{id}/pages", () => {
  test("lists pages with their sizes", async () => {
    expect((await viewer(`/data/${report.id}/pages`)).body).toEqual({
      items: [
        { number: 1, width: 612, height: 792 },
        { number: 2, width: 612, height: 792 },
      ],
      total_items: 2,
      total_pages: 1,
      page: 1,
      page_size: 20,
    });
    expect((await viewer(`/data/${report.id}/pages?page=2&limit=1`)).body).toMatchObject({
      items: [{ number: 2 }],
      total_pages: 2,
    });
    expect((await viewer(`/data/${report.id}/pages?page=3&limit=1`)).body.items).toEqual([]);
  });

  test("of a format without pages is refused", async () => {
    const note = await put("# A note", "note.md");
    expect(codeOf(await viewer(`/data/${note.id}/pages`))).toEqual([422, "unsupported_file_type"]);
    expect(codeOf(await viewer(`/data/${note.id}/pages/1`))).toEqual([422, "unsupported_file_type"]);
  });
});

describe("GET /data/{id}/pages/{n}", () => {
  test("is a picture in the format and width that are asked for", async () => {
    const response = await fetchPicture(report.id, {});
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const seen = await see(new Uint8Array(await response.arrayBuffer()));
    expect(seen).toMatchObject({ format: "png", width: 1_000, height: 1_294 });
    expect(await show(report.id, { width: 300, format: "webp" }, 2)).toMatchObject({
      format: "webp",
      width: 300,
    });
  });

  test("answers 304 to whoever has the picture, and again only to whom may read it", async () => {
    const etag = (await fetchPicture(report.id, { width: 301 })).headers.get("etag")!;
    const headers = { "if-none-match": etag };
    expect((await fetchPicture(report.id, { width: 301 }, { headers })).status).toBe(304);
    expect((await fetchPicture(report.id, { width: 302 }, { headers })).status).toBe(200);
    expect((await fetchPicture(report.id, { width: 301, highlight: chunk.id }, { headers })).status).toBe(
      200,
    );
    const stranger = await as(
      tenants.keys.rival,
      "GET",
      `/data/${report.id}/pages/1?width=301`,
      undefined,
      headers,
    );
    expect(codeOf(stranger)).toEqual([404, "document_not_found"]);
  });

  test("highlights a chunk where its words stand, on its page alone", async () => {
    const boxes = chunk.locations.flatMap((location) => location.boxes ?? []);
    expect(boxes.length).toBeGreaterThan(0);
    const seen = await show(report.id, { highlight: chunk.id });
    const plain = await show(report.id);
    for (const [x0, y0, x1, y1] of boxes) {
      const corner = [x0 - 0.001, (y0 + y1) / 2] as const;
      expect([plain.at(...corner), seen.at(...corner)]).toEqual(["white", "yellow"]);
      expect(seen.at(x1 + 0.02, (y0 + y1) / 2)).toBe("white");
    }
    expect(seen.at(0.5, 0.9)).toBe("white");
    const [[x0, y0] = [0, 0]] = boxes;
    expect((await show(report.id, { highlight: chunk.id }, 2)).at(x0 - 0.001, y0)).toBe("white");
  });

  test("refuses what there is not", async () => {
    const other = await put("Another one.", "other.md");
    const foreign = (await viewer(`/data/${other.id}/chunks`)).body.items[0].id;
    const path = `/data/${report.id}/pages`;
    expect(codeOf(await viewer(`${path}/3`))).toEqual([404, "page_not_found"]);
    expect(codeOf(await viewer(`${path}/1?highlight=${foreign}`))).toEqual([404, "chunk_not_found"]);
    expect(codeOf(await viewer(`${path}/1?version=99`))).toEqual([404, "version_not_found"]);
    expect(codeOf(await viewer(`${path}/1?width=2001`))).toEqual([422, "invalid"]);
    expect(codeOf(await viewer(`${path}/1?highlight=nothing`))).toEqual([422, "invalid"]);
    expect(codeOf(await viewer(`${path}/1?highlight=a.forged.receipt`))).toEqual([422, "invalid"]);
  });

  test("is there for those alone who reach the space, and gone with the document", async () => {
    const document = await put(coloured(RED, "Seen and deleted"), "deleted.pdf");
    const path = `/data/${document.id}/pages/1?width=50`;
    const statusFor = async (key: string | null): Promise<number> => (await as(key, "GET", path)).status;
    expect(await statusFor(tenants.keys.viewer)).toBe(200);
    expect(await statusFor(tenants.keys.rival)).toBe(404);
    expect(await statusFor(tenants.keys.scoped)).toBe(404);
    expect(await statusFor(null)).toBe(401);
    expect((await as(tenants.keys.editor, "DELETE", `/data/${document.id}`)).status).toBe(204);
    expect(await statusFor(tenants.keys.viewer)).toBe(404);
  });

  test("of a damaged or protected file says what is wrong, also while nothing is published", async () => {
    const damaged = await put(bytesOf(makeGarbagePdf()), "damaged.pdf");
    const locked = await put(bytesOf(makePdf([["a"]], { userPassword: "x" })), "locked.pdf");
    expect(codeOf(await viewer(`/data/${damaged.id}/pages/1`))).toEqual([422, "corrupt"]);
    expect(codeOf(await viewer(`/data/${locked.id}/pages/1`))).toEqual([422, "encrypted"]);
    expect(codeOf(await viewer(`/data/${locked.id}/pages`))).toEqual([422, "encrypted"]);
  });
});

describe("versions", () => {
  async function replace(content: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
    expect((await files.put("", name, content)).status).toBe(201);
    const { document_id: id } = await files.one(name);
    await end(id);
    return id;
  }
  const lower = async (id: string, query: Record<string, string | number> = {}): Promise<string> =>
    (await show(id, { width: 60, ...query })).at(0.5, 0.9);

  test("the published one and the one before are shown, older ones are 410", async () => {
    const id = await replace(coloured(RED, "First words"), "versions.pdf");
    const before = (await viewer(`/data/${id}/chunks`)).body.items[0].id;
    await replace(coloured(BLUE, "Second words"), "versions.pdf");

    expect([await lower(id), await lower(id, { version: 2 }), await lower(id, { version: 1 })]).toEqual([
      "blue",
      "blue",
      "red",
    ]);
    expect(await lower(id, { highlight: before })).toBe("red");
    expect((await viewer(`/data/${id}/pages?version=1`)).body.total_items).toBe(1);

    expect((await reprocess(id)).status).toBe(202);
    await end(id);
    expect(await lower(id, { version: 2 })).toBe("blue");
    expect(codeOf(await viewer(`/data/${id}/pages/1?version=1`))).toEqual([410, "version_not_kept"]);
    expect(codeOf(await viewer(`/data/${id}/pages?version=1`))).toEqual([410, "version_not_kept"]);
  });

  test("a replacement that fails leaves the published one and the one before it", async () => {
    const id = await replace(coloured(RED, "Kept words"), "kept.pdf");
    await replace(coloured(BLUE, "Published words"), "kept.pdf");
    await replace(bytesOf(makeGarbagePdf()), "kept.pdf");

    expect((await versions(id))[0]).toMatchObject({ version: 3, status: "failed" });
    expect([await lower(id), await lower(id, { version: 1 })]).toEqual(["blue", "red"]);
    expect(codeOf(await viewer(`/data/${id}/pages/1?version=3`))).toEqual([422, "corrupt"]);
  });

  test("a receipt shows its words on the version that was cited", async () => {
    const id = await replace(coloured(RED, "Cited words"), "cited.pdf");
    await replace(coloured(BLUE, "Other words"), "cited.pdf");
    const masterKey = Buffer.from(stack.env["MASTER_KEY"]!, "base64");
    const { db } = stack.database;
    const signer = createReceiptSigner({ db, keyring: keyringOf(db, masterKey) });
    const cited = statement({
      documentId: id,
      documentVersion: 1,
      spaceId: tenants.spaces.research,
      locations: [{ page: 1, boxes: [[0.5, 0.05, 0.9, 0.15]] }],
    });
    const { receipt } = (await signer.issue(tenants.acme, [cited]))[0]!;

    const seen = await show(id, { highlight: receipt });
    expect([seen.at(0.7, 0.1), seen.at(0.3, 0.1), seen.at(0.5, 0.9)]).toEqual(["yellow", "white", "red"]);
    const path = `/data/${id}/pages/1?highlight=${receipt}`;
    expect(codeOf(await viewer(`${path}&version=2`))).toEqual([422, "invalid"]);
    expect(codeOf(await viewer(`/data/${report.id}/pages/1?highlight=${receipt}`))).toEqual([422, "invalid"]);
    expect(codeOf(await viewer(`${path.slice(0, -4)}`))).toEqual([422, "invalid"]);
    expect(codeOf(await as(tenants.keys.rival, "GET", path))).toEqual([422, "invalid"]);

    await reprocess(id);
    await end(id);
    expect(codeOf(await viewer(path))).toEqual([410, "version_not_kept"]);
  });
});
