/** Every change that is audited is an event, or stands here with the reason why it is none. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Changes by the action and the resource of their audit row. */
const NO_EVENTS: Readonly<Record<string, string>> = {
  "documents:reprocess document": "a run is told when it waits and when it ends",
  "documents:reprocess pipeline_run": "a run that is cancelled is told as its end",
  "documents:reprocess batch": "a batch is told when its last run has ended",
  "documents:reprocess vector_store_batch": "each run that it cancels is told as its end",
  "user_files:create user_file": "it is in no space, where others could be told of it",
  "user_files:delete user_file": "its documents are told, and it is in no space itself",
  "organization:provision organization": "its events are those of what the file made or changed",
};

/** Changes that are no commands. */
const ELSEWHERE = ["api_keys:revoke_leaked api_key", "organization:provision organization"];

function sources(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), "utf8"));
}

/** The changes of commands, without those that name their events themselves. */
function auditedChanges(): string[] {
  const call =
    /recordChange\(\s*sql,\s*caller,\s*(?<action>[^,]+),\s*\{\s*type: "(?<type>\w+)"(?<rest>[^;]*);/g;
  return sources("src/commands/**/*.ts").flatMap((source) =>
    [...source.matchAll(call)]
      .filter(({ groups }) => !/\bevents\b/.test(groups!["rest"]!))
      .map(({ groups }) => `${groups!["action"]!.replaceAll('"', "")} ${groups!["type"]}`),
  );
}

test("every audited change is an event, or is listed with the reason why it is none", () => {
  const [migration] = sources("src/db/schema/event-sources.sql");
  const told = new Set(
    [...migration!.matchAll(/when '(?<change>\w+:\w+ \w+)' then/g)].map((match) => match[1]!),
  );
  const changes = new Set([...auditedChanges(), ...ELSEWHERE]);

  expect(changes).toContain("agents:create agent");
  const silent = [...changes].filter((change) => !told.has(change));
  expect(silent.toSorted()).toEqual(Object.keys(NO_EVENTS).toSorted());
});
