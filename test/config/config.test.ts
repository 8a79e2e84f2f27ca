import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { ConfigError, loadConfig, requireReal, requireWorker } from "../../src/config/config.ts";

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");

function problemsOf(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("an empty environment gives the embedded defaults", () => {
  const config = loadConfig({});
  expect(config.api).toEqual({
    host: "127.0.0.1",
    port: 8080,
    eventStreams: 2_000,
    publicUrl: "http://127.0.0.1:8080",
    drainDelayMs: 0,
    trustedProxies: 0,
    corsOrigins: [],
  });
  expect(config.limits).toEqual({
    maxUploadBytes: 104_857_600,
    documentsPerOrganization: undefined,
    bytesPerOrganization: undefined,
    requestsPerMinute: 600,
    chatTurnsPerMinute: 60,
    requestsPerUserAndMinute: 600,
    chatTurnsPerUserAndMinute: 60,
    requestsPerOrganizationAndMinute: undefined,
    chatTurnsPerOrganizationAndMinute: undefined,
    refusalsPerMinute: 1_200,
    keysPerUser: 50,
  });
  expect(config.worker.queues).toEqual([
    "pipeline",
    "parse",
    "embed",
    "isolated",
    "tools",
    "webhooks",
    "chat",
  ]);
  expect(config.database.url).toBeUndefined();
  expect(config.models.baseUrl).toBeUndefined();
});

test("every wrong variable is named in one error, and no value is repeated", () => {
  const env = {
    PORT: "http",
    DATABASE_URL: "mysql://u:topsecret@h/d",
    DATABASE_OWNER_URL: "holdfast:topsecret@h/d",
    REQUIRE_DATABASE_LOGINS: "perhaps",
    MASTER_KEY: "c2hvcnQ=",
    EMBEDDING_DIMENSIONS: "5000",
    OIDC_ISSUER: "http://issuer.example",
    OIDC_AUDIENCE: "a",
    WORKER_QUEUES: "parse,nothing",
    LOG_LEVEL: "loud",
    NODE_ENV: "staging",
  };
  const problems = problemsOf(() => loadConfig(env));
  expect(new Set(problems.map((problem) => problem.split(" ")[0]))).toEqual(
    new Set(Object.keys(env).filter((name) => name !== "OIDC_AUDIENCE")),
  );
  expect(problems.join("\n")).not.toContain("topsecret");
});

test.each([
  [{ CHAT_MODEL: "m" }, "CHAT_MODEL"],
  [{ EMBEDDING_MODEL: "m" }, "EMBEDDING_MODEL"],
  [{ EMBEDDING_DIMENSIONS: "64", OPENAI_API_KEY: "k" }, "EMBEDDING_DIMENSIONS"],
  [{ MASTER_KEY, KMS_KEY_NAME: "projects/p/locations/l/keyRings/r/cryptoKeys/k" }, "MASTER_KEY"],
  [{ DATABASE_SYSTEM_URL: "postgres://s@h/d" }, "DATABASE_SYSTEM_URL"],
  [
    { DATABASE_URL: "postgres://a@h/d", DATABASE_MAINTENANCE_URL: "postgres://m@h/d" },
    "DATABASE_MAINTENANCE_URL",
  ],
  [{ STORAGE_EMULATOR_HOST: "http://localhost:4443" }, "STORAGE_EMULATOR_HOST"],
  [{ S3_BUCKET: "a", GCS_BUCKET: "b" }, "S3_BUCKET"],
  [{ S3_ENDPOINT: "http://localhost:9000" }, "S3_ENDPOINT"],
  [{ S3_REGION: "eu-west-1" }, "S3_REGION"],
  [{ S3_FORCE_PATH_STYLE: "true" }, "S3_FORCE_PATH_STYLE"],
  [{ TEMPORAL_API_KEY: "k" }, "TEMPORAL_API_KEY"],
  [{ TEMPORAL_TLS_CERT_FILE: import.meta.filename }, "TEMPORAL_TLS_CERT_FILE"],
  [{ TEMPORAL_TLS_CA_FILE: import.meta.filename, TEMPORAL_TLS: "false" }, "TEMPORAL_TLS"],
  [{ OIDC_ISSUER: "https://issuer.example" }, "OIDC_AUDIENCE"],
])("the contradiction %j is refused by name", (env, name) => {
  expect(problemsOf(() => loadConfig(env)).map((problem) => problem.split(" ")[0])).toEqual([name]);
});

/** Passwords that shells, URLs, YAML and compose read as something else. */
const HOSTILE_PASSWORDS = [
  "ab/cd+ef=",
  "p@ss",
  "a%20b",
  "$HOME${X}",
  " two  words ",
  `'"\\`,
  "#?&:[]",
  "ünï",
  "100%",
];

test.each(HOSTILE_PASSWORDS)(
  "the password %j reaches the database as it is, from the setting and from a file",
  async (password) => {
    const file = join(await mkdtemp(join(tmpdir(), "holdfast-password-")), "password");
    await writeFile(file, `${password}\n`);
    for (const set of [
      { DATABASE_SYSTEM_PASSWORD: password },
      { DATABASE_SYSTEM_PASSWORD_FILE: file },
    ] as const) {
      const { database } = loadConfig({
        DATABASE_URL: "postgres://a:b@h/d",
        DATABASE_SYSTEM_URL: "postgres://s@h:5433/d?sslmode=require",
        ...set,
      });
      const {
        user,
        host,
        port,
        database: name,
        password: read,
      } = new pg.Client({ connectionString: database.systemUrl!.replace("?sslmode=require", "") });
      expect({ user, host, port, name, read }).toEqual({
        user: "s",
        host: "h",
        port: 5433,
        name: "d",
        read: password,
      });
      expect(database.url).toBe("postgres://a:b@h/d");
    }
    await rm(dirname(file), { recursive: true });
  },
);

test.each([
  [
    { DATABASE_URL: "postgres://u:top%ffsecret@h/d" },
    "DATABASE_URL must have its user and password percent-encoded; a password may be set apart from it",
  ],
  [
    { DATABASE_URL: "postgres://u:topsecret@h/d?sslmode=verify-full&sslrootcert=/no/such/file" },
    "DATABASE_URL must name files that this process can read: sslrootcert, sslcert, sslkey",
  ],
  [{ DATABASE_PASSWORD: "topsecret" }, "DATABASE_PASSWORD needs DATABASE_URL"],
  [
    { DATABASE_URL: "postgres://h/d", DATABASE_PASSWORD: "topsecret" },
    "DATABASE_PASSWORD needs a user in DATABASE_URL",
  ],
  [
    { DATABASE_URL: "postgres://u:other@h/d", DATABASE_PASSWORD: "topsecret" },
    "DATABASE_PASSWORD differs from the password in DATABASE_URL",
  ],
  [
    { DATABASE_URL: "postgres://u@h/d", DATABASE_PASSWORD: "topsecret", DATABASE_PASSWORD_FILE: "/f" },
    "DATABASE_PASSWORD_FILE cannot be set together with DATABASE_PASSWORD",
  ],
  [
    { DATABASE_URL: "postgres://u@h/d", DATABASE_PASSWORD_FILE: "/no/such/file" },
    "DATABASE_PASSWORD_FILE must name a file with a password that this process can read",
  ],
])("%j is refused and not repeated", (env, problem) => {
  expect(problemsOf(() => loadConfig(env))).toEqual([problem]);
});

test("contradictions are reported together with wrong values", () => {
  const problems = problemsOf(() => loadConfig({ PORT: "x", CHAT_MODEL: "m" }));
  expect(problems.map((problem) => problem.split(" ")[0])).toEqual(["PORT", "CHAT_MODEL"]);
});

test("an API key alone means the public OpenAI API; a base URL alone needs no key", () => {
  expect(loadConfig({ OPENAI_API_KEY: "k", CHAT_MODEL: "m" }).models.baseUrl).toBe(
    "https://api.openai.com/v1",
  );
  expect(
    loadConfig({ OPENAI_BASE_URL: "http://127.0.0.1:1234/v1", CHAT_MODEL: "m" }).models.apiKey,
  ).toBeUndefined();
});

test("an API key and each setting of TLS ask for TLS; nothing else does", () => {
  const file = import.meta.filename;
  expect(loadConfig({ TEMPORAL_ADDRESS: "t:7233" }).temporal.tls).toBeUndefined();
  expect(loadConfig({ TEMPORAL_TLS: "true" }).temporal.tls).toEqual({});
  expect(
    loadConfig({ TEMPORAL_ADDRESS: "t:7233", TEMPORAL_API_KEY: "k", TEMPORAL_NAMESPACE: "n.a1b2c" }).temporal,
  ).toEqual({
    address: "t:7233",
    namespace: "n.a1b2c",
    apiKey: "k",
    tls: {},
  });
  const { tls } = loadConfig({
    TEMPORAL_TLS_CERT_FILE: file,
    TEMPORAL_TLS_KEY_FILE: file,
    TEMPORAL_TLS_CA_FILE: file,
    TEMPORAL_TLS_SERVER_NAME: "name",
  }).temporal;
  expect(tls?.clientCertPair?.crt.length).toBeGreaterThan(1_000);
  expect(tls?.serverRootCACertificate?.length).toBeGreaterThan(1_000);
  expect(tls?.serverNameOverride).toBe("name");
});

test("a file that cannot be read is reported by its setting's name", () => {
  expect(problemsOf(() => loadConfig({ TEMPORAL_TLS_CA_FILE: "/no/such/file" }))).toEqual([
    "TEMPORAL_TLS_CA_FILE must name a file that this process can read",
  ]);
});

test.each(["0", "1", "0.25", ".5", "1.0"])("%s is a share of requests to trace", (text) => {
  expect(loadConfig({ TRACE_SAMPLE_RATIO: text }).telemetry.sampleRatio).toBe(Number(text));
});

test.each(["2", "-1", "half", "1.5"])("%s is not", (text) => {
  expect(problemsOf(() => loadConfig({ TRACE_SAMPLE_RATIO: text }))).toHaveLength(1);
});

test("a variable set to nothing counts as not set", () => {
  expect(loadConfig({ PORT: "", DATABASE_URL: " " }).api.port).toBe(8080);
});

test("an issuer may be http on loopback only", () => {
  expect(loadConfig({ OIDC_ISSUER: "http://127.0.0.1:9000", OIDC_AUDIENCE: "a" }).oidc?.issuer).toBe(
    "http://127.0.0.1:9000",
  );
});

test("the API and worker processes refuse to fall back to an embedded part", () => {
  expect(problemsOf(() => requireReal(loadConfig({}))).map((problem) => problem.split(" ")[0])).toEqual([
    "DATABASE_URL",
    "TEMPORAL_ADDRESS",
    "MASTER_KEY",
  ]);
  const real = requireReal(
    loadConfig({
      DATABASE_URL: "postgres://u@h/d",
      DATABASE_SYSTEM_URL: "postgres://s@h/d",
      TEMPORAL_ADDRESS: "t:7233",
      MASTER_KEY,
    }),
  );
  expect(real.database.url).toBe("postgres://u@h/d");
  expect(real.keys.master).toHaveLength(32);
});

describe("logins of the database", () => {
  const all = {
    DATABASE_URL: "postgres://app@h/d",
    DATABASE_SYSTEM_URL: "postgres://system@h/d",
    DATABASE_MAINTENANCE_URL: "postgres://maintenance@h/d",
    DATABASE_OWNER_URL: "postgres://owner@h/d",
    TEMPORAL_ADDRESS: "t:7233",
    MASTER_KEY,
  };

  test("the API keeps those of the application and the system, whatever its environment has", () => {
    expect(requireReal(loadConfig(all)).database).toMatchObject({
      url: all.DATABASE_URL,
      systemUrl: all.DATABASE_SYSTEM_URL,
      maintenanceUrl: undefined,
      ownerUrl: undefined,
    });
  });

  test("a worker keeps that of maintenance if its queues need it, and does not start without it", () => {
    expect(requireWorker(loadConfig(all)).database).toMatchObject({
      maintenanceUrl: all.DATABASE_MAINTENANCE_URL,
      ownerUrl: undefined,
    });
    expect(
      requireWorker(loadConfig({ ...all, WORKER_QUEUES: "parse,tools" })).database.maintenanceUrl,
    ).toBeUndefined();
    const { DATABASE_MAINTENANCE_URL: _, ...without } = all;
    expect(problemsOf(() => requireWorker(loadConfig(without)))).toEqual([
      "DATABASE_MAINTENANCE_URL is required: WORKER_QUEUES has embed",
    ]);
    expect(requireWorker(loadConfig({ ...without, WORKER_QUEUES: "parse" })).database.systemUrl).toBe(
      all.DATABASE_SYSTEM_URL,
    );
  });

  test("that of the system is required beside that of the application", () => {
    const { DATABASE_SYSTEM_URL: _system, DATABASE_MAINTENANCE_URL: _maintenance, ...alone } = all;
    expect(problemsOf(() => requireReal(loadConfig(alone)))).toEqual([
      "DATABASE_SYSTEM_URL is required (`holdfast migrate --create-logins` creates the logins)",
    ]);
  });
});
