/**
 * Runs the image without a container engine: its file system is assembled step by step, then `migrate`, API
 * and worker of docker-compose.yml run in it, as the user without rights on a read-only root and with
 * passwords that must be encoded in a URL.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { type Temporal, startTemporal } from "../../src/embedded/servers/temporal.ts";
import { readServices, type Service } from "../compose/compose.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import { makePdf } from "../support/files/text.ts";
import { until } from "../support/until.ts";
import { assemble } from "./assemble.ts";
import { type Container, missingForContainers, runContainer, startContainer } from "./container.ts";
import { buildContext } from "./context.ts";
import { type Stage, readDockerfile } from "./dockerfile.ts";
import { unless } from "../support/run/unless.ts";

const ROOT = join(import.meta.dirname, "../..");
/** `IMAGE_INSTALL=npm` runs `npm ci` as the Dockerfile does; otherwise packages are linked from this tree. */
const INSTALLS = process.env["IMAGE_INSTALL"] === "npm";
const KEY = `sk-${randomBytes(24).toString("hex")}`;
const SPACE = "01900000-0000-7000-8000-000000000010";
const ANALYST = "01900000-0000-7000-8000-000000000020";
const UP_MS = 60_000;
const missing = missingForContainers();

test.runIf(process.env["CI"] === "true")("CI allows what this file needs", () => {
  expect(missing).toBeUndefined();
});

