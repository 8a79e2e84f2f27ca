/**
 * Tests that every command prints one line for a failure that can be expected, without a stack and without a
 * secret, and changes nothing.
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AUDIT_CHAIN_SECRET } from "../../src/db/audit/chain.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { describeFailure } from "../../src/domain/expected-failure.ts";
import { freePort } from "../../src/embedded/ports.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import { runCommand } from "../support/stack/command.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { runCli } from "../support/stack/processes.ts";
import { until } from "../support/until.ts";

const CLEARED_LINE = "\r\u001b[K";
const ENTRY = join(import.meta.dirname, "../../src/cli/holdfast.cjs");
const OLDER_NODE = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.19.4'})";
const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const MASTER = Buffer.alloc(32, 3);
const OTHER = Buffer.alloc(32, 4).toString("base64");
const ID = randomUUID();
const CREATE = ["organization", "create", "--name", "Acme", "--admin-email", "ada@acme.example"];

let migrated: TestDatabase;
let empty: TestDatabase;
let folder: string;
let env: Record<string, string>;
/** The line that is printed, by failure. */
let settings: Record<string, Record<string, string>>;

beforeAll(async () => {
  [migrated, empty, folder] = await Promise.all([
    createTestDatabase(),
    createTestDatabase({ isEmpty: true }),
    mkdtemp(join(tmpdir(), "holdfast-failures-")),
  ]);
  for (const name of ["pepper", AUDIT_CHAIN_SECRET])
    await loadInstanceSecret(migrated.db, name, localMasterKey(MASTER));
  await writeFile(join(folder, "tenants.json"), JSON.stringify({ organizations: [{ name: "Acme" }] }));
  env = {
    ...migrated.env,
    DATABASE_OWNER_URL: migrated.url,
    MASTER_KEY: MASTER.toString("base64"),
    DATA_DIR: folder,
    NODE_ENV: "test",
  };
  const away = Object.fromEntries(
    await Promise.all(
      Object.entries({ ...migrated.env, DATABASE_OWNER_URL: migrated.url }).map(async ([name, url]) => [
        name,
        Object.assign(new URL(url), { port: String(await freePort()) }).toString(),
      ]),
    ),
  );
  settings = {
    "Postgres is away": away,
    "the password is wrong": {
      DATABASE_SYSTEM_URL: Object.assign(new URL(migrated.env.DATABASE_SYSTEM_URL), {
        password: "not-it",
      }).toString(),
    },
    "there is no such database": {
      DATABASE_OWNER_URL: Object.assign(new URL(migrated.url), { pathname: "/never-made" }).toString(),
    },
    "it is not migrated": { ...empty.env, DATABASE_OWNER_URL: empty.url },
    "the master key is another": { MASTER_KEY: OTHER },
    "there is no master key": { MASTER_KEY: "" },
    "nothing is configured": {
      DATABASE_URL: "",
      DATABASE_SYSTEM_URL: "",
      DATABASE_MAINTENANCE_URL: "",
      DATABASE_OWNER_URL: "",
    },
    "settings cannot be used": { PORT: "not-a-port", MASTER_KEY: "not-a-key" },
    "all is well": {},
  };
});
afterAll(async () => {
  await Promise.all([migrated.drop(), empty.drop(), rm(folder, { recursive: true, force: true })]);
});

/** What the command prints on standard error. */
async function failureOf(args: string[], extra: Record<string, string>): Promise<string> {
  const error: unknown = await runCommand(args, { ...env, ...extra }).then(
    () => new Error(`holdfast ${args.join(" ")} succeeded`),
    (thrown: unknown) => thrown,
  );
  return describeFailure(error) ?? `unexpected: ${error instanceof Error ? error.stack : String(error)}`;
}

