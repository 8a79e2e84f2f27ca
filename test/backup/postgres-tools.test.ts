import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { isRunning, processId } from "../../src/embedded/processes/process-id.ts";
import {
  connectionEnvironment,
  findPostgresTools,
  runPostgresTool,
} from "../../src/backup/postgres-tools.ts";

const of = (url: string): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(connectionEnvironment(url)).filter(
      ([name]) => name.startsWith("PG") && name !== "PGAPPNAME",
    ),
  );

test("the parts of a URL reach pg_dump as libpq's variables, without those that libpq does not know", () => {
  expect(
    of(
      "postgres://own%40er:p%2Fw%20%C3%A9@db.example:6543/hold%20fast" +
        "?sslmode=verify-full&sslrootcert=%2Fca.pem&max=4",
    ),
  ).toEqual({
    PGHOST: "db.example",
    PGPORT: "6543",
    PGUSER: "own@er",
    PGPASSWORD: "p/w é",
    PGDATABASE: "hold fast",
    PGSSLMODE: "verify-full",
    PGSSLROOTCERT: "/ca.pem",
  });
  expect(of("postgres://o@[::1]/h?sslmode=no-verify")).toEqual({
    PGHOST: "::1",
    PGUSER: "o",
    PGDATABASE: "h",
    PGSSLMODE: "require",
  });
  expect(of("postgres://o@localhost/h?host=/var/run/postgresql")).toEqual({
    PGHOST: "/var/run/postgresql",
    PGUSER: "o",
    PGDATABASE: "h",
  });
});

/** Puts programs of these versions into folders of PATH, in this order. */
async function inPath(...majors: number[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-tools-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const major of majors) {
    await mkdir(join(folder, String(major)));
    for (const name of ["pg_dump", "pg_restore"]) {
      const path = join(folder, String(major), name);
      await writeFile(path, `#!/bin/sh\necho "${name} (PostgreSQL) ${major}.1"\n`);
      await chmod(path, 0o700);
    }
  }
  vi.stubEnv("PATH", majors.map((major) => join(folder, String(major))).join(delimiter));
}

afterEach(() => {
  vi.unstubAllEnvs();
});

const chosen = async (needed: { server: number; dump?: number }): Promise<number> =>
  (await findPostgresTools(needed, [])).major;

test("the program is not older than server and dump, and not newer than a server before 17", async () => {
  await inPath(90, 96, 98, 16, 99);
  await expect(chosen({ server: 97 })).resolves.toBe(98);
  await expect(chosen({ server: 90, dump: 99 })).resolves.toBe(99);
  await expect(chosen({ server: 16 })).resolves.toBe(16);
});

test("where no program fits, it is said which would", async () => {
  await inPath(4, 98);
  await expect(chosen({ server: 99 })).rejects.toThrow(
    /of Postgres 99 or newer are needed, and there is 4 in \S+, 98 in \S+\. .*postgresql-client-99$/,
  );
  await expect(chosen({ server: 5 })).rejects.toThrow(
    /of Postgres 5, and no newer than 16, are needed, .*postgresql-client-5$/,
  );
  await expect(chosen({ server: 16, dump: 98 })).rejects.toThrow("restore into Postgres 17 or newer");
});

test("what went wrong is told whatever language the machine speaks", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-tools-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script =
    '#!/bin/sh\n[ "$LC_ALL" = C ] && echo "pg_dump: error: away" >&2 || echo "pg_dump: Fehler: weg" ' +
    ">&2\nexit 1\n";
  await writeFile(join(folder, "pg_dump"), script, { mode: 0o700 });
  for (const variable of ["LANG", "LC_ALL", "LC_MESSAGES"]) vi.stubEnv(variable, "de_DE.UTF-8");
  const dumping = runPostgresTool(
    { folder, major: 18 },
    { name: "pg_dump", args: [], url: "postgres://127.0.0.1:1/none" },
  );
  await expect(dumping).rejects.toThrow("pg_dump failed: error: away");
});

test.each(["SIGTERM", "SIGHUP"] as const)(
  "a command that gets %s ends its pg_dump, and goes on to clean up",
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-tools-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = join(folder, "pg_dump");
    const main = join(folder, "main.mjs");
    const pid = join(folder, "pid");
    await writeFile(program, `#!/bin/sh\necho $$ >${pid}\nexec sleep 20\n`, { mode: 0o700 });
    const tools = join(import.meta.dirname, "../../src/backup/postgres-tools.ts");
    const script = `
    import { runPostgresTool } from ${JSON.stringify(tools)};
    const run = { name: "pg_dump", args: [], url: "postgres://127.0.0.1:1/none" };
    const program = { folder: ${JSON.stringify(folder)}, major: 18 };
    await runPostgresTool(program, run).catch((error) => console.log(error.message));`;
    await writeFile(main, script);
    const command = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    command.stdout.on("data", (piece: Buffer) => {
      printed += piece.toString();
    });
    const exited = once(command, "exit");
    const dump = await vi.waitFor(async () => {
      const found = await processId(Number(await readFile(pid, "utf8")));
      return found ?? Promise.reject(new Error("pg_dump does not run yet"));
    }, 10_000);
    command.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(printed).toBe("pg_dump failed: it ended with SIGTERM\n");
    expect(await isRunning(dump)).toBe(false);
  },
);
