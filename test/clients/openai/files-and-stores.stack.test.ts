/** What OpenAI's official clients make of files and vector stores: each method, in both languages. */
import { beforeAll, describe, expect, it } from "vitest";
import { filesAndStores } from "../../support/clients/sdk/files-and-stores.ts";
import { SET_UP_MS, missingPython, runProgram } from "../../support/clients/sdk/python.ts";
import type { Steps } from "../../support/clients/sdk/steps.ts";
import { unless } from "../../support/run/unless.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const FILE_ID = /^file-[0-9a-f]{32}$/;

const { stack, tenants } = onSharedStack();
const given = () => ({
  base_url: `${stack.url}/v1`,
  key: tenants.keys.owner,
  other_key: tenants.keys.rival,
  viewer_key: tenants.keys.viewer,
  scoped_key: tenants.keys.scoped,
  space: tenants.spaces.research,
});

// The provider is down for whoever writes about moths.
beforeAll(() => stack.provider.poisonTexts((text) => (/moth/.test(text) ? { status: 503 } : undefined)));

const LANGUAGES = [
  { language: "JavaScript", missing: undefined, run: () => filesAndStores(given()) },
  {
    language: "Python",
    missing: missingPython,
    run: () => runProgram({ file: "files_and_stores.py", given: given() }),
  },
];

