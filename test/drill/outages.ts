/** Faults from outside, for the long drill: parts that are killed or fail for a while under load, and come back. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claimRuns } from "../../src/db/claims.ts";
import type { Stack } from "../support/stack.ts";
import { ACME } from "../support/tenants.ts";

export interface Outage {
  readonly name: string;
  begin(parts: DrillParts): Promise<void>;
  end(parts: DrillParts): Promise<void>;
}

export interface DrillParts {
  readonly stack: Stack;
  killPostgres(): Promise<void>;
  restartPostgres(): Promise<void>;
}

const provider = (name: string, fault: Parameters<Stack["provider"]["failEmbeddings"]>[0]): Outage => ({
  name: `provider ${name}`,
  begin: ({ stack }) => Promise.resolve(stack.provider.failEmbeddings(fault)),
  end: ({ stack }) => Promise.resolve(stack.provider.clearFaults()),
});

const objects = (stack: Stack): string => join(stack.dataDir, "objects");

export const OUTAGES: readonly Outage[] = [
  {
    name: "kill -9 worker",
    begin: ({ stack }) => stack.worker.kill("SIGKILL"),
    end: ({ stack }) => Promise.resolve(stack.restartWorker()),
  },
  { name: "kill -9 api", begin: ({ stack }) => stack.api.kill("SIGKILL"), end: ({ stack }) => stack.restartApi() },
  { name: "kill Temporal", begin: ({ stack }) => stack.stopTemporal(), end: ({ stack }) => stack.restartTemporal() },
  { name: "kill -9 Postgres", begin: (parts) => parts.killPostgres(), end: (parts) => parts.restartPostgres() },
  {
    name: "object store away",
    begin: async ({ stack }) => {
      await rename(objects(stack), `${objects(stack)}.away`);
      // A file in the folder's place: everything below it fails.
      await writeFile(objects(stack), "");
    },
    end: async ({ stack }) => {
      await rm(objects(stack));
      await rename(`${objects(stack)}.away`, objects(stack));
    },
  },
  provider("429", { status: 429, headers: { "retry-after": "1" } }),
  provider("500", { status: 500 }),
  provider("garbage", { garbage: true }),
  provider("hang", { hang: true }),
  {
    name: "duplicate delivery",
    begin: async ({ stack }) => {
      // Every claim is due at once, again and again: whoever sweeps starts what runs already, and claims race with the API's.
      const { db } = stack.database;
      const organization = (await db.owner.query<{ id: string; num: number }>("select id, num from organizations where id = $1", [ACME])).rows[0]!;
      for (let round = 0; round < 20; round += 1) {
        await db.owner.query("update claims set leased_until = now() - interval '1 second' where closed_at is null");
        await claimRuns(db.system, organization, 0);
        await new Promise((resume) => setTimeout(resume, 100));
      }
      await db.owner.query("update claims set leased_until = now() - interval '1 second' where closed_at is null");
    },
    end: () => Promise.resolve(),
  },
];
