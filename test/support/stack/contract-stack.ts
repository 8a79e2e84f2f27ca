/** The shared stack with every kind of credential and one resource of each kind that a path can name. */
import { beforeAll } from "vitest";
import { encodeId } from "../../../src/schema/openai/ids.ts";
import { call, ended, upload } from "../clients/client.ts";
import { onSharedStack } from "./shared-stack.ts";
import type { Stack } from "./stack.ts";
import type { Tenants } from "../tenants/tenants.ts";

/** Bearer tokens, named by what is right or wrong with them. */
export interface Credentials {
  /** Keys of the owner, an editor and a viewer of the space in {@link ContractStack.ids}. */
  readonly owner: string;
  readonly editor: string;
  readonly viewer: string;
  /** The owner's key, narrowed to a space that contains none of the ids. */
  readonly scopedElsewhere: string;
  readonly revoked: string;
  readonly expired: string;
  /** The access token of the owner, who is an admin of the organization. */
  readonly jwt: string;
  /** The token of somebody who may act for the instance, and is a member of nothing. */
  readonly operator: string;
  /** A valid token whose subject nobody knows. */
  readonly jwtOfStranger: string;
}

export interface ContractStack {
  /** The API's address without `/v1`. */
  readonly url: string;
  readonly credentials: Credentials;
  /** Ids of resources that exist in one space of the owner, by the name of the path parameter. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Call it once, at the top of a test file; the fields can be read from the first test on. */
export function contractStack(): ContractStack {
  const { stack, tenants } = onSharedStack();
  let credentials: Credentials | undefined;
  let ids: Record<string, string> | undefined;
  beforeAll(async () => {
    const { url, issuer, database } = stack;
    const jwt = await issuer.token(tenants.subject("ada"));
    const makeKey = async (name: string): Promise<{ id: string; key: string }> =>
      (await call(url, jwt, "POST", "/me/api-keys", { name })).body;
    const [revoked, expired] = [await makeKey("revoked"), await makeKey("expired")];
    await call(url, jwt, "DELETE", `/me/api-keys/${revoked.id}`);
    await database.db.owner.query(
      "update api_keys set expires_at = now() - interval '1 hour' where id = $1",
      [expired.id],
    );
    const { owner, editor, viewer, scoped: scopedElsewhere } = tenants.keys;
    const operator = await issuer.token(`operator of ${tenants.domain}`, { roles: ["operators"] });
    const jwtOfStranger = await issuer.token(`nobody of ${tenants.domain}`);
    credentials = {
      owner,
      editor,
      viewer,
      scopedElsewhere,
      revoked: revoked.key,
      expired: expired.key,
      jwt,
      operator,
      jwtOfStranger,
    };
    ids = await makeThings(stack, tenants);
  }, 180_000);
  return {
    get url() {
      return stack.url;
    },
    get credentials() {
      return credentials!;
    },
    get ids() {
      return ids!;
    },
  };
}

/** Makes the resources that the API can make. Paths of other resources are tried with unknown ids only. */
export async function makeThings(
  { url }: Pick<Stack, "url">,
  { keys, spaces, agents, acme }: Tenants,
): Promise<Record<string, string>> {
  const document = await upload(url, keys.owner, spaces.research, "# Contract\n\nEvery clause is tried.");
  await ended(url, keys.owner, document.id);
  const folder = await call(url, keys.owner, "POST", "/folders", {
    name: "Contracts",
    space_id: spaces.research,
  });
  const reprocessed = await call(url, keys.owner, "POST", `/data/${document.id}/reprocess`);
  const batch = await call(url, keys.owner, "POST", "/data/batch-reprocess", { document_ids: [document.id] });
  const store = encodeId("vectorStore", folder.body.id);
  const file = encodeId("file", document.id);
  const fileBatch = await call(url, keys.owner, "POST", `/vector_stores/${store}/file_batches`, {
    file_ids: [file],
  });
  const made = {
    vector_store_id: store,
    file_id: file,
    file_batch_id: fileBatch.body.id,
    folder_id: folder.body.id,
    pipeline_run_id: reprocessed.body.pipeline_run_id,
    batch_id: batch.body.batch_id,
  };
  const known = Object.entries(made).filter(([, id]) => typeof id === "string");
  return {
    space_id: spaces.research,
    document_id: document.id,
    agent_id: agents.analyst,
    organization_id: acme,
    version: "1",
    user_id: document.created_by,
    ...Object.fromEntries(known),
  };
}
