/**
 * Makes the callers and resources of the matrix test: every kind of caller, and one resource of each kind in
 * each space.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, ended, fileForm, upload } from "../clients/client.ts";
import { decodeId, encodeId } from "../../../src/schema/openai/ids.ts";
import type { TestIssuer } from "../servers/issuer.ts";
import { UNKNOWN_ID } from "./requests.ts";
import type { MatrixCaller, SpaceName } from "./rules.ts";
import { runCli } from "../stack/processes.ts";
import type { Stack } from "../stack/stack.ts";
import { ACME, AGENTS, KEYS, RIVAL, SPACES } from "../tenants/tenants.ts";

export const SPACE_NAMES = ["research", "archive", "rival"] as const satisfies readonly SpaceName[];
export const WITH_PRIVATE: readonly SpaceName[] = [...SPACE_NAMES, "diary"];
/**
 * A word that is in everything that a space holds, and must be in no answer to a caller who does not reach
 * it.
 */
export const canary = (space: SpaceName): string => `canary${space}canary`;

/** Ids of resources, by the name of the path parameter. */
export type Things = Readonly<Record<string, string>>;

const key = (name: string): string => `sk-matrix-${name.padEnd(36, "0")}`;
const ADA = { organization: "acme", isAdmin: true, roles: { research: "owner", archive: "owner" } } as const;
const EVE = { organization: "acme", isAdmin: false, roles: { research: "editor" } } as const;
const VIC = { organization: "acme", isAdmin: false, roles: { research: "viewer", diary: "owner" } } as const;
/** The reach of a key that an administrator made for Vic. */
const VIC_SHARED = { ...VIC, roles: { research: "viewer" } } as const;
const NORA = { organization: "acme", isAdmin: false, roles: {} } as const;
const MAX = { organization: "acme", isAdmin: true, roles: {} } as const;
const ROB = { organization: "rival", isAdmin: true, roles: { rival: "owner" } } as const;

type Person = Pick<MatrixCaller, "organization" | "isAdmin" | "roles">;
const byKey = (
  name: string,
  token: string,
  person: Person,
  rest: Partial<MatrixCaller> = {},
): MatrixCaller => ({
  name: `key ${name}`,
  token,
  standing: "good",
  isKey: true,
  ...person,
  ...rest,
});

const user = (name: string, role: string, keys: readonly object[]) => ({
  email: `${name}@acme.example`,
  name,
  role,
  subject: name,
  api_keys: keys,
});

/** Additional people and keys. */
const MORE = {
  organizations: [
    {
      name: "Acme",
      id: ACME,
      users: [
        user("nora", "member", [{ name: "all", key: key("nora"), spaces: "all" }]),
        user("max", "admin", [{ name: "all", key: key("max"), spaces: "all" }]),
        user("left", "member", [{ name: "all", key: key("left"), spaces: "all" }]),
        {
          email: "ada@acme.example",
          api_keys: [
            ...["read", "search", "chat", "write"].map((capability) => ({
              name: capability,
              key: key(capability),
              spaces: "all",
              capabilities: [capability],
            })),
            { name: "expired", key: key("expired"), spaces: "all", expires_at: "2020-01-01T00:00:00Z" },
            { name: "revoked", key: key("revoked"), spaces: "all" },
            {
              name: "elsewhere",
              key: key("elsewhere"),
              spaces: "all",
              allowed_cidrs: ["203.0.113.0/24", "::/0"],
            },
          ],
        },
      ],
    },
  ],
};

export async function makeCallers(stack: Stack, issuer: TestIssuer): Promise<MatrixCaller[]> {
  const file = join(stack.dataDir, "matrix.yaml");
  await writeFile(file, JSON.stringify(MORE));
  await runCli(["provision", file], stack.env);
  const { owner } = stack.database.db;
  await owner.query("update api_keys set revoked_at = now() where name = 'revoked'");
  await owner.query("update users set removed_at = now() where email = 'left@acme.example'");
  const byToken = async (name: string, subject: string, person: Person): Promise<MatrixCaller> => ({
    name: `token of ${name}`,
    token: await issuer.token(subject),
    standing: "good",
    isKey: false,
    ...person,
  });
  const { rolled, issued } = await makeKeys(stack, await issuer.token("ada"));
  return [
    ...(await Promise.all([
      byToken("owner", "ada", ADA),
      byToken("editor", "eve", EVE),
      byToken("viewer", "vic", VIC),
      byToken("nobody", "nora", NORA),
    ])),
    ...(await Promise.all([byToken("admin", "max", MAX), byToken("rival", "rob", ROB)])),
    { ...(await byToken("stranger", "unknown", NORA)), standing: "bad" },
    { name: "no credentials", token: null, standing: "bad", isKey: true, ...NORA },
    byKey("of owner", KEYS.owner, ADA),
    byKey("of editor", KEYS.editor, EVE),
    byKey("of viewer", KEYS.viewer, VIC),
    byKey("of nobody", key("nora"), NORA),
    byKey("of admin", key("max"), MAX),
    byKey("of rival", KEYS.rival, ROB),
    byKey("for one space", KEYS.scoped, ADA, { onlySpaces: ["archive"] }),
    ...(["read", "search", "chat", "write"] as const).map((one) =>
      byKey(`that may ${one}`, key(one), ADA, { onlyCapability: one }),
    ),
    byKey("expired", key("expired"), ADA, { standing: "bad" }),
    byKey("revoked", key("revoked"), ADA, { standing: "bad" }),
    byKey("from a wrong address", key("elsewhere"), ADA, { standing: "bad" }),
    byKey("rolled, by its text of before", rolled, ADA),
    byKey("issued by an administrator", issued, VIC_SHARED),
    byKey("of one who left", key("left"), NORA, { standing: "left" }),
  ];
}

