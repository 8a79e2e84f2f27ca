/** docker-compose.yml against the settings: every one reaches the processes, and any password does so unchanged. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { loadConfig, requireReal, requireWorker } from "../../src/config/config.ts";
import { SETTING_NAMES } from "../../src/config/settings/index.ts";
import { interpolate, readServices } from "./compose.ts";

const ROOT = join(import.meta.dirname, "../..");
const PASSWORDS = [
  "ab/cd+ef=",
  "p@ss",
  "a%20b",
  "$x${Y}$$",
  " two  words ",
  `'"\\`,
  "#?&:[]",
  "100%",
  "{{ .x }}",
];
const required = (password: string): Record<string, string> => ({
  POSTGRES_PASSWORD: `${password}o`,
  DATABASE_APP_PASSWORD: `${password}a`,
  DATABASE_SYSTEM_PASSWORD: `${password}s`,
  DATABASE_MAINTENANCE_PASSWORD: `${password}m`,
  MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
});

const loginOf = (url: string | undefined): string[] => {
  const { user, password, host, port, database } = new pg.Client({ connectionString: url! });
  return [user!, String(password), host, String(port), database!];
};
const at = ["postgres", "5432", "holdfast"];

describe.each(PASSWORDS)("with the password %j", (password) => {
  test("each process has the logins of its part, and Postgres the owner's", async () => {
    const { api, worker, migrate, postgres, ...others } = await readServices(required(password));
    const processes = {
      api,
      worker,
      "api-replica": others["api-replica"],
      "worker-replica": others["worker-replica"],
    };
    for (const [name, service] of Object.entries(processes)) {
      const { database } = (name.startsWith("worker") ? requireWorker : requireReal)(
        loadConfig(service!.environment),
      );
      expect(loginOf(database.url)).toEqual(["holdfast_app", `${password}a`, ...at]);
      expect(loginOf(database.systemUrl)).toEqual(["holdfast_system", `${password}s`, ...at]);
      expect(database.maintenanceUrl === undefined).toBe(!name.startsWith("worker"));
      expect(JSON.stringify(service!.environment)).not.toContain(JSON.stringify(`${password}o`));
    }
    const { database } = loadConfig(migrate!.environment);
    expect(loginOf(database.ownerUrl)).toEqual(["holdfast", `${password}o`, ...at]);
    expect(loginOf(database.maintenanceUrl)).toEqual(["holdfast_maintenance", `${password}m`, ...at]);
    expect(postgres!.environment!["POSTGRES_PASSWORD"]).toBe(`${password}o`);
  });
});

test.each([
  "POSTGRES_PASSWORD",
  "DATABASE_APP_PASSWORD",
  "DATABASE_SYSTEM_PASSWORD",
  "DATABASE_MAINTENANCE_PASSWORD",
])("without %s nothing starts", async (name) => {
  await expect(readServices({ ...required("p"), [name]: "" })).rejects.toThrow(`${name}: set it in .env`);
});

/** Credentials that the clients of the collector and of S3 find by themselves. */
const READ_BY_LIBRARIES = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
];
/** Settings that the processes of compose do not get from .env, each with the reason. */
const LEFT_OUT: Record<string, string> = {
  WORKER_METRICS_PORT: "of `npm start`, where both processes are on one machine",
  NODE_ENV: "production",
  PORT: "of the image; PORT in .env is the port of this machine",
  HOST: "of the image",
  DATA_DIR: "of the image: the volume",
  DATABASE_URL: "the Postgres of the file",
  DATABASE_SYSTEM_URL: "the Postgres of the file",
  DATABASE_MAINTENANCE_URL: "the Postgres of the file",
  DATABASE_OWNER_URL: "the Postgres of the file",
  DATABASE_PASSWORD: "DATABASE_APP_PASSWORD in .env",
  DATABASE_SYSTEM_PASSWORD: "has that name in .env",
  DATABASE_MAINTENANCE_PASSWORD: "has that name in .env",
  DATABASE_OWNER_PASSWORD: "POSTGRES_PASSWORD in .env",
  DATABASE_PASSWORD_FILE: "instead of the variables of .env",
  DATABASE_SYSTEM_PASSWORD_FILE: "instead of the variables of .env",
  DATABASE_MAINTENANCE_PASSWORD_FILE: "instead of the variables of .env",
  DATABASE_OWNER_PASSWORD_FILE: "instead of the variables of .env",
  REQUIRE_DATABASE_LOGINS: "always: the logins are the file's own",
  TEMPORAL_ADDRESS: "the Temporal of the file",
  TEMPORAL_NAMESPACE: "the Temporal of the file",
  TEMPORAL_API_KEY: "the Temporal of the file",
  TEMPORAL_TLS: "the Temporal of the file",
  TEMPORAL_TLS_CERT_FILE: "the Temporal of the file",
  TEMPORAL_TLS_KEY_FILE: "the Temporal of the file",
  TEMPORAL_TLS_CA_FILE: "the Temporal of the file",
  TEMPORAL_TLS_SERVER_NAME: "the Temporal of the file",
  KMS_EMULATOR_HOST: "for tests",
  PROVISION_FILE: "mounted: what migrate gets is where it is in the container",
  HOLDFAST_CACHE: "of npm start",
  HEALTH_PORT: "fixed: the health check asks it",
};

