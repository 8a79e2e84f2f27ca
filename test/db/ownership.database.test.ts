/**
 * Every statement that reads or changes what belongs to a person asks whose it is by the one condition, or is
 * listed here with the reason why it need not.
 */
import { glob, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { commandDatabase } from "../support/tenants/commands.ts";

const test = commandDatabase();

/**
 * Tables with a person and without a space that callers never read: only logins, upkeep or the instance do.
 */
const NOT_PERSONAL: Readonly<Record<string, string>> = {
  api_keys: "only logins manage keys, by their user or as administrators",
  webhooks: "only logins manage webhooks",
  deletions: "the outbox; a caller names what is deleted, never the deletion",
};

/** Where a statement need not ask, and why. */
const ELSEWHERE: readonly (readonly [file: RegExp, reason: string])[] = [
  [
    /^src\/db\/(upkeep|encryption|deletions|outbox|instance\/(work-list|outbox-state))\b/,
    "upkeep of all rows",
  ],
  [/^src\/db\/stores\/expiry\.ts$/, "upkeep of all rows"],
  [/^src\/db\/transfer\//, "the archive of a whole organization"],
  [/^src\/db\/tenancy\/storage-quotas\.ts$/, "sums of bytes"],
  [/^src\/db\/files\/object-names\.ts$/, "whether an object is still held"],
  [/^src\/db\/runs\/(states|batch-steps)\.ts$/, "steps of the batch's workflow"],
  [/^src\/db\/responses\/(orphans|events)\.ts$/, "the process that has the response in hand"],
  [/^src\/db\/responses\/(conversations|items)\.ts$/, "contents of a response that was found by its caller"],
  [/^src\/db\/responses\/quota\.ts$/, "sums of bytes"],
  [/^src\/db\/migrate\.ts$/, "the owner of the schema, who upgrades"],
];

/** What a statement may say instead of the one condition, after a statement of the same file has asked it. */
const ASKED_BEFORE: Readonly<Record<string, readonly RegExp[]>> = {
  "src/db/stores/user-files.ts": [
    /insert into openai_files/,
    /delete from openai_files\s+where id = \$2/,
    // The condition is the next member of the page that is asked for.
    /^select \$\{COLUMNS\} from openai_files file$/,
  ],
  "src/db/runs/batches.ts": [/^insert into/, /where batch\.id = \$1/, /^update batches\s+set status/],
  "src/db/mcp/sessions.ts": [/^insert into/, /^update mcp_sessions/],
  "src/db/responses/responses.ts": [/^insert into/, /attempt = \$2/, /^select \$\{part\}_key_id as/],
  // The condition of the others, one constant, begins with the exact caller.
  "src/db/instance/idempotency.ts": [/^insert into/, /where \$\{IS_OPEN\}$/],
  "src/db/turns/kept-answers.ts": [/\bturn_id = /, /^insert into/],
};

/** The conditions: by the person and the key, or by the exact caller. */
const ASKS = /isOwned\(|IS_OWN\b|\$\{OWN\}|caller_id = \$\d|batch\.api_key_id = \$3/;

async function personalTables(): Promise<string[]> {
  const { rows } = await test.db.owner.query<{ name: string }>(
    `select table_name as name
     from information_schema.columns
     where table_schema = 'public'
     group by table_name
     having bool_or(column_name = 'organization_id')
        and bool_or(column_name in ('user_id', 'caller_id', 'created_by'))
        and not bool_or(column_name = 'space_id')
     order by 1`,
  );
  return rows.map(({ name }) => name).filter((name) => !(name in NOT_PERSONAL));
}

/** The texts of the file in quotes of any kind that have a statement about one of the tables. */
function statementsOf(source: string, tables: readonly string[]): string[] {
  const about = new RegExp(`\\b(?:from|join|update|into)\\s+(?:${tables.join("|")})\\b`);
  const texts = source.match(/`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g) ?? [];
  return texts.map((text) => text.slice(1, -1).trim()).filter((text) => about.test(text));
}

it("no statement reads past the condition of ownership", async () => {
  const tables = await personalTables();
  expect(tables).toEqual(
    expect.arrayContaining(["openai_files", "batches", "responses", "mcp_sessions", "kept_turns"]),
  );
  const past: string[] = [];
  let asking = 0;
  for await (const file of glob("src/**/*.ts")) {
    if (ELSEWHERE.some(([pattern]) => pattern.test(file))) continue;
    const source = await readFile(file, "utf8");
    for (const statement of statementsOf(source, tables)) {
      if (ASKS.test(statement)) asking += 1;
      else if (ASKED_BEFORE[file]?.some((pattern) => pattern.test(statement)) !== true)
        past.push(`${file}: ${statement}`);
    }
  }
  expect(past).toEqual([]);
  expect(asking).toBeGreaterThan(10);
});