const CASES: [string, string[], string][] = [
  ["Postgres is away", ["migrate"], "The database is not reachable: connect ECONNREFUSED"],
  ["Postgres is away", ["keys", "list"], "The database is not reachable: connect ECONNREFUSED"],
  ["Postgres is away", ["operations", "list"], "The database is not reachable: connect ECONNREFUSED"],
  ["Postgres is away", ["backup", "verify"], "The database is not reachable: connect ECONNREFUSED"],
  [
    "the password is wrong",
    ["organization", "list"],
    "The database is not reachable: password authentication failed",
  ],
  [
    "there is no such database",
    ["migrate"],
    'The database is not reachable: database "never-made" does not exist',
  ],
  ["it is not migrated", CREATE, "run `holdfast migrate` first"],
  ["it is not migrated", ["integrity"], "run `holdfast migrate` first"],
  ["the master key is another", CREATE, "The master key is not this database's"],
  ["the master key is another", ["provision", "tenants.json"], "The master key is not this database's"],
  ["the master key is another", ["audit", "verify"], "The master key is not this database's"],
  ["the master key is another", ["backup", "verify"], "The master key is not this database's"],
  ["there is no master key", CREATE, "No master key: set MASTER_KEY or KMS_KEY_NAME"],
  ["nothing is configured", ["keys", "list"], "No database: set DATABASE_URL"],
  [
    "settings cannot be used",
    ["keys", "list"],
    "The settings are not valid:\n  PORT must be a whole number\n  MASTER_KEY must",
  ],
  ["all is well", ["keys", "revoke", ID], `There is no key with the id ${ID}`],
  ["all is well", ["keys", "revoke", "x"], "A key id is a UUID"],
  ["all is well", ["keys", "rotate-organization", ID], `There is no organization with the id ${ID}`],
  ["all is well", ["organization", "delete", ID, "--yes"], `There is no organization with the id ${ID}`],
  ["all is well", ["integrity", "--organization", "x"], "There is no organization with the id x"],
  ["all is well", ["backup", "verify", "--organization", ID], `There is no organization with the id ${ID}`],
  ["all is well", ["audit", "verify", "--organization", ID], "There is no organization"],
  ["all is well", ["operations", "show", ID], "There is no operation"],
  [
    "all is well",
    ["organization", "create", "--name", " ", "--admin-email", "a@b.example"],
    "Nothing was created: --name is empty.",
  ],
  [
    "all is well",
    ["organization", "create", "--name", "New", "--admin-email", "nobody"],
    "Nothing was created: --admin-email is not an e-mail address",
  ],
  [
    "all is well",
    [...CREATE, "--space", "private"],
    "Nothing was created: --space is reserved for private spaces.",
  ],
  ["all is well", ["keys", "list", "--limit", "0"], "--limit must be a whole number from 1 to 10000."],
  ["all is well", ["keys", "list", "--limit", "1e1"], "--limit must be a whole number from 1 to 10000."],
  [
    "all is well",
    ["backup", "restore", "--from", "nowhere", "--jobs", "65"],
    "--jobs must be a whole number from 1 to 64.",
  ],
  ["all is well", ["token", "ada@acme.example"], "The development issuer is not running"],
  ["all is well", ["provision", "nowhere.yaml"], "nowhere.yaml cannot be read: ENOENT"],
  ["all is well", ["organization", "import", "--from", "nowhere", "--key-file", "k"], "nowhere"],
  ["all is well", ["audit", "verify", "--anchors", "nowhere"], "nowhere"],
];

describe("a command fails in a line", () => {
  test.each(CASES)("%s: %j", async (failure, args, expected) => {
    const paths = args.map((arg) => (/\.(json|yaml)$|^nowhere$|^k$/.test(arg) ? join(folder, arg) : arg));
    const said = await failureOf(paths, settings[failure]!);
    expect(said).toContain(expected);
    // A list of mistakes has a heading and a line each; anything else is one line.
    expect(said.split("\n")).toHaveLength(failure === "settings cannot be used" ? 3 : 1);
    expect(said).not.toMatch(/\n\s+at |src\/|not-it|not-a-key|BAQEBAQE|AwMDAwMD|-of-tests/);
  });
});

