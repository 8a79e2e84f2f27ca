import { expect, test } from "vitest";
import { connectionEnvironment } from "../../src/backup/postgres-tools.ts";

const of = (url: string): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(connectionEnvironment(url)).filter(([name]) => name.startsWith("PG") && name !== "PGAPPNAME"));

test("a connection's parts reach pg_dump by libpq's variables, decoded, and what only our client knows does not", () => {
  expect(of("postgres://own%40er:p%2Fw%20%C3%A9@db.example:6543/hold%20fast?sslmode=verify-full&sslrootcert=%2Fca.pem&max=4")).toEqual({
    PGHOST: "db.example",
    PGPORT: "6543",
    PGUSER: "own@er",
    PGPASSWORD: "p/w é",
    PGDATABASE: "hold fast",
    PGSSLMODE: "verify-full",
    PGSSLROOTCERT: "/ca.pem",
  });
  expect(of("postgres://o@[::1]/h?sslmode=no-verify")).toEqual({ PGHOST: "::1", PGUSER: "o", PGDATABASE: "h", PGSSLMODE: "require" });
  expect(of("postgres://o@localhost/h?host=/var/run/postgresql")).toEqual({ PGHOST: "/var/run/postgresql", PGUSER: "o", PGDATABASE: "h" });
});
