/**
 * Restores into a Postgres server that never saw Holdfast, by hand and by command, and tests that
 * organizations stay apart.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { ended, upload } from "../support/clients/client.ts";
import { type TestIssuer, startIssuer } from "../support/servers/issuer.ts";
import { faultOf, inParallel, ruleOf, sendAs } from "../support/matrix/judge.ts";
import { matrixRequest } from "../support/matrix/requests.ts";
import { type MatrixCaller, RULES_OF_ROUTES, type SpaceName } from "../support/matrix/rules.ts";
import { SPACE_NAMES, type Things, makeCallers, makeThings, withWebhook } from "../support/matrix/world.ts";
import {
  type NewServer,
  type OwnedEnvironment,
  postgresTool,
  startNewServer,
} from "../support/servers/postgres-server.ts";
import { runCli, startProcess, type TestProcess } from "../support/stack/processes.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { KEYS, SPACES } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);

/** One of each way to stand to a space. The matrix asks as everybody, at a database that was not restored. */
const ASKING = new Set([
  "token of viewer",
  "token of nobody",
  "key of owner",
  "key of rival",
  "key for one space",
  "key revoked",
]);

let stack: Stack;
let issuer: TestIssuer;
let server: NewServer;
let folder: string;
let callers: MatrixCaller[];
let things: Record<(typeof SPACE_NAMES)[number], Things>;
/** The folder that `holdfast backup create` made. */
let backup: string;

beforeAll(async () => {
  [issuer, server, folder] = await Promise.all([
    startIssuer(),
    startNewServer(),
    mkdtemp(join(tmpdir(), "holdfast-restore-")),
  ]);
  stack = await startStack({
    env: {
      HOLDFAST_CACHE: process.env["HOLDFAST_TEST_CACHE_DIR"]!,
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: issuer.audience,
    },
  });
  callers = await makeCallers(stack, issuer);
  const made = await Promise.all(
    SPACE_NAMES.map(async (space) =>
      withWebhook(stack, callers, space, await makeThings(stack, space, SPACES[space])),
    ),
  );
  things = Object.fromEntries(SPACE_NAMES.map((space, at) => [space, made[at]!])) as typeof things;
  await Promise.all(
    made.map(({ document_id }, at) => ended(stack.url, at === 2 ? KEYS.rival : KEYS.owner, document_id!)),
  );
  // Index upkeep merges rows at any time, and a later dump is compared with this backup.
  await stack.worker.kill("SIGTERM");
  backup = join(folder, "backup");
  await runCli(["backup", "create", "--to", backup], {
    ...stack.env,
    DATABASE_OWNER_URL: stack.database.url,
  });
}, 180_000);

