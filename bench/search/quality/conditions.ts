/** Says what the figures of a run depend on, beside the machine. */
import type { OwnedDatabase } from "../../../test/support/servers/database.ts";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { say } from "../../report.ts";

export async function sayConditions({ owner }: OwnedDatabase, model: EmbeddingModel): Promise<void> {
  const { rows } = await owner.query<{ server_version: string }>("show server_version");
  say(`${model.name}, alpha ${model.fusion.alpha}, PostgreSQL ${rows[0]!.server_version}`);
}
