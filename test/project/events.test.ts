/** A command says which events its change is; these tests hold that to what version 0.10 told of the same. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Changes that are no events, by the action and the resource of their audit row. */
const NO_EVENTS: Readonly<Record<string, string>> = {
  "documents:reprocess document": "a run is told when it waits and when it ends",
  "documents:reprocess pipeline_run": "a run that is cancelled is told as its end",
  "documents:reprocess batch": "a batch is told when its last run has ended",
  "documents:reprocess vector_store_batch": "each run that it cancels is told as its end",
  "user_files:create user_file": "it is in no space, where others could be told of it",
  "user_files:delete user_file": "its documents are told, and it is in no space itself",
  "webhooks:redeliver webhook": "what is delivered again was told before",
  "webhooks:replay webhook": "what is delivered again was told before",
};

function sources(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), "utf8"));
}

interface NamedEvents {
  /** Action and resource. */
  readonly change: string;
  /** The elements of the array, as written. */
  readonly events: string;
}

/** The changes of commands that name their action, resource and events where they record them. */
const named: readonly NamedEvents[] = sources("src/commands/**/*.ts").flatMap((source) =>
  [...source.matchAll(/recordChanges?\(\s*sql,\s*caller,\s*"(?<action>[\w:]+)",(?<rest>[^;]*);/g)].flatMap(
    ({ groups }) => {
      const { action, rest } = groups as { action: string; rest: string };
      const resource = /\btype: "(\w+)"|\.\.\.changed(\w+)\(/.exec(rest.replace(/events: .*/s, ""));
      const events = /events: \[(.*)\]/s.exec(rest);
      if (resource === null || events === null) return [];
      const type = resource[1] ?? resource[2]!.toLowerCase();
      return { change: `${action} ${type}`, events: events[1]! };
    },
  ),
);

test("a change without an event is listed with the reason", () => {
  const silent = named.filter(({ events }) => events === "").map(({ change }) => change);

  expect([...new Set(silent)].toSorted()).toEqual(Object.keys(NO_EVENTS).toSorted());
});

test("a change is the event that a row of version 0.10 becomes", () => {
  const [schema] = sources("src/db/schema/event-sources.sql");
  const cases = schema!.matchAll(/when '(?<change>\w+:\w+ \w+)' then '(?<type>[\w.]+)'/g);
  const before = new Map([...cases].map(({ groups }) => [groups!["change"]!, groups!["type"]!]));
  const told = named.flatMap(({ change, events }) => {
    const type = /^\{ type: "([\w.]+)" \}$/.exec(events)?.[1];
    return type !== undefined && before.has(change) ? [{ change, type }] : [];
  });

  expect(told.length).toBeGreaterThan(18);
  expect(told).toEqual(told.map(({ change }) => ({ change, type: before.get(change) })));
  const code = sources("src/{commands,cli,db}/**/*.ts").join("\n");
  expect([...before.values()].filter((type) => !code.includes(`"${type}"`))).toEqual([]);
});