afterAll(async () => {
  await Promise.all([stack.close(), issuer.close(), server.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** The environment of processes that serve the restored data: the logins, without the owner. */
function settings(
  { DATABASE_URL, DATABASE_SYSTEM_URL, DATABASE_MAINTENANCE_URL }: OwnedEnvironment,
  dataDir: string,
): Record<string, string> {
  return { ...stack.env, DATABASE_URL, DATABASE_SYSTEM_URL, DATABASE_MAINTENANCE_URL, DATA_DIR: dataDir };
}

/** The error message of a command that must fail. */
const failureOf = async (command: Promise<string>): Promise<string> =>
  command.then(
    (output) => `did not fail: ${output}`,
    (error: unknown) => (error as Error).message,
  );

/** What a process prints that must not start. */
async function refusal(main: string, env: Record<string, string>): Promise<string> {
  const started = startProcess(main, env);
  await until("the process ended", () => started.child.exitCode !== null, 30_000);
  expect(started.child.exitCode).not.toBe(0);
  return started.output();
}

test("a dump without its roles is served by no process until migrate has mended it", async () => {
  const database = await server.makeDatabase("by_hand");
  const dump = join(folder, "by-hand.dump");
  const owner = { ...stack.env, ...database };
  await run(await postgresTool("pg_dump"), ["-Fc", "--file", dump, stack.database.url]);
  const restored = await run(await postgresTool("pg_restore"), [
    "--dbname",
    database.DATABASE_OWNER_URL,
    dump,
  ]).catch((error: unknown) => error as { stderr: string });
  expect(restored.stderr).toContain('role "holdfast_system" does not exist');
  const dataDir = join(folder, "by-hand");
  await cp(join(stack.dataDir, "objects"), join(dataDir, "objects"), { recursive: true });
  // The logs say that roles are missing, and an operator does this.
  await runCli(["migrate", "--roles"], owner);
  await server.query(
    "by_hand",
    `alter role holdfast_app login password 'app-of-tests';
     alter role holdfast_system login password 'system-of-tests'`,
  );
  const env = settings(database, dataDir);
  const [api, worker, cli] = await Promise.all([
    refusal("src/api/main.ts", { ...env, PORT: "0" }),
    refusal("src/worker/main.ts", env),
    failureOf(runCli(["backup", "verify"], env)),
  ]);
  for (const said of [api, worker, cli]) {
    expect(said).toMatch(
      new RegExp(
        "The database is not as this version needs it: .*; and \\d+ more\\. " +
          "Run `holdfast migrate` as the owner of the schema\\.",
      ),
    );
    expect(said).not.toContain("    at ");
  }
  const mended = await runCli(["migrate", "--create-logins"], owner);
  expect(mended).toContain("mended: table documents lacks the policy tenant\n");
  expect(mended).toContain("the database is up to date\n");
  expect(await runCli(["backup", "verify", "--manifest", join(backup, "manifest.json")], env)).toMatch(
    /^2 organizations can be served from this backup; \d+ files were read\n$/,
  );
  await server.query(
    "by_hand",
    "alter role holdfast_system bypassrls; alter role holdfast_maintenance superuser",
  );
  expect(await failureOf(runCli(["keys", "list"], env))).toContain(
    "role holdfast_system has bypassrls; role holdfast_maintenance has superuser. Run `holdfast migrate`",
  );
  expect(await runCli(["migrate"], owner)).toBe(
    "mended: role holdfast_system has bypassrls\nmended: role holdfast_maintenance has superuser\nthe " +
      "database is up to date\n",
  );
  await server.forget("by_hand");
});

test("a backup is whole or not made, contains no key, and is refused if a part was exchanged", async () => {
  const owner = { ...stack.env, DATABASE_OWNER_URL: stack.database.url };
  expect((await readdir(folder)).filter((name) => name.startsWith("backup"))).toEqual(["backup"]);
  expect((await readdir(backup)).toSorted()).toEqual([
    "database.dump",
    "manifest.json",
    "objects",
    "objects.ndjson",
  ]);
  const manifest = await readFile(join(backup, "manifest.json"), "utf8");
  for (const secret of [stack.env["MASTER_KEY"]!, "Acme", new URL(stack.database.url).password])
    expect(manifest).not.toContain(secret);
  expect(await failureOf(runCli(["backup", "create", "--to", backup], owner))).toContain(
    `${backup} is not empty: choose a folder that does not exist yet.\n`,
  );
  const database = await server.makeDatabase("refused");
  const restore = async (from: string): Promise<string> =>
    failureOf(
      runCli(["backup", "restore", "--from", from], {
        ...stack.env,
        ...database,
        DATA_DIR: join(folder, "refused"),
      }),
    );
  const damaged = join(folder, "damaged");
  await cp(backup, damaged, { recursive: true });
  const index = (await readFile(join(damaged, "objects.ndjson"), "utf8")).split("\n");
  const object = join(damaged, "objects", (JSON.parse(index[0]!) as { name: string }).name);
  const bytes = await readFile(object);
  await writeFile(object, Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]));
  expect(await restore(damaged)).toMatch(
    /The object \S+ in the backup was changed: its hash does not match\.\n/,
  );
  await rm(object);
  expect(await restore(damaged)).toMatch(/The object \S+ is missing from the backup or cannot be read\.\n/);
  await writeFile(join(damaged, "objects.ndjson"), index.slice(1).join("\n"));
  expect(await restore(damaged)).toContain("objects.ndjson was changed: its size or hash does not match.\n");
  await rm(join(damaged, "manifest.json"));
  expect(await restore(damaged)).toContain(
    "manifest.json cannot be read (ENOENT): a complete backup contains it.\n",
  );
  await server.query("refused", "create table spaces (id int)");
  expect(await restore(backup)).toContain(
    "The database is not empty: it has public.spaces. Restore into a new one; where a restore was " +
      "killed once its rows were there, `holdfast migrate` and `holdfast backup verify --manifest` end " +
      "it.\n",
  );
  // None of the refused restores changed anything.
  expect(
    await server.query(
      "refused",
      `select rolname from pg_roles where rolname like 'holdfast%'
       union all
       select relname from pg_class where relname in ('documents', 'migrations')`,
    ),
  ).toEqual([]);
  await server.query(
    "refused",
    "drop table spaces; create function run_user(uuid) returns uuid language sql as 'select $1'",
  );
  expect(await restore(backup)).toMatch(/pg_restore failed: error: .*function "run_user" already exists/);
  expect(
    await server.query(
      "refused",
      "select relname from pg_class where relname in ('documents', 'migrations')",
    ),
  ).toEqual([]);
  await server.forget("refused");
});

test("a restore by command serves each caller what it may read, and takes new documents", async () => {
  const database = await server.makeDatabase("restored");
  const dataDir = join(folder, "restored");
  const owner = { ...stack.env, ...database, DATA_DIR: dataDir };
  expect(await runCli(["backup", "restore", "--from", backup], owner)).toMatch(
    new RegExp(
      "^restored the backup of \\S+: \\d+ rows, \\d+ objects?\\n" +
        "Next, with the master key: holdfast migrate --create-logins",
    ),
  );
  await runCli(["migrate", "--create-logins"], owner);
  const port = await freePort();
  const env = { ...settings(database, dataDir), PORT: String(port), REQUIRE_DATABASE_LOGINS: "true" };
  expect(await runCli(["backup", "verify", "--manifest", join(backup, "manifest.json")], env)).toContain(
    "2 organizations can be served",
  );
  await Promise.all([stack.api.kill("SIGKILL"), stack.worker.kill("SIGKILL")]);
  const processes: TestProcess[] = [
    startProcess("src/api/main.ts", env),
    startProcess("src/worker/main.ts", env),
  ];
  const url = `http://127.0.0.1:${port}`;
  try {
    await until("the API answers", async () => (await fetch(`${url}/health`)).ok, 60_000);
    const reads = Object.keys(RULES_OF_ROUTES).filter((route) => /^GET|\/(hybrid-)?search$/.test(route));
    const asking = callers.filter(({ name }) => ASKING.has(name));
    expect(asking).toHaveLength(ASKING.size);
    const cells = reads.flatMap((route) =>
      asking.flatMap((caller) =>
        (caller.standing === "good" ? SPACE_NAMES : SPACE_NAMES.slice(0, 1)).map((space: SpaceName) => ({
          route,
          caller,
          space,
        })),
      ),
    );
    expect(cells.length).toBeGreaterThan(200);
    const wrong: string[] = [];
    await inParallel(cells, async ({ route, caller, space }) => {
      const fault = faultOf(
        await sendAs(url, caller, matrixRequest(route, things[space as keyof typeof things])),
        caller,
        ruleOf(route, space),
        space,
      );
      if (fault !== undefined) wrong.push(`${route} in ${space} by ${caller.name} ${fault}`);
    });
    expect(wrong.toSorted()).toEqual([]);
    const { id } = await upload(url, KEYS.editor, SPACES.research, "# After\n\nWritten after the restore.\n");
    expect((await ended(url, KEYS.editor, id)).processing_state.pipeline_status).toBe("completed");
  } finally {
    await Promise.all(processes.map((one) => one.kill("SIGKILL")));
  }
}, 180_000);
