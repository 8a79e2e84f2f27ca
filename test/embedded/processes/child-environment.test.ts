import { expect, test } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { childEnvironment, programEnvironment } from "../../../src/embedded/processes/child-environment.ts";
import { isolatedEnvironment } from "../../../src/worker/isolation.ts";
import { loginUrls } from "../../../src/embedded/servers/database-urls.ts";

const OWNER_URL = "postgres://postgres:secret@127.0.0.1:5432/holdfast";
const ours = loginUrls(OWNER_URL, { app: "a", system: "s", maintenance: "m" });
const database = {
  url: ours.app,
  systemUrl: ours.system,
  maintenanceUrl: ours.maintenance,
  ownerUrl: OWNER_URL,
};
const parts = {
  isDatabaseEmbedded: true,
  temporalAddress: "t:7233",
  isTemporalEmbedded: true,
  oidc: undefined,
  consoleClient: undefined,
  temporalUi: undefined,
  masterKey: undefined,
  port: 8080,
};

function loginsOf(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("DATABASE_")));
}

test("each program gets the logins that it needs, and none but migrate the owner's", () => {
  const env = childEnvironment({}, loadConfig({}), { ...parts, database });
  const served = { DATABASE_URL: ours.app, DATABASE_SYSTEM_URL: ours.system };
  expect(loginsOf(env)).toEqual({
    ...served,
    DATABASE_MAINTENANCE_URL: ours.maintenance,
    DATABASE_OWNER_URL: OWNER_URL,
  });
  expect(loginsOf(programEnvironment(env, "api"))).toEqual(served);
  expect(loginsOf(programEnvironment(env, "worker"))).toEqual({
    ...served,
    DATABASE_MAINTENANCE_URL: ours.maintenance,
  });
  expect(loginsOf(programEnvironment(env, "provision"))).toEqual({
    ...served,
    DATABASE_MAINTENANCE_URL: ours.maintenance,
  });
  for (const program of ["api", "worker", "provision"] as const)
    expect(Object.values(programEnvironment(env, program)).join(" ")).not.toContain("secret");
});

test("the process of suspected documents gets neither the login of maintenance nor the owner's", () => {
  const env = childEnvironment({ KEPT: "1" }, loadConfig({}), { ...parts, database });
  expect(loginsOf(isolatedEnvironment(env))).toEqual({
    DATABASE_URL: ours.app,
    DATABASE_SYSTEM_URL: ours.system,
  });
  expect(isolatedEnvironment(env)["KEPT"]).toBe("1");
});

test("a password that is a setting of its own goes where its login goes", () => {
  const user = {
    DATABASE_URL: "postgres://u@h/d",
    DATABASE_SYSTEM_URL: "postgres://s@h/d",
    DATABASE_PASSWORD: "p/@",
    DATABASE_SYSTEM_PASSWORD: "s",
  };
  const more = {
    DATABASE_MAINTENANCE_PASSWORD: "m",
    DATABASE_OWNER_PASSWORD_FILE: "/run/secrets/owner",
    DATABASE_MAINTENANCE_PASSWORD_FILE: "/run/secrets/m",
  };
  expect(loginsOf(programEnvironment({ ...user, ...more }, "api"))).toEqual(user);
  expect(loginsOf(isolatedEnvironment({ ...user, ...more }))).toEqual(user);
  const env = childEnvironment(user, loadConfig(user), {
    ...parts,
    database: loadConfig(user).database as { url: string },
  });
  expect(loadConfig(env).database).toEqual(loadConfig(user).database);
});

test("a server of the user's keeps the logins that the user has set, one or all", () => {
  const one = { DATABASE_URL: "postgres://u@h/d" };
  expect(
    loginsOf(
      programEnvironment(
        childEnvironment(one, loadConfig(one), { ...parts, database: { url: one.DATABASE_URL } }),
        "worker",
      ),
    ),
  ).toEqual(one);
  const all = {
    ...one,
    DATABASE_SYSTEM_URL: "postgres://s@h/d",
    DATABASE_MAINTENANCE_URL: "postgres://m@h/d",
    DATABASE_OWNER_URL: "postgres://o@h/d",
  };
  const env = childEnvironment(all, loadConfig(all), { ...parts, database: { url: one.DATABASE_URL } });
  expect(loginsOf(env)).toEqual(all);
  expect(loginsOf(programEnvironment(env, "api"))).toEqual({
    ...one,
    DATABASE_SYSTEM_URL: all.DATABASE_SYSTEM_URL,
  });
});

test("the user and database of the server stay, whatever a password holds", () => {
  const { maintenance } = loginUrls("postgres://postgres:x@127.0.0.1:5433/holdfast", {
    app: "a",
    system: "s",
    maintenance: "p@ss/word",
  });
  expect(maintenance).toBe("postgres://holdfast_maintenance:p%40ss%2Fword@127.0.0.1:5433/holdfast");
});

test("every program gives memory back, unless whoever starts it says otherwise", () => {
  const envOf = (user: NodeJS.ProcessEnv) => childEnvironment(user, loadConfig({}), { ...parts, database });
  for (const program of ["api", "worker"] as const)
    expect(programEnvironment(envOf({}), program)).toMatchObject({
      MALLOC_MMAP_THRESHOLD_: "131072",
      MALLOC_TRIM_THRESHOLD_: "131072",
      NODE_OPTIONS: "--max-semi-space-size=16",
    });
  const given = { MALLOC_MMAP_THRESHOLD_: "4096", NODE_OPTIONS: "--inspect-port=0" };
  expect(envOf(given)).toMatchObject({
    MALLOC_MMAP_THRESHOLD_: "4096",
    NODE_OPTIONS: "--max-semi-space-size=16 --inspect-port=0",
  });
});
