/** How forms are read: their fields, their file, and what is not a form. */
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  END,
  filePart,
  send,
  startUploadServer,
  textPart,
  type UploadServer,
} from "../../support/app/upload-server.ts";

let uploads: UploadServer;
beforeAll(async () => {
  uploads = await startUploadServer();
});
beforeEach(() => uploads.reset());
afterAll(() => uploads.close());

describe("a form", () => {
  test("made by a standard client is read whole", async () => {
    const bytes = randomBytes(300_000);
    const form = new FormData();
    form.set("space_id", "s1");
    form.set("file", new File([bytes], "übung.pdf", { type: "application/pdf" }));
    const answer = await fetch(uploads.origin, { method: "POST", body: form });
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

  test("may have fields after the file", async () => {
    const { body } = await uploads.post(
      filePart("hello") + textPart("space_id", "später") + textPart("path", "") + END,
    );
    expect(body).toMatchObject({
      fields: { space_id: "später", path: "" },
      file: { size: 5, value: { head: "hello" } },
    });
  });

  test("may arrive in single bytes", async () => {
    const whole = Buffer.from(textPart("space_id", "1") + filePart("a\r\n--c\r\n-") + END);
    async function* bytes(): AsyncGenerator<Buffer> {
      for (let index = 0; index < whole.byteLength; index += 1) yield whole.subarray(index, index + 1);
    }
    const { body } = await send(uploads.open(), bytes());
    expect(body).toMatchObject({ fields: { space_id: "1" }, file: { value: { head: "a\r\n--c\r\n-" } } });
  });

  test("may have an empty file, or none", async () => {
    expect((await uploads.post(filePart("") + END)).body.file).toMatchObject({
      size: 0,
      value: { bytes: 0, head: "" },
    });
    expect((await uploads.post(textPart("space_id", "1") + END)).body).toEqual({
      fields: { space_id: "1" },
      file: null,
      otherFiles: [],
      repeated: {},
      problems: [],
    });
    expect((await uploads.post("")).body).toEqual({
      fields: {},
      file: null,
      otherFiles: [],
      repeated: {},
      problems: [],
    });
  });

  test("keeps the first of two files, and reads what follows", async () => {
    const { body } = await uploads.post(
      filePart("one") + filePart("two".repeat(100_000)) + textPart("space_id", "1") + END,
    );
    expect(body).toMatchObject({ fields: { space_id: "1" }, file: { size: 3 } });
  });

  test("says that its file came as text", async () => {
    expect((await uploads.post(textPart("file", "abc") + END)).body).toEqual({
      fields: {},
      file: null,
      otherFiles: [],
      repeated: {},
      problems: [{ kind: "file_is_text", input: "abc" }],
    });
  });

  test("may have odd field names", async () => {
    expect(
      (await uploads.post(textPart("__proto__", "x") + textPart("constructor", "y") + END)).body.fields,
    ).toMatchObject({ constructor: "y" });
  });

  test("leaves its connection to the next request", async () => {
    for (let index = 0; index < 3; index += 1)
      expect((await uploads.post(`${filePart("x")}${END}epilogue`)).status).toBe(200);
  });

  test("is read to its end even if nobody reads its file", async () => {
    uploads.options = { maxBytes: 5_000_000, onFile: async () => "not read" };
    expect(
      (await uploads.post(filePart("x".repeat(3_000_000)) + textPart("space_id", "1") + END)).body,
    ).toMatchObject({
      fields: { space_id: "1" },
      file: { value: "not read", size: 3_000_000 },
    });
  });
});

describe("a body that is not a form", () => {
  test.each(["application/json", "text/plain", "multipart/mixed; boundary=b"])(
    "of type %s has no fields",
    async (type) => {
      expect((await uploads.post("{}", { "content-type": type })).body).toEqual({
        fields: {},
        file: null,
        otherFiles: [],
        repeated: {},
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
    expect(await uploads.post(body, { "content-type": type })).toMatchObject({
      status: 400,
      body: { detail },
    });
  });

  test("has too many parts or too long a field", async () => {
    uploads.options = { ...uploads.options, maxFields: 3, maxFieldBytes: 10 };
    expect((await uploads.post(textPart("a", "1").repeat(4) + END)).body.detail).toBe(
      "Too many fields. Maximum number of fields is 3.",
    );
    expect((await uploads.post(textPart("a", "12345678901") + END)).body.detail).toBe(
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
    expect((await uploads.post(filePart("x", stated) + END)).body.file.filename).toBe(expected);
  });
});