describe.each(LANGUAGES)("openai in $language", ({ missing, run }) => {
  describe("with files and vector stores", unless(missing), () => {
    let seen: Steps;
    const refused = (name: string, type: string, fields: Record<string, unknown> = {}) =>
      expect(seen.error(name)).toMatchObject({ type, ...fields });

    beforeAll(async () => {
      seen = await run();
    }, SET_UP_MS);

    it("uploads a file, and gets it and its bytes back", () => {
      const file = seen.value("files.create");
      expect(file).toMatchObject({
        id: expect.stringMatching(FILE_ID),
        object: "file",
        filename: "fox.md",
        purpose: "assistants",
        bytes: 61,
        created_at: expect.closeTo(Date.now() / 1_000, -3),
      });
      expect(seen.value("files.retrieve")).toMatchObject({ id: file.id, filename: "fox.md" });
      expect(seen.value("files.content")).toContain("under the roots of an old oak");
      expect(seen.value("files.wait_for_processing").status).toBe("processed");
      const expiring = seen.value("files.create expires_after");
      expect(expiring.expires_at).toBe(expiring.created_at + 3_600);
    });

    it("pages through its files, newest first or oldest first, and by purpose", () => {
      const [fox, short, owl] = ["", " expires_after", " another"].map(
        (rest) => seen.value(`files.create${rest}`).id,
      );
      const mine = (ids: string[]) => ids.filter((id) => [fox, short, owl].includes(id));
      expect(mine(seen.value("files.list"))).toEqual([owl, short, fox]);
      expect(mine(seen.value("files.list asc"))).toEqual([fox, short, owl]);
      expect(mine(seen.value("files.list purpose"))).toEqual([short]);
      expect(mine(seen.value("files.list page").data.map(({ id }: { id: string }) => id))).toEqual([
        short,
        fox,
      ]);
    });

    it("keeps files from others, and has no file that was deleted", () => {
      expect(seen.value("files.list of another")).not.toContain(seen.value("files.create").id);
      refused("files.retrieve of another", "NotFoundError");
      refused("files.content of another", "NotFoundError");
      refused("files.retrieve unknown", "NotFoundError");
      refused("files.create wrong purpose", "BadRequestError", { param: "purpose" });
      expect(seen.value("files.delete")).toMatchObject({ object: "file", deleted: true });
      refused("files.retrieve deleted", "NotFoundError");
    });

    it("makes a store in a space or privately, and says which space is missing", () => {
      const store = seen.value("vector_stores.create");
      expect(store).toMatchObject({
        id: expect.stringMatching(/^vs_[0-9a-f]{32}$/),
        object: "vector_store",
        name: "Animals",
        metadata: { space_id: tenants.spaces.research, team: "zoo" },
        expires_after: { anchor: "last_active_at", days: 7 },
        file_counts: { total: 1 },
      });
      expect(store.expires_at - store.last_active_at).toBe(7 * 86_400);
      expect(seen.value("vector_stores.create private")).toMatchObject({ name: "Mine", status: "completed" });
      refused("vector_stores.create without a space", "BadRequestError", { param: "metadata.space_id" });
      refused("vector_stores.create as a viewer", "PermissionDeniedError");
      refused("vector_stores.list unauthorized", "AuthenticationError");
    });

    it("reads, changes and lists stores, and shows none to others", () => {
      const { id } = seen.value("vector_stores.create");
      expect(seen.value("vector_stores.retrieve")).toMatchObject({
        id,
        status: "completed",
        file_counts: { completed: 1, in_progress: 0, failed: 0, cancelled: 0, total: 1 },
        usage_bytes: expect.any(Number),
      });
      expect(seen.value("vector_stores.update")).toMatchObject({
        id,
        name: "Beasts",
        metadata: { team: "park" },
      });
      expect(seen.value("vector_stores.update").expires_after ?? null).toBeNull();
      expect(seen.value("vector_stores.list")).toEqual(
        expect.arrayContaining([id, seen.value("vector_stores.create private").id]),
      );
      expect(seen.value("vector_stores.list before")).toHaveProperty("has_more");
      refused("vector_stores.retrieve of another", "NotFoundError");
      refused("vector_stores.retrieve unknown", "NotFoundError");
    });

    it("adds files with attributes and polls until each has ended", () => {
      const owl = seen.value("files.create another").id;
      expect(seen.value("vector_stores.files.poll")).toMatchObject({ status: "completed" });
      expect(seen.value("vector_stores.files.create")).toMatchObject({
        id: owl,
        object: "vector_store.file",
        vector_store_id: seen.value("vector_stores.create").id,
        attributes: { kind: "bird", legs: 2, awake: false },
      });
      expect(seen.value("vector_stores.files.poll added")).toMatchObject({ id: owl, status: "completed" });
      expect(seen.value("vector_stores.files.upload_and_poll")).toMatchObject({
        status: "completed",
        attributes: { kind: "fish", legs: 0 },
      });
      expect(seen.value("vector_stores.files.upload").id).toMatch(FILE_ID);
      expect(seen.value("vector_stores.files.poll uploaded").status).toBe("completed");
      expect(seen.value("vector_stores.files.create_and_poll")).toMatchObject({
        status: "completed",
        attributes: { kind: "dog" },
      });
    });

    it("says of a file that cannot be read why, and the poll ends", () => {
      expect(seen.value("vector_stores.files.create_and_poll broken")).toMatchObject({
        status: "failed",
        last_error: {
          code: expect.stringMatching(/^(?:invalid_file|unsupported_file)$/),
          message: expect.any(String),
        },
      });
    });

    it("reads and changes a store's file, and lists by status", () => {
      const owl = seen.value("files.create another").id;
      const failed = seen.value("vector_stores.files.create_and_poll broken").id;
      expect(seen.value("vector_stores.files.retrieve")).toMatchObject({
        id: owl,
        chunking_strategy: { type: expect.any(String) },
      });
      expect(seen.value("vector_stores.files.update")).toMatchObject({
        attributes: { kind: "owl", legs: 2 },
      });
      expect(seen.value("vector_stores.files.list")).toHaveLength(6);
      expect(seen.value("vector_stores.files.list failed")).toEqual([failed]);
      expect(seen.value("vector_stores.files.list completed")).not.toContain(failed);
      expect(seen.value("vector_stores.files.list completed")[0]).toBe(seen.value("files.create").id);
      expect(JSON.stringify(seen.value("vector_stores.files.content"))).toContain("roots of an old oak");
    });

    it("refuses attributes beyond 16 × 64/512 and files that are not there", () => {
      refused("vector_stores.files.create too many attributes", "BadRequestError");
      refused("vector_stores.files.update long attribute", "BadRequestError");
      refused("vector_stores.files.create unknown", "NotFoundError");
    });

    it("searches by one query and several, with filters, thresholds and weights", () => {
      const [first] = seen.value("vector_stores.search");
      expect(first).toMatchObject({
        file_id: seen.value("files.create").id,
        filename: "fox.md",
        score: expect.any(Number),
        content: [{ type: "text", text: expect.stringContaining("roots of an old oak") }],
      });
      expect(seen.value("vector_stores.search several")).toEqual(
        expect.arrayContaining(["fox.md", "eel.md"]),
      );
      expect(seen.value("vector_stores.search comparison")).toEqual(["owl.md"]);
      expect(seen.value("vector_stores.search compound")).toEqual(["eel.md", "owl.md"]);
      for (const score of seen.value("vector_stores.search threshold"))
        expect(score).toBeGreaterThanOrEqual(0.2);
      expect(seen.value("vector_stores.search hybrid")[0]).toBe("fox.md");
      refused("vector_stores.search too many", "BadRequestError", { param: "max_num_results" });
      refused("vector_stores.search of another", "NotFoundError");
    });

    it("puts files in by batches, and counts how far they are", () => {
      const batch = seen.value("vector_stores.file_batches.create");
      expect(batch).toMatchObject({
        id: expect.stringMatching(/^vsfb_[0-9a-f]{32}$/),
        object: "vector_store.files_batch",
        file_counts: { total: 2 },
      });
      for (const name of ["poll", "retrieve"])
        expect(seen.value(`vector_stores.file_batches.${name}`)).toMatchObject({
          id: batch.id,
          status: "completed",
          file_counts: { completed: 2, total: 2 },
        });
      const listed = seen.value("vector_stores.file_batches.list_files");
      expect(
        listed.map(({ attributes }: { attributes: { kind: string } }) => attributes.kind).toSorted(),
      ).toEqual(["lion", "lynx"]);
      expect(seen.value("vector_stores.file_batches.create_and_poll")).toMatchObject({ status: "completed" });
      expect(seen.value("vector_stores.file_batches.upload_and_poll")).toMatchObject({
        status: "completed",
        file_counts: { completed: 3, failed: 0, total: 3 },
      });
      refused("vector_stores.file_batches.create unknown", "NotFoundError");
      refused("vector_stores.file_batches.retrieve of another", "NotFoundError");
    });

    it("says what a file waits for, and cancels its batch, after which the poll ends", () => {
      expect(seen.value("vector_stores.files.retrieve waiting")).toMatchObject({
        status: "in_progress",
        waiting_for: "provider_unavailable",
      });
      expect(seen.value("vector_stores.file_batches.cancel").id).toBe(
        seen.value("vector_stores.file_batches.create another").id,
      );
      expect(seen.value("vector_stores.file_batches.poll cancelled")).toMatchObject({
        status: "cancelled",
        file_counts: { cancelled: 1, in_progress: 0, total: 1 },
      });
      const counts = seen.value("vector_stores counts");
      expect(counts).toMatchObject({ failed: 1, in_progress: 0 });
      expect(counts.total).toBe(counts.completed + counts.failed + counts.cancelled);
    });

    it("takes a file out of a store and keeps it, and deletes a store with what is in it", () => {
      expect(seen.value("vector_stores.files.delete")).toMatchObject({
        object: "vector_store.file.deleted",
        deleted: true,
      });
      refused("vector_stores.files.retrieve deleted", "NotFoundError");
      expect(seen.value("files.retrieve after its removal from a store").filename).toBe("owl.md");
      expect(seen.value("vector_stores.delete")).toMatchObject({
        object: "vector_store.deleted",
        deleted: true,
      });
      refused("vector_stores.retrieve deleted", "NotFoundError");
      refused("vector_stores.files.create in a deleted one", "NotFoundError");
      expect(seen.value("files.delete last").deleted).toBe(true);
    });
  });
});
