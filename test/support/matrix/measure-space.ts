/** Makes index upkeep measure what the embedding model knows of a space, for the matrix test. */
import { Client, Connection } from "@temporalio/client";
import { call, ended, upload } from "../clients/client.ts";
import type { Stack } from "../stack/stack.ts";
import { KEYS, SPACES } from "../tenants/tenants.ts";
import { until } from "../until.ts";

/** More chunks than a space has before it is measured. */
const PARTS = 60;

/** @param admin access token of somebody who reads Research. */
export async function measureSpace(
  { url, temporalAddress, database }: Pick<Stack, "url" | "temporalAddress" | "database">,
  admin: string,
): Promise<void> {
  const part = (_: unknown, at: number): string =>
    `# Part ${at}\n\n${`The matter ${at} in hand. `.repeat(100)}`;
  const text = Array.from({ length: PARTS }, part).join("\n\n");
  const { id } = await upload(url, KEYS.owner, SPACES.research, text, "long.md");
  await ended(url, KEYS.owner, id, 60_000);
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  await until("the space is measured", async () => {
    await client.schedule.getHandle("index-upkeep").trigger();
    const { rowCount } = await database.db.owner.query("select from language_fits");
    return rowCount !== 0;
  });
  await connection.close();
  await call(url, admin, "GET", `/spaces/${SPACES.research}`);
}