describe("the assembled image", unless(missing), () => {
  const id = randomBytes(6).toString("hex");
  const passwords = {
    POSTGRES_PASSWORD: "ab/cd+ef= $x",
    DATABASE_APP_PASSWORD: "p@ss",
    DATABASE_SYSTEM_PASSWORD: "a%20b",
    DATABASE_MAINTENANCE_PASSWORD: "it's #1:?",
  };
  let folder: string;
  let root: string;
  let image: Stage;
  let database: TestDatabase | undefined;
  let temporal: Temporal | undefined;
  let services: Readonly<Record<string, Service>>;
  let ports: { readonly api: number; readonly health: number };
  const running: Container[] = [];

  /** The environment of the service's container, with the servers and users of this test. */
  function environment(name: string): Record<string, string> {
    const { host, pathname } = new URL(database!.url);
    const own = Object.entries({ ...image.env, ...services[name]!.environment }).map(([variable, value]) => [
      variable,
      value.replace(
        /^postgres:\/\/holdfast(_\w+)?@postgres:5432\/holdfast$/,
        (_, part: string | undefined) => `postgres://image_${id}${part ?? "_owner"}@${host}${pathname}`,
      ),
    ]);
    return {
      ...Object.fromEntries(own),
      TEMPORAL_ADDRESS: temporal!.address,
      PORT: String(ports.api),
      ...(name === "worker" ? { HEALTH_PORT: String(ports.health) } : {}),
    };
  }
  const inside = (env: Record<string, string>) => ({
    root,
    workdir: image.workdir,
    env,
    volume: image.volumes[0]!,
  });
  const start = (name: string): Container => {
    const container = startContainer(services[name]!.command!, inside(environment(name)));
    running.push(container);
    return container;
  };
  /** Repeats the health check until it passes, as an engine does. */
  const healthy = (name: string) =>
    until(
      `${name} is healthy`,
      async () => {
        const [kind, ...command] = services[name]!.healthcheck!.test;
        expect(kind).toBe("CMD");
        return runContainer(command, inside(environment(name))).then(
          () => true,
          () => false,
        );
      },
      UP_MS,
    );

  beforeAll(async () => {
    const run = process.env["HOLDFAST_TEST_RUN_DIR"]!;
    // On the disk of the packages, because hard links cannot leave it.
    folder = await mkdtemp(join(run, "image-"));
    const stages = readDockerfile(await readFile(join(ROOT, "Dockerfile"), "utf8"));
    image = stages.at(-1)!;
    ports = { api: await freePort(), health: await freePort() };
    const settings = {
      dataDir: folder,
      cacheDir: process.env["HOLDFAST_TEST_CACHE_DIR"]!,
      port: await freePort(),
      uiPort: await freePort(),
      inMemory: true,
      hasUi: false,
    };
    const context = await buildContext(ROOT);
    services = await readServices({
      ...passwords,
      MASTER_KEY: randomBytes(32).toString("base64"),
      PROVISION_FILE: "demo/tenants.yaml",
      DATABASE_POOL_SIZE: "5",
    });
    database = await createTestDatabase({ isEmpty: true });
    temporal = await startTemporal({ ...settings, onProgress: () => undefined });
    root = await assemble(stages, { context, folder, installs: INSTALLS });
    await database.db.owner.query(
      `create role image_${id}_owner superuser login password '${passwords.POSTGRES_PASSWORD}'`,
    );
    const tenants = join(root, services["migrate"]!.environment!["PROVISION_FILE"]!);
    await mkdir(dirname(tenants), { recursive: true });
    await writeFile(tenants, await readFile(join(ROOT, "demo/tenants.yaml")));
  }, 300_000);

  afterAll(async () => {
    for (const { child } of running) child.kill("SIGKILL");
    await Promise.all(running.map((container) => container.ended));
    temporal?.kill();
    const admin = await createTestDatabase({ isEmpty: true });
    await database?.drop();
    for (const part of ["owner", "app", "system", "maintenance"])
      await admin.db.owner.query(`drop role if exists image_${id}_${part}`);
    await admin.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    "migrates and provisions, serves, works and stops as docker-compose.yml has it",
    { timeout: 240_000 },
    async () => {
      const migrate = services["migrate"]!;
      // `env_file` adds the other variables of .env.
      const printed = await runContainer(
        migrate.command!,
        inside({ ...environment("migrate"), DEMO_API_KEY: KEY }),
      );
      expect(printed).toContain(`may log in: image_${id}_app, image_${id}_system, image_${id}_maintenance`);
      expect(printed).toMatch(/\d+ added, \d+ changed/);

      const api = start("api");
      const worker = start("worker");
      await Promise.all([healthy("api"), healthy("worker")]).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${api.output()}\n${worker.output()}`);
      });
      const url = `http://127.0.0.1:${ports.api}`;
      const pdf = new Uint8Array(makePdf([["Capybaras are the largest rodents that live today."]]));
      const guide = await fetch(`${url}/docs/quick-start`);
      expect([guide.status, guide.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      const console = await fetch(`${url}/console`);
      expect([console.status, await console.text()]).toEqual([
        200,
        expect.stringContaining("/console/assets/"),
      ]);
      const { id: document } = await upload(url, KEY, SPACE, pdf, "capybaras.pdf");
      expect((await ended(url, KEY, document, UP_MS)).processing_state.pipeline_status).toBe("completed");
      const found = await call(url, KEY, "POST", "/data/hybrid-search", {
        query: "big rodents",
        space_id: SPACE,
      });
      expect([found.status, found.body.results?.[0]?.document_id]).toEqual([200, document]);
      const chat = await call(url, KEY, "POST", "/chat/completions", {
        model: ANALYST,
        messages: [{ role: "user", content: "Which rodents are the largest?" }],
      });
      expect(JSON.stringify(chat.body)).toContain("largest rodents");

      for (const container of [api, worker]) container.child.kill("SIGTERM");
      expect(await Promise.all([api.ended, worker.ended])).toEqual([0, 0]);
      // Logs keep what the processes print, so it must not have a password.
      for (const password of Object.values(passwords))
        expect(api.output() + worker.output() + printed).not.toContain(password);
    },
  );

  test("its root cannot be written, and its user has no rights", async () => {
    const script =
      "id -u; for path in /app/x /etc/x /x; do touch $path 2>/dev/null && echo wrote $path; done; touch " +
      "/data/x && echo data; grep CapBnd /proc/self/status";
    const printed = await runContainer(["sh", "-c", script], inside({}));
    expect(printed.split(/\s+/)).toEqual(["1000", "data", "CapBnd:", "0000000000000000", ""]);
  });

  test("the command line starts, and no development package or key is in it", async () => {
    expect(await runContainer(["node", "src/cli/main.ts", "--help"], inside({}))).toContain(
      "Usage: holdfast",
    );
    const has = (path: string): Promise<boolean> =>
      readFile(join(root, "app", path)).then(
        () => true,
        () => false,
      );
    expect(
      await Promise.all(
        [
          "node_modules/vitest/package.json",
          "node_modules/koa/package.json",
          "build/workflow-bundle.js",
          "build/guide/quick-start.html",
          "node_modules/vitepress/package.json",
          "node_modules/vue/package.json",
          "node_modules/react/package.json",
          "build/console/index.html",
          "docs/tour.md",
          ".env",
        ].map(has),
      ),
    ).toEqual([false, true, true, true, false, false, false, true, false, false]);
  });
});
