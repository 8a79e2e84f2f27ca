/** A file that changes while a request waits for its turn to read it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFileSeats } from "../../../src/api/files/file-seats.ts";
import {
  createFileReader,
  type FileReader,
  type StoredText,
} from "../../../src/api/openai/responses/files.ts";
import { createUserFile } from "../../../src/commands/user-files/create-user-file.ts";
import { deleteUserFile } from "../../../src/commands/user-files/delete-user-file.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { notFound } from "../../../src/domain/not-found.ts";
import { type TemporaryFolder, openTemporaryFolder } from "../../../src/process/temporary-folder.ts";
import { encodeId } from "../../../src/schema/openai/ids.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import {
  commandDatabase,
  documentParts,
  type DocumentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
} from "../../support/tenants/commands.ts";
import { until } from "../../support/until.ts";

const test = commandDatabase();
let dataDir: string;
let temporary: TemporaryFolder;
let files: FileReader;
let parts: DocumentParts;
let caller: Caller;
/** The content of objects, by name; those that are missing were removed. */
let objects: Map<string, string>;
let asked: string[];
let isOpen: PromiseWithResolvers<void>;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "holdfast-waiting-"));
  temporary = await openTemporaryFolder(dataDir, (error) => {
    throw error;
  });
  const { organization, editorId } = await makeSharedSpace(test.db, "editor");
  caller = await loggedIn(test.db, organization, editorId);
  parts = documentParts(test.db);
  objects = new Map();
  asked = [];
  isOpen = Promise.withResolvers();
  const storage = {
    async get({ name }: { name: string }) {
      asked.push(name);
      await isOpen.promise;
      const content = objects.get(name);
      if (content === undefined) throw notFound("file");
      return Readable.from([Buffer.from(content)]);
    },
  } as unknown as Storage;
  const seats = createFileSeats().inputFiles;
  files = createFileReader({ db: test.db, storage, temporary, seats });
});
afterEach(async () => {
  await files.close();
  await temporary.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function addFile(content: string): Promise<{ readonly id: string; readonly object: string }> {
  const stored = storedMarkdown(caller.principal.organization);
  objects.set(stored.objectKey, content);
  const request = { filename: "note.md", purpose: "assistants", expiresAfterSeconds: null, stored } as const;
  const { id } = await createUserFile(parts, caller, request);
  return { id, object: stored.objectKey };
}

/** @param onFound called after each time that the file was looked up. */
function read(id: string, onFound = (): void => undefined, now = caller.principal): Promise<StoredText> {
  const { signal } = new AbortController();
  vi.spyOn(signal, "throwIfAborted").mockImplementation(onFound);
  const ask = {
    principal: caller.principal,
    param: "input[0].file_id",
    signal,
    lookUp: async () => now,
  };
  return files.textOfStored(ask, encodeId("file", id));
}

/** Two requests: the second waits until the first one's file has come. */
async function waitingFor(id: string): Promise<{ first: Promise<StoredText>; second: Promise<StoredText> }> {
  const other = await addFile("The first.");
  const first = read(other.id);
  await until("the first is fetched", () => asked.length === 1);
  let isFound = false;
  const second = read(id, () => (isFound = true));
  // It may be refused before anybody waits for it.
  second.catch(() => undefined);
  await until("the second is found", () => isFound);
  return { first, second };
}

it("is read as it is when its turn has come", async () => {
  const file = await addFile("As it was.");
  const { first, second } = await waitingFor(file.id);
  objects.delete(file.object);
  const object = `${file.object}-2`;
  objects.set(object, "As it is.");
  await test.db.owner.query("update openai_files set object_key = $2, name = 'new.md' where id = $1", [
    file.id,
    object,
  ]);
  isOpen.resolve();
  expect(await first).toMatchObject({ text: "The first." });
  expect(await second).toMatchObject({ filename: "new.md", text: "As it is." });
  expect(asked).not.toContain(file.object);
});

it("is a clear refusal if it was deleted, or goes while it is fetched", async () => {
  const deleted = await addFile("Deleted.");
  const { first, second } = await waitingFor(deleted.id);
  await deleteUserFile(parts, caller, deleted.id);
  const going = await addFile("Going.");
  objects.delete(going.object);
  isOpen.resolve();
  expect(await first).toMatchObject({ text: "The first." });
  const refusal = { code: "bad_request", status: 400, param: "input[0].file_id" };
  await expect(second).rejects.toMatchObject({ ...refusal, message: "There is no such file." });
  expect(asked).not.toContain(deleted.object);
  await expect(read(going.id)).rejects.toMatchObject({
    ...refusal,
    message: "The file was replaced or deleted while it was fetched.",
  });
});

it("is read with the rights that its caller has when its turn has come", async () => {
  const file = await addFile("Mine.");
  isOpen.resolve();
  const { organization, editorId } = await makeSharedSpace(test.db, "editor");
  const other = await loggedIn(test.db, organization, editorId);
  await expect(read(file.id, undefined, other.principal)).rejects.toMatchObject({
    code: "bad_request",
    message: "There is no such file.",
  });
  expect(asked).toEqual([]);
});
