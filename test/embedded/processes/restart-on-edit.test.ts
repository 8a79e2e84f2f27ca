import { expect, test } from "vitest";
import { restartOnEdits } from "../../../src/embedded/processes/restart-on-edit.ts";

const NEVER = new AbortController().signal;

interface Seen {
  /** What was done, in order. */
  readonly calls: readonly string[];
  readonly lines: readonly string[];
  /** How often the next restart was prepared. */
  readonly prepared: number;
}

/** Runs the restarts of these edits; starting `broken` fails. */
async function after(edits: ReadonlyArray<readonly string[]>, broken?: string): Promise<Seen> {
  const calls: string[] = [];
  const lines: string[] = [];
  let prepared = 0;
  async function* all() {
    for (const files of edits) yield { files, at: performance.now() };
  }
  await restartOnEdits(all(), {
    supervisor: {
      async restart(name) {
        calls.push(name);
        if (name === broken) throw new Error(`${name} did not start`);
      },
    },
    async migrate() {
      calls.push("migrate");
      if (broken === "migrate") throw new Error("a migration failed");
      return "applied 0011_more.sql";
    },
    prepare() {
      prepared += 1;
    },
    onProgress: (line) => lines.push(line),
    stop: NEVER,
  });
  return { calls, lines, prepared };
}

test("an edit starts the API and the worker again, whatever it is of", async () => {
  for (const file of ["api/app.ts", "activities/batch.ts", "workflows/index.ts", "config/config.ts"]) {
    const { calls, lines } = await after([[file]]);
    expect(calls).toEqual(["api", "worker"]);
    expect(lines.at(-1)).toMatch(/^restarted in \d+\.\d s$/);
  }
});

test("a migration is applied before the processes start that need it", async () => {
  const { calls, lines } = await after([["db/migrations/0011_more.sql", "db/tenancy/spaces.ts"]]);
  expect(calls).toEqual(["migrate", "api", "worker"]);
  expect(lines).toContain("applied 0011_more.sql");
});

test("where a migration fails, the processes stay as they are", async () => {
  const { calls, lines } = await after([["db/migrations/0011_more.sql"]], "migrate");
  expect(calls).toEqual(["migrate"]);
  expect(lines.at(-1)).toBe("a migration failed\nwaiting for the next edit");
});

test("a migration that failed is tried again before any other edit starts the processes", async () => {
  const { calls } = await after([["db/migrations/0011_more.sql"], ["api/app.ts"]], "migrate");
  expect(calls).toEqual(["migrate", "migrate"]);
});

test("a start that fails is told, and the next edit tries again", async () => {
  const { calls, lines, prepared } = await after([["api/app.ts"], ["api/app.ts"]], "api");
  expect(calls).toEqual(["api", "worker", "api", "worker"]);
  expect(lines.filter((line) => line === "api did not start\nwaiting for the next edit")).toHaveLength(2);
  expect(prepared).toBe(3);
});

test("an edit of the code that watches is for its next start, and is said so", async () => {
  const { calls, lines } = await after([["embedded/servers/postgres.ts"]]);
  expect(calls).toEqual([]);
  expect(lines.join()).toContain('embedded/servers/postgres.ts edited; restart "npm run dev"');
});

test("settings are read by both: the processes start again, and the hint is given too", async () => {
  const { calls, lines } = await after([["config/config.ts"]]);
  expect(calls).toEqual(["api", "worker"]);
  expect(lines[0]).toContain('config/config.ts edited; restart "npm run dev"');
});

test("commands read their code at each call", async () => {
  expect(await after([["cli/commands/keys.ts"]])).toMatchObject({ calls: [], lines: [] });
});
