/** Starts a stack that records its statements, with every kind of caller and one resource of each kind. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startIssuer } from "../servers/issuer.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import type { MatrixCaller, SpaceName } from "./rules.ts";
import { recordingSettings } from "./sql-records.ts";
import { makeCallers, makeEverything, type Things, withWebhook } from "./world.ts";

export interface Matrix {
  readonly stack: Stack;
  /** The folder of the records: see `readRecords`. */
  readonly records: string;
  readonly callers: readonly MatrixCaller[];
  readonly things: Readonly<Record<SpaceName, Things>>;
  close(): Promise<void>;
}

export async function startMatrix(): Promise<Matrix> {
  const records = await mkdtemp(join(tmpdir(), "holdfast-sql-"));
  const issuer = await startIssuer();
  const stack = await startStack({
    env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience, ...recordingSettings(records) },
  });
  const callers = await makeCallers(stack, issuer);
  const tokenOf = (name: string) => callers.find((caller) => caller.name === `token of ${name}`)!.token!;
  const made = await makeEverything(stack, tokenOf("viewer"));
  const add = (space: SpaceName): Promise<Things> => withWebhook(stack, callers, space, made[space]);
  const things = {
    diary: await add("diary"),
    research: await add("research"),
    archive: await add("archive"),
    rival: await add("rival"),
  };
  return {
    stack,
    records,
    callers,
    things,
    async close() {
      await stack.close();
      await issuer.close();
      await rm(records, { recursive: true, force: true });
    },
  };
}
