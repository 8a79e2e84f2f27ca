/**
 * The inverted index with several publishers, and with the lists that each API process caches of it, on the
 * real stack.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { call, ended, fileForm, upload } from "../../support/clients/client.ts";
import { type TestProcess, runCli, startProcess } from "../../support/stack/processes.ts";
import { onKillableStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

/** So many segments of a size may exist; one more, and they are merged. */
const MOST_OF_A_SIZE = 3;

const { stack, tenants } = onKillableStack();
let connection: Connection;
let secondWorker: TestProcess;
let secondApi: TestProcess;
let secondUrl: string;

const startSecondApi = async (): Promise<void> => {
  const port = await freePort();
  secondUrl = `http://127.0.0.1:${port}`;
  secondApi = startProcess("src/api/main.ts", { ...stack.env, PORT: String(port) });
  await until(
    "the second API answers",
    () =>
      fetch(`${secondUrl}/health`).then(
        (response) => response.ok,
        () => false,
      ),
    90_000,
  );
};

beforeAll(async () => {
  connection = await Connection.connect({ address: stack.temporalAddress });
  const { schedule } = new Client({ connection });
  // In these tests, only publishers merge.
  await until("upkeep is paused", () =>
    schedule
      .getHandle("index-upkeep")
      .pause()
      .then(
        () => true,
        () => false,
      ),
  );
  secondWorker = startProcess("src/worker/main.ts", stack.env);
  await startSecondApi();
});

afterAll(async () => {
  await Promise.all([secondApi.kill("SIGTERM"), secondWorker.kill("SIGTERM")]);
  await connection.close();
});

interface Hit {
  readonly document_id: string;
  readonly document_name: string;
  readonly sparse_score: number | null;
  readonly text: string;
}

const search = async (url: string, query: string, space: string): Promise<Hit[]> =>
  (await call(url, tenants.keys.owner, "POST", "/data/hybrid-search", { query, space_id: space, limit: 100 }))
    .body.results;
const foundByWords = async (url: string, query: string, space: string): Promise<Hit[]> =>
  (await search(url, query, space)).filter((hit) => hit.sparse_score !== null);
const segmentsOf = async (space: string): Promise<number> =>
  (
    await stack.database.db.owner.query(
      `select count(*)::int as count
       from posting_segments segment
       join spaces space on space.num = segment.space_num
       where space.id = $1`,
      [space],
    )
  ).rows[0].count;

/** A pause between checks, which would otherwise take the processor from what they check. */
const LOOK_MS = 100;

/** Repeats `look` until the work has ended. */
async function during(work: Promise<unknown>, look: () => Promise<void>): Promise<void> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const looking = (async () => {
    while (!isOver) {
      await look();
      await sleep(LOOK_MS);
    }
  })();
  await Promise.all([over, looking]);
}

test(
  "publishers merge: one after the other or at once, no more segments stay than a size may have, and " +
    "every document is found",
  { timeout: 180_000 },
  async () => {
    const put = (at: number) =>
      upload(
        stack.url,
        tenants.keys.owner,
        tenants.spaces.archive,
        `The petrel number${at} glides.`,
        `petrel-${at}.txt`,
      );
    for (let at = 0; at < MOST_OF_A_SIZE + 3; at++)
      await ended(stack.url, tenants.keys.owner, (await put(at)).id);
    await until(
      "segments are merged",
      async () => (await segmentsOf(tenants.spaces.archive)) <= MOST_OF_A_SIZE,
      15_000,
    );

    const known: string[] = [];
    const missed: string[] = [];
    const look = async (): Promise<void> => {
      const wanted = [...known];
      const found = new Set(
        (await foundByWords(secondUrl, "petrel", tenants.spaces.archive)).map((hit) => hit.document_id),
      );
      missed.push(...wanted.filter((id) => !found.has(id)));
    };
    let next = 20;
    const publisher = async (): Promise<void> => {
      for (let at = next++; at < 44; at = next++) {
        const { id } = await put(at);
        await ended(stack.url, tenants.keys.owner, id, 60_000);
        known.push(id);
      }
    };
    await during(Promise.all(Array.from({ length: 8 }, publisher)), look);
    expect(known).toHaveLength(24);
    expect(missed).toEqual([]);
    await until(
      "segments are merged",
      async () => (await segmentsOf(tenants.spaces.archive)) <= MOST_OF_A_SIZE,
      15_000,
    );
    expect(await foundByWords(stack.url, "petrel", tenants.spaces.archive)).toHaveLength(30);
    expect(await runCli(["integrity", "--organization", tenants.acme], stack.env)).toMatch(/is whole/);
  },
);

