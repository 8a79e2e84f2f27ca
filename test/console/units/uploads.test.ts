/** The uploads of a tab: a few at once, and each of them one document. */
import { ConnectionError, HoldfastError } from "@holdfast/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Sending,
  type Uploads,
  createUploads,
} from "../../../console/src/screens/space/uploads/queue.ts";

const TARGET = { spaceId: "s", folderIdOf: () => null };

interface Sent extends Sending {
  accept(): void;
  refuse(error: unknown): void;
}

function start(count: number): { uploads: Uploads; sent: Sent[] } {
  const sent: Sent[] = [];
  const uploads = createUploads(
    (sending) =>
      new Promise((resolve, reject) => sent.push({ ...sending, accept: () => resolve({}), refuse: reject })),
  );
  const files = Array.from({ length: count }, (_, index) => ({
    file: new File(["text"], `${index}.txt`),
    folder: "",
  }));
  uploads.add(files, TARGET);
  return { uploads, sent };
}

describe("uploads", () => {
  beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true }));
  afterEach(() => vi.useRealTimers());

  test("are sent three at once, the next one when one is accepted", async () => {
    const { sent } = start(5);
    await vi.waitFor(() => expect(sent).toHaveLength(3));
    sent[0]!.accept();
    await vi.waitFor(() => expect(sent).toHaveLength(4));
  });

  test("that break off go on by themselves, with the same key", async () => {
    const { uploads, sent } = start(1);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    sent[0]!.refuse(new ConnectionError("gone"));
    await vi.waitFor(() => expect(uploads.view().counts.broken).toBe(1));
    await vi.advanceTimersByTimeAsync(2_000);
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    expect(sent[1]!.key).toBe(sent[0]!.key);
    sent[1]!.accept();
    await vi.waitFor(() => expect(uploads.view().counts.done).toBe(1));
  });

  test("that are refused say why, and are tried again with another key if somebody asks", async () => {
    const { uploads, sent } = start(1);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    const refusal = new HoldfastError("too large", { status: 413 });
    sent[0]!.refuse(refusal);
    await vi.waitFor(() => expect(uploads.view().counts.refused).toBe(1));
    const [refused] = uploads.view().shown;
    expect(refused!.error).toBe(refusal);
    uploads.retry(refused!.id);
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    expect(sent[1]!.key).not.toBe(sent[0]!.key);
  });

  test("that are stopped are not sent any more", async () => {
    const { uploads, sent } = start(4);
    await vi.waitFor(() => expect(sent).toHaveLength(3));
    uploads.cancel();
    await vi.waitFor(() => expect(uploads.view().counts.cancelled).toBe(4));
    expect(sent.every(({ signal }) => signal.aborted)).toBe(true);
    expect(sent).toHaveLength(3);
  });

  test("show how much of all is sent", async () => {
    const { uploads, sent } = start(2);
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    sent[0]!.onProgress(0.5);
    await vi.waitFor(() => expect(uploads.view()).toMatchObject({ bytes: 8, sentBytes: 2 }));
  });

  test("are forgotten once they have ended, and not before", async () => {
    const { uploads, sent } = start(2);
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    sent[0]!.accept();
    await vi.waitFor(() => expect(uploads.view().counts.done).toBe(1));
    uploads.clear();
    await vi.waitFor(() => expect(uploads.view().total).toBe(1));
  });
});
