/** How uploads end that are too large, cancelled, or not stored. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ArrivingFile } from "../../../src/api/body/arriving-file.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import {
  END,
  filePart,
  formOf,
  send,
  sink,
  startUploadServer,
  type Sunk,
  type UploadServer,
} from "../../support/app/upload-server.ts";

let uploads: UploadServer;
beforeAll(async () => {
  uploads = await startUploadServer();
});
beforeEach(() => uploads.reset());
afterAll(() => uploads.close());

describe("over the limit", () => {
  test("by declared length is refused before a byte is read", async () => {
    const onFile = vi.fn<typeof sink>(sink);
    uploads.options = { maxBytes: 1000, onFile };
    const req = uploads.open(5_000_000_000);
    req.flushHeaders();
    const [answer] = await once(req, "response");
    expect(answer.statusCode).toBe(400);
    expect(uploads.outcomes[0]).toMatchObject({
      code: "bad_request",
      message: "File size 5000000000 bytes exceeds maximum allowed",
    });
    expect(onFile).not.toHaveBeenCalled();
    req.destroy();
  });

  test("while streaming is refused, the sink sees it, and the client reads the answer", async () => {
    let seen: unknown;
    uploads.options = {
      maxBytes: 5_000_000,
      onFile: (arriving) =>
        sink(arriving).catch((error: unknown) => {
          seen = error;
          throw error;
        }),
    };
    const { status, body } = await send(uploads.open(), formOf(300));
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^File size \d+ bytes exceeds maximum allowed$/);
    expect(Number(body.detail.split(" ")[2])).toBeGreaterThan(5_000_000);
    expect(seen).toMatchObject({ code: "bad_request" });
  });

  test("by one byte is refused, and a file of exactly the limit is taken", async () => {
    uploads.options = { maxBytes: 100_000, onFile: sink };
    expect((await uploads.post(filePart("x".repeat(100_000)) + END)).status).toBe(200);
    expect((await uploads.post(filePart("x".repeat(100_001)) + END)).status).toBe(400);
  });

  test("the answer names the file's own size, not that of the form", async () => {
    uploads.options = { maxBytes: 100_000, onFile: sink };
    const field = '--b\r\nContent-Disposition: form-data; name="space_id"\r\n\r\nx\r\n';
    const { body } = await uploads.post(field + filePart("x".repeat(100_123)) + field + END);

    expect(body.detail).toBe("File size 100123 bytes exceeds maximum allowed");
  });

  test("a size that the file's part states is named as soon as it is passed", async () => {
    uploads.options = { maxBytes: 100_000, onFile: sink };
    const req = uploads.open();
    const answered = once(req, "response");
    req.write(
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Length: 7000000\r\n\r\n',
    );
    req.write(randomBytes(100_001));
    await answered;

    expect(uploads.outcomes[0]).toMatchObject({ message: "File size 7000000 bytes exceeds maximum allowed" });
    req.destroy();
  });

  test("a client that never stops is cut off", async () => {
    uploads.options = { maxBytes: 1000, onFile: sink };
    const req = uploads.open();
    const closed = once(req, "close");
    Readable.from(formOf(1_000_000), { objectMode: false }).pipe(req);
    await closed;
    expect(uploads.outcomes[0]).toMatchObject({ code: "bad_request" });
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
    uploads.options = { ...uploads.options, onFile };
    const req = uploads.open();
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    req.write(randomBytes(200_000));
    await arrived.promise;
    req.destroy();
    await vi.waitFor(() => expect(uploads.outcomes).toHaveLength(1));
    expect(uploads.outcomes[0]).toMatchObject({ code: "cancelled" });
    expect(ended).toEqual([true, expect.objectContaining({ code: "cancelled" })]);
  });

  test("because its sink fails ends at once with the sink's error", async () => {
    uploads.options = {
      maxBytes: 1e9,
      onFile: async () => {
        throw new DomainError("storage_unavailable", "The object store is not available.");
      },
    };
    const { status, body } = await send(uploads.open(), formOf(300));
    expect([status, body.detail]).toEqual([503, "The object store is not available."]);
  });

  test("because it is cancelled passes the reason on", async () => {
    const abort = new AbortController();
    uploads.options = { ...uploads.options, signal: abort.signal };
    const arrived = once(uploads.server, "request");
    const req = uploads.open();
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    await arrived;
    abort.abort(new DomainError("overloaded", "stopping"));
    await vi.waitFor(() =>
      expect(uploads.outcomes).toEqual([expect.objectContaining({ code: "overloaded" })]),
    );
    req.destroy();
  });
});