/**
 * @param admin Ada's access token.
 * @returns the text of a key before it was rolled, and of one that Ada made for Vic.
 */
async function makeKeys(
  { url, database }: Stack,
  admin: string,
): Promise<{ rolled: string; issued: string }> {
  const { rows } = await database.db.owner.query<{ id: string }>(
    "select id from users where email = 'vic@acme.example'",
  );
  const before = await call(url, admin, "POST", "/me/api-keys", { name: "rolled" });
  const rolled = await call(url, admin, "POST", `/me/api-keys/${before.body.id}/roll`, {
    overlap_seconds: 3_600,
  });
  const issued = await call(url, admin, "POST", `/organizations/${ACME}/api-keys`, {
    name: "issued",
    user_id: rows[0]!.id,
  });
  if (rolled.status !== 201 || issued.status !== 201)
    throw new Error(`making keys answered ${rolled.status} and ${issued.status}`);
  return { rolled: before.body.key, issued: issued.body.key };
}

/** Makes one resource of each kind in each space. @param viewer Vic's access token. */
export async function makeEverything(stack: Stack, viewer: string): Promise<Record<SpaceName, Things>> {
  const [diary, research, archive, rival] = await Promise.all([
    makePrivateThings(stack, viewer),
    makeThings(stack, "research", SPACES.research),
    makeThings(stack, "archive", SPACES.archive),
    makeThings(stack, "rival", SPACES.rival),
  ]);
  return { diary, research, archive, rival };
}

/** Who owns each space, among the callers that have logged in. */
const OWNERS: Readonly<Record<SpaceName, string>> = {
  diary: "viewer",
  research: "owner",
  archive: "owner",
  rival: "rival",
};

/**
 * Adds a webhook of the space, which never gets an answer. Unlike all else that is made here, it needs an
 * owner who has logged in.
 */
export async function withWebhook(
  { url }: Stack,
  callers: readonly MatrixCaller[],
  space: SpaceName,
  things: Things,
): Promise<Things> {
  const owner = callers.find(({ name }) => name === `token of ${OWNERS[space]}`)!;
  const { status, body } = await call(url, owner.token!, "POST", "/webhooks", {
    url: "https://receiver.invalid/",
    description: canary(space),
    space_id: things["space_id"],
  });
  if (status !== 201) throw new Error(`making a webhook answered ${status}: ${JSON.stringify(body)}`);
  return { ...things, webhook_id: body.id };
}

/** Returns the same names with ids that do not exist. */
export function unknownThings(things: Things): Things {
  return Object.fromEntries(
    Object.entries(things).map(([name, value]) => [name, name.endsWith("_id") ? UNKNOWN_ID : value]),
  );
}

/** Makes the viewer's private space, with an agent in it. @param viewer Vic's access token. */
async function makePrivateThings(stack: Stack, viewer: string): Promise<Things> {
  const { body } = await call(stack.url, viewer, "GET", "/me");
  const spaceId = body.private_space_id as string;
  const agent = await call(stack.url, viewer, "POST", "/agents", {
    name: canary("diary"),
    space_id: spaceId,
  });
  return { ...(await makeThings(stack, "diary", spaceId)), agent_id: agent.body.id };
}

/** Makes one resource of each kind in the space, by its owner, with the space's canary in every text. */
export async function makeThings({ url }: Stack, space: SpaceName, spaceId: string): Promise<Things> {
  const token = { rival: KEYS.rival, diary: KEYS.viewer, research: KEYS.owner, archive: KEYS.owner }[space];
  const word = canary(space);
  const document = await upload(
    url,
    token,
    spaceId,
    `# ${word}\n\nThe ${word} stands in the text.`,
    `${word}.md`,
  );
  await ended(url, token, document.id);
  const folder = await call(url, token, "POST", "/folders", { name: word, space_id: spaceId });
  const nested = await call(url, token, "POST", "/folders", {
    name: `${word} below`,
    space_id: spaceId,
    parent_folder_id: folder.body.id,
  });
  const filed = await call(
    url,
    token,
    "POST",
    `/spaces/${spaceId}/data/upload`,
    fileForm(`The file of ${word}.`, "file.txt", { path: word }),
  );
  const run = await call(url, token, "POST", `/data/${document.id}/reprocess`);
  const batch = await call(url, token, "POST", "/data/batch-reprocess", { document_ids: [document.id] });
  const fileBatch = await call(
    url,
    token,
    "POST",
    `/vector_stores/${encodeId("vectorStore", folder.body.id)}/file_batches`,
    { file_ids: [encodeId("file", document.id)] },
  );
  const made = [folder, nested, filed, run, batch, fileBatch].find((answer) => answer.status >= 300);
  if (made !== undefined)
    throw new Error(`making things answered ${made.status}: ${JSON.stringify(made.body)}`);
  return {
    space_id: spaceId,
    organization_id: space === "rival" ? RIVAL : ACME,
    document_id: document.id,
    folder_id: folder.body.id,
    nested_folder_id: nested.body.id,
    file_path: `${word}/file.txt`,
    agent_id: { research: AGENTS.librarian, archive: AGENTS.public, rival: AGENTS.rival, diary: "" }[space],
    pipeline_run_id: run.body.pipeline_run_id,
    batch_id: batch.body.batch_id,
    file_batch_id: decodeId("fileBatch", fileBatch.body.id)!,
  };
}