test(
  "another API process that keeps lists of the index never serves what was replaced or deleted, and " +
    "misses nothing",
  { timeout: 180_000 },
  async () => {
    const space = tenants.spaces.research;
    const put = async (name: string, version: number): Promise<string> => {
      const form = fileForm(`The heron says version${version} of ${name}.`, `${name}.txt`, { path: "" });
      expect(
        (await call(stack.url, tenants.keys.editor, "POST", `/spaces/${space}/data/upload`, form)).status,
      ).toBe(201);
      const { body } = await call(
        stack.url,
        tenants.keys.editor,
        "GET",
        `/spaces/${space}/data/files?prefix=${name}.txt`,
      );
      const id: string = body.items[0].document_id;
      await ended(stack.url, tenants.keys.editor, id);
      return id;
    };
    /** The versions that were reported as published, and the documents that were reported as deleted. */
    const versions = new Map<string, number>();
    const deleted = new Set<string>();
    const wrong: string[] = [];
    let asked = 0;
    const look = async (): Promise<void> => {
      const [wanted, gone] = [new Map(versions), new Set(deleted)];
      const hits = await foundByWords(secondUrl, "heron", space);
      asked++;
      for (const [name, version] of wanted) {
        const served = hits.filter((hit) => hit.document_name === `${name}.txt`);
        // The document may have been deleted or replaced since.
        if (served.length === 0 && !deleted.has(name) && versions.has(name)) wrong.push(`${name} is missing`);
        if (served.length > 1) wrong.push(`${name} twice`);
        for (const { text } of served)
          if (Number(/version(\d+)/.exec(text)![1]) < version)
            wrong.push(`${name} as it was: ${text}, not ${version}`);
      }
      wrong.push(
        ...hits
          .filter((hit) => gone.has(hit.document_name.replace(".txt", "")))
          .map((hit) => `${hit.document_name} was deleted`),
      );
    };
    const change = async (round: number): Promise<void> => {
      const [kept, passing] = [`kept${round % 4}`, `passing${round}`];
      await put(kept, round);
      versions.set(kept, round);
      const id = await put(passing, round);
      versions.set(passing, round);
      await look();
      // Noted before the request, because the document may be gone at any time after it.
      versions.delete(passing);
      expect((await call(stack.url, tenants.keys.editor, "DELETE", `/data/${id}`)).status).toBeLessThan(300);
      deleted.add(passing);
      await look();
    };
    const changes = async (): Promise<void> => {
      for (let round = 1; round <= 6; round++) await change(round);
    };
    await during(changes(), look);
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(12);
    expect(await segmentsOf(space)).toBeLessThan(12);
    const kept = await foundByWords(secondUrl, "heron version6", space);
    expect(kept.map((hit) => hit.document_name).toSorted()).toEqual([
      "kept0.txt",
      "kept1.txt",
      "kept2.txt",
      "kept3.txt",
    ]);
    // A process without cached lists finds the same, with the same scores.
    await secondApi.kill("SIGTERM");
    await startSecondApi();
    expect(await foundByWords(secondUrl, "heron version6", space)).toEqual(kept);
  },
);
