import type { Context } from "koa";
import { expect, it } from "vitest";
import { noteKeyUse } from "../../src/api/key-use.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { starvedError } from "../../src/process/standstill.ts";

const failing = (error: DomainError) =>
  noteKeyUse({ headers: { authorization: "Bearer sk-one" }, ip: "192.0.2.7" } as unknown as Context, {
    authenticator: { authenticate: () => Promise.reject(error) } as never,
    lastUsed: { note: () => undefined } as never,
  });

it.each([starvedError(), new DomainError("database_unavailable", "The database is not reachable.")])(
  "is not passed over while the key cannot be looked up: $code",
  async (error) => {
    await expect(failing(error)).rejects.toBe(error);
  },
);

it("is undefined for a key that nobody has", async () => {
  expect(await failing(new DomainError("invalid_api_key", "Invalid API key"))).toBeUndefined();
});
