import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { at, rawFileClient } from "../../../support/clients/raw-file-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const client = rawFileClient({ stack, tenants });

beforeAll(async () => {});
describe("a download", () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 251);
  beforeAll(async () => {
    await client.put("down", "data.bin", bytes);
  });
  const part = (start: number, end: number) => Buffer.from(bytes.subarray(start, end));
  const body = async (response: Response) => Buffer.from(await response.arrayBuffer());

  test("is the file, as an attachment that nothing may run", async () => {
    const response = await client.get("down/data.bin");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-length": "3000000",
      "accept-ranges": "bytes",
      "content-disposition": 'attachment; filename="data.bin"',
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      etag: expect.stringMatching(/^"[\w-]+"$/),
      "cache-control": "private, no-cache",
    });
    expect((await body(response)).equals(Buffer.from(bytes))).toBe(true);
  });

  test("answers HEAD with the same headers and no body", async () => {
    const response = await client.get("down/data.bin", {}, "HEAD");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-length": "3000000",
      "accept-ranges": "bytes",
      "content-type": "application/octet-stream",
      etag: expect.any(String),
    });
    expect((await body(response)).byteLength).toBe(0);
  });

  test.each([
    ["bytes=0-99", 0, 100],
    ["bytes=65530-65545", 65_530, 65_546],
    ["bytes=2999990-", 2_999_990, 3_000_000],
    ["bytes=-7", 2_999_993, 3_000_000],
    ["bytes=2999999-9999999999999999999999", 2_999_999, 3_000_000],
    ["bytes=-9999999999", 0, 3_000_000],
  ])("serves the range %s", async (range, start, end) => {
    const response = await client.get("down/data.bin", { range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/3000000`);
    expect(response.headers.get("content-length")).toBe(String(end - start));
    expect((await body(response)).equals(part(start, end))).toBe(true);
  });

  test.each(["bytes=3000000-", "bytes=-0", "bytes=99999999999999999999-"])(
    "answers 416 to %s",
    async (range) => {
      const response = await client.get("down/data.bin", { range });
      expect(response.status).toBe(416);
      expect(response.headers.get("content-range")).toBe("bytes */3000000");
      expect(await response.json()).toMatchObject({ detail: expect.any(String) });
    },
  );

  test.each(["bytes=5-2", "bytes=0-1,5-6", "lines=1-2", "bytes=", "bytes=-", "nonsense"])(
    "sends the whole for %s",
    async (range) => {
      const response = await client.get("down/data.bin", { range });
      expect(response.status).toBe(200);
      expect((await body(response)).byteLength).toBe(3_000_000);
    },
  );

  test("is not sent again to whoever has it", async () => {
    const etag = (await client.get("down/data.bin", {}, "HEAD")).headers.get("etag")!;
    for (const header of [etag, `"other", W/${etag}`, "*"]) {
      const response = await client.get("down/data.bin", { "if-none-match": header });
      expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([304, etag, ""]);
    }
    expect((await client.get("down/data.bin", { "if-none-match": '"other"' }, "HEAD")).status).toBe(200);
    expect((await client.get("down/data.bin", { range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await client.get("down/data.bin", { range: "bytes=0-1", "if-range": '"other"' })).status).toBe(
      200,
    );
    await client.put("down", "data.bin", Uint8Array.from(bytes.subarray(0, 10)));
    expect((await client.get("down/data.bin", { "if-none-match": etag })).status).toBe(200);
    await client.put("down", "data.bin", bytes);
  });

  test("of an empty file is empty", async () => {
    await client.put("down", "empty.txt", "");
    const response = await client.get("down/empty.txt");
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      200,
      "0",
      "",
    ]);
    expect((await client.get("down/empty.txt", { range: "bytes=0-" })).status).toBe(416);
  });

  test("without valid credentials is 403", async () => {
    const url = `${stack.url}/v1${client.root}/download?${at("down/data.bin")}`;
    for (const authorization of [undefined, "Bearer sk-nobody", "Basic abc", "Bearer a.b.c"]) {
      const response = await fetch(url, { headers: authorization === undefined ? {} : { authorization } });
      expect([authorization, response.status]).toEqual([authorization, 403]);
    }
  });

  test("is 404 for a stranger, for what is not there, and for a folder", async () => {
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect(
        (await call(stack.url, key, "GET", `${client.root}/download?${at("down/data.bin")}`)).status,
      ).toBe(404);
    expect(await client.request("GET", `${client.root}/download?${at("down/none.bin")}`)).toMatchObject({
      status: 404,
      body: { detail: "File not found" },
    });
    expect(
      (
        await client.request(
          "GET",
          `${client.root}/download?${at(`spaces/${tenants.spaces.archive}/data/down/data.bin`)}`,
        )
      ).status,
    ).toBe(404);
    expect((await client.request("GET", `${client.root}/download?${at("down")}`)).status).toBe(404);
    expect((await client.request("GET", `${client.root}/download?${at("../x")}`)).status).toBe(422);
    expect(
      (await call(stack.url, tenants.keys.viewer, "GET", `${client.root}/download?${at("down/empty.txt")}`))
        .status,
    ).toBe(200);
  });

  test("takes the object's name of the upload", async () => {
    const { body: uploaded } = await client.put("down", "named.txt", "by name");
    expect(await client.content(uploaded.object_name)).toBe("by name");
  });

  test("that the client leaves ends, and the service goes on", async () => {
    const target = new URL(`${stack.url}/v1${client.root}/download?${at("down/data.bin")}`);
    for (let round = 0; round < 5; round += 1) {
      const socket = connect(Number(target.port), target.hostname);
      socket.write(
        `GET ${target.pathname}${target.search} HTTP/1.1\r\nhost: x\r\n` +
          `authorization: Bearer ${tenants.keys.editor}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
    }
    expect((await body(await client.get("down/data.bin"))).byteLength).toBe(3_000_000);
    expect(stack.api.output()).not.toContain('"level":50');
  });

  test("of a name of any script arrives under that name", async () => {
    for (const [name, disposition] of [
      [
        "grüße 日本.txt",
        `attachment; filename="gru_e __.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%E6%97%A5%E6%9C%AC.txt`,
      ],
      [`it's "50%".txt`, `attachment; filename="it's _50__.txt"; filename*=UTF-8''it%27s%20%2250%25%22.txt`],
      ["plain (1).txt", 'attachment; filename="plain (1).txt"'],
    ] as const) {
      await client.put("names", "start.txt", name);
      expect((await client.rename("names/start.txt", `names/${name}`)).status).toBe(204);
      const response = await client.get(`names/${name}`);
      expect([response.headers.get("content-disposition"), await response.text()]).toEqual([
        disposition,
        name,
      ]);
    }
  });

  test("of a name with line breaks cannot break the answer's head", async () => {
    const form = new FormData();
    form.set("path", "names");
    form.set("file", new Blob(["x"]), "a\r\nX-Evil: 1\r\n.txt");
    expect((await client.request("POST", `${client.root}/upload`, form)).status).toBe(201);
    const file = (await client.list("names/a"))[0];
    const response = await client.get(file.path);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-evil")).toBeNull();
  });
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
