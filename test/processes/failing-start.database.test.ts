/**
 * Expected failures at the start of a process are reported in one line, and the exit code says whether a
 * restart may help.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { AUDIT_CHAIN_SECRET } from "../../src/db/audit/chain.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { openDatabase, queryOnce } from "../../src/db/pool.ts";
import { describeFailure } from "../../src/domain/expected-failure.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import { createTestDatabase } from "../support/servers/database.ts";
import { type TestProcess, startProcess } from "../support/stack/processes.ts";

const MASTER = Buffer.alloc(32, 3);
const RESTART_MAY_HELP = 1;

vi.setConfig({ testTimeout: 120_000 });

test("API and worker, where a port is taken and threads have begun", async () => {
  const [database, folder] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), "holdfast-starts-")),
  ]);
  const started: TestProcess[] = [];
  const taken = createServer().listen(0, "127.0.0.1");
  try {
    await once(taken, "listening");
    const port = String((taken.address() as AddressInfo).port);
    for (const name of ["content-hash", AUDIT_CHAIN_SECRET])
      await loadInstanceSecret(database.db, name, localMasterKey(MASTER));
    const env = {
      ...database.env,
      MASTER_KEY: MASTER.toString("base64"),
      DATA_DIR: folder,
      TEMPORAL_ADDRESS: "127.0.0.1:1",
      NODE_ENV: "test",
    };
    const cases: [name: "api" | "worker", settings: Record<string, string>, code: number, said: RegExp][] = [
      [
        "worker",
        { HEALTH_PORT: port },
        RESTART_MAY_HELP,
        /^holdfast worker: Cannot listen on HEALTH_PORT: EADDRINUSE\n$/,
      ],
      [
        "api",
        { PORT: port, HOST: "127.0.0.1" },
        RESTART_MAY_HELP,
        new RegExp(
          "^holdfast api: Port \\d+ is in use on 127\\.0\\.0\\.1\\. " +
            "Stop the program using it, or set PORT to another port\\.\\n$",
        ),
      ],
    ];
    await Promise.all(
      cases.map(async ([name, settings, code, said]) => {
        const process = startProcess(`src/${name}/main.ts`, { ...env, ...settings });
        started.push(process);
        const { child, output } = process;
        const [ended, signal] = (await once(child, "close")) as [number | null, string | null];
        const words = output()
          .split(/(?<=\n)/)
          .filter((line) => !line.startsWith("{"))
          .join("");
        expect({ ended, signal, words }).toEqual({
          ended: code,
          signal: null,
          words: expect.stringMatching(said),
        });
      }),
    );
  } finally {
    taken.close();
    await Promise.all(started.map((process) => process.kill("SIGKILL")));
    await Promise.all([database.drop(), rm(folder, { recursive: true, force: true })]);
  }
});

test("a missing database is an outage, a missing certificate file is a mistake", async () => {
  const database = await createTestDatabase();
  try {
    const open = (change: (url: URL) => void) => {
      const url = new URL(database.env.DATABASE_SYSTEM_URL);
      change(url);
      return openDatabase({
        url: url.toString(),
        systemUrl: url.toString(),
        poolSize: 1,
        onIdleError: () => undefined,
      });
    };
    const nowhere = open((url) => (url.pathname = "/nowhere"));
    const error = await queryOnce(nowhere.system, "select 1").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "database_unavailable" });
    expect(describeFailure(error)).toBe('The database is not reachable: database "nowhere" does not exist');
    await nowhere.close();
    expect(() => open((url) => url.searchParams.set("sslrootcert", "/nowhere/ca.pem"))).toThrow(
      /^A database URL names a file that cannot be read: ENOENT: .*'\/nowhere\/ca\.pem'$/,
    );
  } finally {
    await database.drop();
  }
});