test("every setting reaches the processes from .env, or is left out for a reason", async () => {
  const marks = Object.fromEntries(SETTING_NAMES.map((name) => [name, `mark of ${name}`]));
  const { api, worker, migrate } = await readServices({ ...marks, ...required("p") });
  const missing = SETTING_NAMES.filter(
    (name) => !(name in LEFT_OUT) && name !== "MASTER_KEY" && worker!.environment![name] !== marks[name],
  );
  expect(missing).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  const known = new Set([...SETTING_NAMES, ...READ_BY_LIBRARIES]);
  for (const service of [api, worker, migrate])
    expect(Object.keys(service!.environment!).filter((name) => !known.has(name))).toEqual([]);
  // Only workers serve queues.
  const onlyWorkers = new Set([
    "WORKER_QUEUES",
    "HEALTH_PORT",
    "DATABASE_MAINTENANCE_URL",
    "DATABASE_MAINTENANCE_PASSWORD",
  ]);
  expect(Object.keys(worker!.environment!).filter((name) => !(name in api!.environment!))).toEqual(
    Object.keys(worker!.environment!).filter((name) => onlyWorkers.has(name)),
  );
});

test("every variable of the file is in .env.example, and every line there is used", async () => {
  const [compose, example, tenants] = await Promise.all(
    ["docker-compose.yml", ".env.example", "demo/tenants.yaml"].map((name) =>
      readFile(join(ROOT, name), "utf8"),
    ),
  );
  const used = new Set(
    [...compose!.replaceAll(/^ *#.*$/gm, "").matchAll(/(?<!\$)\$\{(\w+)/g)].map((match) => match[1]!),
  );
  const listed = new Set([...example!.matchAll(/^([A-Z0-9_]+)=/gm)].map((match) => match[1]!));
  const versions = [...used].filter((name) => name.endsWith("_VERSION") || name === "HOLDFAST_IMAGE");
  expect([...used].filter((name) => !listed.has(name) && !versions.includes(name))).toEqual([]);
  expect([...listed].filter((name) => !used.has(name) && !tenants!.includes(`\${${name}}`))).toEqual([]);
});

test("migrate gets all of .env, and a tenants file of this machine under a fixed path", async () => {
  const { migrate } = await readServices({ ...required("p"), PROVISION_FILE: "tenants/mine.yaml" });
  expect(migrate!.env_file).toEqual([{ path: ".env", required: false }]);
  expect(migrate!.environment!["PROVISION_FILE"]).toBe("/provision/tenants.yaml");
  expect(migrate!.volumes).toEqual([
    {
      type: "bind",
      source: "tenants/mine.yaml",
      target: "/provision/tenants.yaml",
      read_only: true,
      bind: { create_host_path: false },
    },
  ]);
  const without = await readServices(required("p"));
  expect(without["migrate"]!.environment!["PROVISION_FILE"]).toBe("");
});

test("a node of its own is what starts without a profile", async () => {
  const services = await readServices(required("p"));
  expect(
    Object.entries(services)
      .flatMap(([name, { profiles }]) => (profiles === undefined ? [name] : []))
      .toSorted(),
  ).toEqual(
    [
      "api",
      "migrate",
      "postgres",
      "temporal",
      "temporal-namespace",
      "temporal-schema",
      "temporal-ui",
      "worker",
    ].toSorted(),
  );
});

test.each(["$NAME", "${A-b}", "${A:-${B}}", "$"])("%s is refused by the tests' own interpolation", (text) => {
  expect(() => interpolate(text, {})).toThrow("not a form of interpolation");
});
