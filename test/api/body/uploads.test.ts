import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { ClientRequest, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { receiveUpload } from "../../../src/api/body/uploads.ts";
import type { ArrivingFile } from "../../../src/api/body/arriving-file.ts";
import type { UploadOptions } from "../../../src/api/body/uploads.ts";
import { DomainError } from "../../../src/domain/errors.ts";

interface Sunk {
  readonly bytes: number;
  readonly sha256: string;
  readonly head: string;
}

async function sink({ stream, head }: ArrivingFile): Promise<Sunk> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of stream) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).byteLength;
  }
  return { bytes, sha256: hash.digest("hex"), head: head.toString("latin1") };
}

let server: Server;
let origin: string;
let options: UploadOptions<unknown>;
/** How each request ended on the server's side. */
let outcomes: unknown[];

beforeAll(async () => {
  server = createServer((req, res) => {
    receiveUpload(req, options).then(
      (received) => {
        outcomes.push(received);
        res.end(JSON.stringify(received));
      },
      (error: unknown) => {
        outcomes.push(error);
        res
          .writeHead(error instanceof DomainError ? error.status : 500)
          .end(JSON.stringify({ detail: error instanceof Error ? error.message : "" }));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  outcomes = [];
  options = { maxBytes: 5 * 1024 * 1024, onFile: sink };
});

type Answer = { readonly status: number; readonly body: any };

const textPart = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const filePart = (content: string, filename = 'filename="a.txt"'): string =>
  `--b\r\nContent-Disposition: form-data; name="file"; ${filename}\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
const END = "--b--\r\n";

async function post(
  body: string,
  headers: Record<string, string> = { "content-type": "multipart/form-data; boundary=b" },
): Promise<Answer> {
  const answer = await fetch(origin, { method: "POST", body, headers });
  return { status: answer.status, body: await answer.json() };
}

/** A form whose file is made while it is sent; its length is declared only where `declared` is given. */
function open(declared?: number): ClientRequest {
  const req = request(origin, {
    method: "POST",
    headers: {
      "content-type": "multipart/form-data; boundary=b",
      ...(declared === undefined ? {} : { "content-length": declared }),
    },
  });
  req.on("error", () => {});
  return req;
}

async function* file(megabytes: number): AsyncGenerator<Buffer> {
  const block = randomBytes(1024 * 1024);
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n');
  for (let index = 0; index < megabytes; index += 1) yield block;
  yield Buffer.from(`\r\n${END}`);
}

async function send(req: ClientRequest, body: AsyncIterable<Buffer>): Promise<Answer> {
  const answered = once(req, "response");
  Readable.from(body, { objectMode: false }).pipe(req);
  const [answer] = await answered;
  let text = "";
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode, body: JSON.parse(text) };
}

describe("a form", () => {
  test("made by a standard client is read whole", async () => {
    const bytes = randomBytes(300_000);
    const form = new FormData();
    form.set("space_id", "s1");
    form.set("file", new File([bytes], "übung.pdf", { type: "application/pdf" }));
    const answer = await fetch(origin, { method: "POST", body: form });
    expect(await answer.json()).toMatchObject({
      fields: { space_id: "s1" },
      file: {
        filename: "übung.pdf",
        contentType: "application/pdf",
        size: 300_000,
        value: {
          bytes: 300_000,
          sha256: createHash("sha256").update(bytes).digest("hex"),
          head: bytes.toString("latin1", 0, 65_536),
        },
      },
      problems: [],
    });
  });

  test("may carry its fields behind the file", async () => {
    const { body } = await post(
      filePart("hello") + textPart("space_id", "später") + textPart("path", "") + END,
    );
    expect(body).toMatchObject({
      fields: { space_id: "später", path: "" },
      file: { size: 5, value: { head: "hello" } },
    });
  });

  test("may be cut into single bytes on its way", async () => {
    const whole = Buffer.from(textPart("space_id", "1") + filePart("a\r\n--c\r\n-") + END);
    async function* bytes(): AsyncGenerator<Buffer> {
      for (let index = 0; index < whole.byteLength; index += 1) yield whole.subarray(index, index + 1);
    }
    const { body } = await send(open(), bytes());
    expect(body).toMatchObject({ fields: { space_id: "1" }, file: { value: { head: "a\r\n--c\r\n-" } } });
  });

  test("may have an empty file, or none", async () => {
    expect((await post(filePart("") + END)).body.file).toMatchObject({
      size: 0,
      value: { bytes: 0, head: "" },
    });
    expect((await post(textPart("space_id", "1") + END)).body).toEqual({
      fields: { space_id: "1" },
      file: null,
      problems: [],
    });
    expect((await post("")).body).toEqual({ fields: {}, file: null, problems: [] });
  });

  test("keeps the first of two files, and reads what follows", async () => {
    const { body } = await post(
      filePart("one") + filePart("two".repeat(100_000)) + textPart("space_id", "1") + END,
    );
    expect(body).toMatchObject({ fields: { space_id: "1" }, file: { size: 3 } });
  });

  test("says that its file came as text", async () => {
    expect((await post(textPart("file", "abc") + END)).body).toEqual({
      fields: {},
      file: null,
      problems: [{ kind: "file_is_text", input: "abc" }],
    });
  });

  test("holds odd field names without harm", async () => {
    expect(
      (await post(textPart("__proto__", "x") + textPart("constructor", "y") + END)).body.fields,
    ).toMatchObject({ constructor: "y" });
  });

  test("leaves its connection in use for the next request", async () => {
    for (let index = 0; index < 3; index += 1)
      expect((await post(`${filePart("x")}${END}epilogue`)).status).toBe(200);
  });

  test("whose file nobody reads is read to its end all the same", async () => {
    options = { maxBytes: 5_000_000, onFile: async () => "not read" };
    expect(
      (await post(filePart("x".repeat(3_000_000)) + textPart("space_id", "1") + END)).body,
    ).toMatchObject({
      fields: { space_id: "1" },
      file: { value: "not read", size: 3_000_000 },
    });
  });
});

describe("what is no form", () => {
  test.each(["application/json", "text/plain", "multipart/mixed; boundary=b"])(
    "of type %s has no fields",
    async (type) => {
      expect((await post("{}", { "content-type": type })).body).toEqual({
        fields: {},
        file: null,
        problems: [{ kind: "not_multipart" }],
      });
    },
  );

  test.each([
    ["without a boundary", "multipart/form-data", filePart("x") + END, "Missing boundary in multipart."],
    [
      "with a boundary too long",
      `multipart/form-data; boundary=${"b".repeat(400)}`,
      "x",
      "Missing boundary in multipart.",
    ],
    [
      "that ends in its middle",
      "multipart/form-data; boundary=b",
      filePart("x"),
      "There was an error parsing the body",
    ],
    [
      "of another boundary",
      "multipart/form-data; boundary=other",
      filePart("x") + END,
      "There was an error parsing the body",
    ],
    [
      "of mere noise",
      "multipart/form-data; boundary=b",
      "\u0000\r\n\r\nnoise".repeat(1000),
      "There was an error parsing the body",
    ],
  ])("%s is refused", async (_what, type, body, detail) => {
    expect(await post(body, { "content-type": type })).toEqual({ status: 400, body: { detail } });
  });

  test("has too many parts or too long a field", async () => {
    options = { ...options, maxFields: 3, maxFieldBytes: 10 };
    expect((await post(textPart("a", "1").repeat(4) + END)).body.detail).toBe(
      "Too many fields. Maximum number of fields is 3.",
    );
    expect((await post(textPart("a", "12345678901") + END)).body.detail).toBe(
      "Field exceeded maximum size of 10 bytes.",
    );
  });
});

describe("a file's name", () => {
  test.each([
    ['filename="C:\\\\fakepath\\\\a.txt"', "a.txt"],
    ['filename="../../etc/passwd"', "passwd"],
    ['filename=".."', "file"],
    ['filename=""', "file"],
    ['filename="a\tb\u007f.txt"', "ab.txt"],
    ['filename="u\u0308.txt"', "\u00fc.txt"],
    ['filename="say \\"hi\\".txt"', 'say "hi".txt'],
    ['filename="a;b.txt"', "a;b.txt"],
    ["filename=plain.txt", "plain.txt"],
    ["filename*=UTF-8''na%C3%AFve.txt", "na\u00efve.txt"],
    ["filename=\"fallback.txt\"; filename*=UTF-8''%e2%82%ac%2Fr.txt", "r.txt"],
    ["filename*=UTF-8''r%C3%A9sum%C3%A9.txt; filename=\"fallback.txt\"", "r\u00e9sum\u00e9.txt"],
    ["filename*=iso-8859-1'de'f%FCr.txt", "f\u00fcr.txt"],
    [`filename="${"\u00e4".repeat(300)}.pdf"`, `${"\u00e4".repeat(125)}.pdf`],
    [`filename="${"x".repeat(300)}"`, "x".repeat(255)],
  ])("%s is %s", async (stated, expected) => {
    expect((await post(filePart("x", stated) + END)).body.file.filename).toBe(expected);
  });
});

describe("over the limit", () => {
  test("by declared length is refused before a byte is read", async () => {
    const onFile = vi.fn<typeof sink>(sink);
    options = { maxBytes: 1000, onFile };
    const req = open(5_000_000_000);
    req.flushHeaders();
    const [answer] = await once(req, "response");
    expect(answer.statusCode).toBe(400);
    expect(outcomes[0]).toMatchObject({
      code: "bad_request",
      message: "File size 5000000000 bytes exceeds maximum allowed",
    });
    expect(onFile).not.toHaveBeenCalled();
    req.destroy();
  });

  test("while streaming is refused, the sink sees it, and the client reads the answer", async () => {
    let seen: unknown;
    options = {
      maxBytes: 5_000_000,
      onFile: (arriving) =>
        sink(arriving).catch((error: unknown) => {
          seen = error;
          throw error;
        }),
    };
    const { status, body } = await send(open(), file(300));
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^File size \d+ bytes exceeds maximum allowed$/);
    expect(Number(body.detail.split(" ")[2])).toBeGreaterThan(5_000_000);
    expect(seen).toMatchObject({ code: "bad_request" });
  });

  test("by one byte is refused, and a file of exactly the limit is taken", async () => {
    options = { maxBytes: 100_000, onFile: sink };
    expect((await post(filePart("x".repeat(100_000)) + END)).status).toBe(200);
    expect((await post(filePart("x".repeat(100_001)) + END)).body.detail).toMatch(
      /^File size \d+ bytes exceeds maximum allowed$/,
    );
  });

  test("a client that never stops is cut off", async () => {
    options = { maxBytes: 1000, onFile: sink };
    const req = open();
    const closed = once(req, "close");
    Readable.from(file(1_000_000), { objectMode: false }).pipe(req);
    await closed;
    expect(outcomes[0]).toMatchObject({ code: "bad_request" });
  }, 10_000);
});

describe("an upload that fails", () => {
  test("because its client goes away is seen by the sink as an error", async () => {
    const ended: unknown[] = [];
    const arrived = Promise.withResolvers<void>();
    const onFile = (arriving: ArrivingFile): Promise<Sunk> => {
      arriving.stream.once("readable", arrived.resolve);
      return sink(arriving).finally(() => ended.push(arriving.signal.aborted, arriving.stream.errored));
    };
    options = { ...options, onFile };
    const req = open();
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    req.write(randomBytes(200_000));
    await arrived.promise;
    req.destroy();
    await vi.waitFor(() => expect(outcomes).toHaveLength(1));
    expect(outcomes[0]).toMatchObject({ code: "cancelled" });
    expect(ended).toEqual([true, expect.objectContaining({ code: "cancelled" })]);
  });

  test("because its sink fails ends at once with the sink's error", async () => {
    options = {
      maxBytes: 1e9,
      onFile: async () => {
        throw new DomainError("storage_unavailable", "The object store is not available.");
      },
    };
    const { status, body } = await send(open(), file(300));
    expect([status, body.detail]).toEqual([503, "The object store is not available."]);
  });

  test("because it is cancelled passes the reason on", async () => {
    const abort = new AbortController();
    options = { ...options, signal: abort.signal };
    const arrived = once(server, "request");
    const req = open();
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    await arrived;
    abort.abort(new DomainError("overloaded", "stopping"));
    await vi.waitFor(() => expect(outcomes).toEqual([expect.objectContaining({ code: "overloaded" })]));
    req.destroy();
  });
});
