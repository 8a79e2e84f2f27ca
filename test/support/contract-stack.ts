/** A running Holdfast with every kind of credential, and one of each thing that a path can name. */
import { call, ended, upload } from "./client.ts";
import { startIssuer } from "./issuer.ts";
import { runCli } from "./processes.ts";
import { startStack } from "./stack.ts";
import type { TestStack } from "./stack-types.ts";
import { ACME, AGENTS, KEYS, SPACES } from "./tenants.ts";

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

export async function testStack(): Promise<TestStack> {
  const issuer = await startIssuer();
  const stack = await startStack({ env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience } });
  const makeKey = async (name: string): Promise<MadeKey> => JSON.parse(await runCli(["keys", "create", "--email", "ada@acme.example", "--name", name, "--json"], stack.env));
  const [revoked, expired] = [await makeKey("revoked"), await makeKey("expired")];
  await runCli(["keys", "revoke", revoked.id], stack.env);
  await stack.database.db.owner.query("update api_keys set expires_at = now() - interval '1 hour' where id = $1", [expired.id]);
  return {
    url: stack.url,
    credentials: { ...KEYS, scopedElsewhere: KEYS.scoped, revoked: revoked.key, expired: expired.key, jwt: await issuer.token("ada"), jwtOfStranger: await issuer.token("nobody") },
    ids: await makeThings(stack.url),
    async close() {
      await stack.close();
      await issuer.close();
    },
  };
}

/** Makes what the API can make already; a path whose things it cannot make is tried with unknown ids only. */
async function makeThings(url: string): Promise<Record<string, string>> {
  const document = await upload(url, KEYS.owner, SPACES.research, "# Contract\n\nEvery clause is tried.");
  await ended(url, KEYS.owner, document.id);
  const folder = await call(url, KEYS.owner, "POST", "/folders", { name: "Contracts", space_id: SPACES.research });
  const reprocessed = await call(url, KEYS.owner, "POST", `/data/${document.id}/reprocess`);
  const batch = await call(url, KEYS.owner, "POST", "/data/batch-reprocess", { document_ids: [document.id] });
  const made = { folder_id: folder.body.id, pipeline_run_id: reprocessed.body.pipeline_run_id, batch_id: batch.body.batch_id };
  const known = Object.entries(made).filter(([, id]) => typeof id === "string");
  return {
    space_id: SPACES.research,
    document_id: document.id,
    agent_id: AGENTS.analyst,
    organization_id: ACME,
    version: "1",
    user_id: document.created_by,
    ...Object.fromEntries(known),
  };
}
