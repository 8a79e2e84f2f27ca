/** `/v1/vector_stores`: folders, as OpenAI's clients know them. */
import { authorizeListing, reachFor } from "../../../auth/policy.ts";
import { createStore } from "../../../commands/vector-stores/create-store.ts";
import { deleteStore } from "../../../commands/vector-stores/delete-store.ts";
import { presentStore } from "../../../commands/vector-stores/presented.ts";
import { requireStore } from "../../../commands/vector-stores/store.ts";
import { updateStore } from "../../../commands/vector-stores/update-store.ts";
import { countContents, findStore, listStores } from "../../../db/stores/stores.ts";
import { readTenant } from "../../../db/pool.ts";
import { type Action, authorize } from "../../../auth/policy.ts";
import { VectorStoreIdInput } from "../../../schema/openai/ids.ts";
import {
  chunkingOf,
  VectorStore,
  VectorStoreCreate,
  VectorStoreDeleted,
  VectorStoreList,
  VectorStoresQuery,
  VectorStoreUpdate,
} from "../../../schema/openai/vector-stores.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { Repeat, RepeatCheck } from "../../idempotency.ts";
import { defineRoute } from "../../route.ts";
import { answerList, cursorsOf } from "./cursors.ts";

/** A store's rights are those of its folder, and it is in the audit log as that. */
const audited = (action: Action) => ({ action, resource: "folder", param: "vector_store_id" }) as const;

/** The caller may still do it to the store that the path names. */
export function repeatsIn(action: Action): RepeatCheck {
  return async ({ deps, principal, params }) => {
    await readTenant(deps.db, principal.organization, (sql) =>
      requireStore(sql, principal, action, params["vector_store_id"]!),
    );
  };
}

const createVectorStore = defineRoute("POST /vector_stores", {
  operation: "vector_stores.create",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "folders:create", resource: "folder" },
  summary: "Create a vector store: a folder with the given files.",
  description:
    "It is made in the caller's private space, or in the space that `metadata.space_id` names, " +
    "for its editors and owners. Everything that holds for folders holds for it.",
  body: VectorStoreCreate,
  response: VectorStore,
  ignoresUnknown: true,
  errors: [404, 503],
  idempotent: mayRepeatCreation,
  async handle({ deps, caller, body }) {
    const made = await createStore(deps, caller, {
      name: body.name ?? "",
      description: body.description ?? null,
      metadata: body.metadata ?? {},
      chunking: chunkingOf(body.chunking_strategy) ?? null,
      expiresAfterDays: body.expires_after?.days ?? null,
      files: (body.file_ids ?? []).map((fileId, index) => ({
        fileId,
        attributes: undefined,
        chunking: undefined,
        param: `file_ids[${index}]`,
      })),
    });
    await drillPoint("createVectorStore: committed with its files, not answered");
    return made;
  },
});

/** The store must still be there, and the caller may still write to it. */
async function mayRepeatCreation({ deps, principal, answer }: Repeat): Promise<void> {
  if (answer === null) return authorizeListing(principal, "folders:create");
  const id = VectorStoreIdInput.parse(answer["id"]);
  await readTenant(deps.db, principal.organization, (sql) =>
    requireStore(sql, principal, "folders:write", id),
  );
}

const listVectorStores = defineRoute("GET /vector_stores", {
  operation: "vector_stores.list",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: audited("folders:read"),
  summary: "The vector stores that the caller can access.",
  description:
    "Those that were made as vector stores, or changed as one. Any other folder is one too, and " +
    "answers by its id.",
  query: VectorStoresQuery,
  response: VectorStoreList,
  async handle({ principal, read, query }) {
    authorizeListing(principal, "folders:read");
    const reach = reachFor(principal, "folders:read");
    return read(async (sql) => {
      const page = await listStores(
        sql,
        reach,
        await cursorsOf(query, async (id) => {
          const store = await findStore(sql, reach, id);
          return store?.is_listed === true ? store : undefined;
        }),
      );
      const contents = await countContents(
        sql,
        page.items.map(({ id }) => id),
      );
      const stores = page.items.map((store) => presentStore(store, contents(store.id)));
      return answerList("vectorStore", page, stores);
    });
  },
});

const getVectorStore = defineRoute("GET /vector_stores/:vector_store_id", {
  operation: "vector_stores.get",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: audited("folders:read"),
  summary: "A vector store, which may be any folder.",
  description: "For everybody with a role in its space.",
  response: VectorStore,
  async handle({ principal, read, params }) {
    const { vector_store_id: id } = params;
    return read(async (sql) => {
      const store = await findStore(sql, principal.reach, id);
      authorize(principal, "folders:read", store, "vector_store");
      return presentStore(store, (await countContents(sql, [id]))(id));
    });
  },
});

const changeVectorStore = defineRoute("POST /vector_stores/:vector_store_id", {
  operation: "vector_stores.update",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: audited("folders:update" as Action),
  summary: "Change the name, the metadata or the expiry of a vector store.",
  description:
    "For editors and owners of its space. Its folder gets the name too. A store that had expired " +
    "is live again, without what it had.",
  body: VectorStoreUpdate,
  response: VectorStore,
  ignoresUnknown: true,
  idempotent: repeatsIn("folders:write"),
  async handle({ deps, caller, params, body }) {
    const { name, metadata, expires_after: expiresAfter } = body;
    return updateStore(deps, caller, {
      id: params.vector_store_id,
      name: name ?? undefined,
      metadata: metadata === null ? {} : metadata,
      expiresAfterDays: expiresAfter === undefined ? undefined : (expiresAfter?.days ?? null),
    });
  },
});

const removeVectorStore = defineRoute("DELETE /vector_stores/:vector_store_id", {
  operation: "vector_stores.delete",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: audited("folders:delete" as Action),
  summary: "Delete a vector store: the folder with all documents in it.",
  description:
    "For editors and owners of its space. Gone at once; what it took is freed in the background. " +
    "Files that were uploaded to `/v1/files` stay there.",
  response: VectorStoreDeleted,
  headers: { "If-Match": "Delete only while the folder has this ETag" },
  errors: [412],
  async handle({ deps, caller, params, request }) {
    await deleteStore(deps, caller, { id: params.vector_store_id, ifMatch: request.headers["if-match"] });
    return { id: params.vector_store_id, object: "vector_store.deleted" as const, deleted: true as const };
  },
});

export const vectorStoreRoutes = [
  createVectorStore,
  listVectorStores,
  getVectorStore,
  changeVectorStore,
  removeVectorStore,
];