test("nothing of all that was changed", async () => {
  const { rows } = await migrated.db.owner.query(
    `select (select count(*) from organizations) as organizations,
            (select count(*) from operations)    as operations`,
  );
  expect(rows).toEqual([{ organizations: 0, operations: 0 }]);
});

test("the process prints it on standard error and ends with 1", async () => {
  await expect(runCli(["keys", "revoke", "x"], env)).rejects.toThrow(
    "ended with 1\nA key id is a UUID; `holdfast keys list` shows it.",
  );
});

test("the process ends with its command, whatever was given up on and still holds it", async () => {
  const holding = "data:text/javascript,setInterval(()=>undefined,1000)";
  const ended = promisify(execFile)(process.execPath, ["--import", holding, MAIN, "keys", "revoke", "x"], {
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("A key id is a UUID"),
  });
}, 30_000);

/** Returns the last progress that was written on standard error, which is taken for a terminal. */
async function lastOnTerminal(work: () => Promise<unknown>): Promise<unknown> {
  const wasTerminal = process.stderr.isTTY;
  process.stderr.isTTY = true;
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    await work();
    return written.mock.calls.at(-1)?.[0];
  } finally {
    written.mockRestore();
    process.stderr.isTTY = wasTerminal;
  }
}

describe("progress is taken off the terminal, where it would go on and keep the cursor", () => {
  test("by backup verify that fails", async () => {
    const failed = async () =>
      expect(await failureOf(["backup", "verify"], settings["the master key is another"]!)).toContain(
        "The master key is not this database's",
      );
    expect(await lastOnTerminal(failed)).toBe(CLEARED_LINE);
  });

  test("by a command that cannot see any more how far its operation is", async () => {
    const { owner } = migrated.db;
    const failed = async () => {
      const said = failureOf(["keys", "rotate-master"], {});
      await until(
        "the operation is asked for",
        async () => (await owner.query("select from operations")).rowCount === 1,
      );
      await owner.query("alter table operations rename to operations_away");
      expect(await said).toContain("run `holdfast migrate` first");
    };
    try {
      expect(await lastOnTerminal(failed)).toBe(CLEARED_LINE);
    } finally {
      await owner.query("alter table if exists operations_away rename to operations");
    }
  });
});

test("an older Node that is told to end ends the one that it handed over to", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  try {
    await once(silent, "listening");
    const urls = Object.entries(migrated.env).map(([name, url]) => [
      name,
      Object.assign(new URL(url), { port: String((silent.address() as AddressInfo).port) }).toString(),
    ]);
    const holder = spawn(process.execPath, ["--import", OLDER_NODE, ENTRY, "keys", "list"], {
      env: { ...process.env, ...env, ...Object.fromEntries(urls) },
      stdio: "ignore",
    });
    const [connection] = (await once(silent, "connection")) as [Socket];
    const ended = Promise.all([
      once(holder, "exit"),
      once(connection.resume(), "close", { signal: AbortSignal.timeout(2_000) }),
    ]);
    holder.kill("SIGTERM");
    expect((await ended)[0]).toEqual([null, "SIGTERM"]);
  } finally {
    silent.close();
  }
}, 30_000);

test("an older Node hands over to the one that npm ci brings, or is told of in a line", async () => {
  const start = (file: string) =>
    promisify(execFile)(process.execPath, ["--import", OLDER_NODE, file, "--help"]);
  expect((await start(ENTRY)).stdout).toContain("Usage: holdfast");
  const elsewhere = await mkdtemp(join(tmpdir(), "holdfast-entry-"));
  try {
    await copyFile(ENTRY, join(elsewhere, "holdfast.cjs"));
    await expect(start(join(elsewhere, "holdfast.cjs"))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^holdfast needs Node 24 or newer, and this is 20\.19\.4: .*\n$/),
    });
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
});
