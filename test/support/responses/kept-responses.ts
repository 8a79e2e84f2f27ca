/** Keeps responses in a database as the API does, without a model, and counts what is opened of them. */
import { createSecretKey } from "node:crypto";
import { type Before, conversationBefore } from "../../../src/api/openai/responses/conversation.ts";
import type { ResponsesDeps } from "../../../src/api/openai/responses/deps.ts";
import type { KeptItem } from "../../../src/api/openai/responses/input.ts";
import { type OutputItem, type ResponseObject, itemId } from "../../../src/api/openai/responses/items.ts";
import { createSealing } from "../../../src/api/openai/responses/kept/sealing.ts";
import { type ResponseStore, createResponseStore } from "../../../src/api/openai/responses/store.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { TestDatabase } from "../servers/database.ts";
import { makeOrganization } from "../tenants/callers.ts";

interface KeptFields {
  /** The texts of its input, a message each. */
  readonly asked?: readonly string[];
  readonly items?: readonly KeptItem[];
  readonly answered?: readonly string[];
  readonly documentIds?: readonly string[];
  readonly previousId?: string;
  readonly by?: Principal;
  /** Is called when only its end is missing. */
  readonly beforeEnd?: () => Promise<void>;
  /** Is called when its answer is there, and its end may not be written yet. */
  readonly answering?: (itemIds: readonly string[]) => Promise<void>;
}

export interface KeptResponses {
  readonly deps: ResponsesDeps;
  readonly store: ResponseStore;
  readonly organization: OrganizationRef;
  readonly principal: Principal;
  /** How many sealed texts were opened since this was last called. */
  countOpened(): number;
  /** @returns its id, and those of its output. */
  keep(fields: KeptFields): Promise<{ readonly id: string; readonly itemIds: readonly string[] }>;
  before(previousId: string, wanted?: { readonly mayTruncate?: boolean }): Promise<Before>;
  /** Sealed bytes that count for the user. */
  bytesOf(userId: string): Promise<number>;
}

const WRITTEN_MS = 60_000;

export const messageOf = (role: "user" | "assistant", text: string): KeptItem =>
  ({
    id: itemId("msg", newId()),
    type: "message",
    role,
    status: "completed",
    content:
      role === "user"
        ? [{ type: "input_text", text }]
        : [{ type: "output_text", text, annotations: [], logprobs: [] }],
  }) as KeptItem;

export const callerIn = (organization: OrganizationRef): Principal =>
  ({ organization, user: { id: newId() }, apiKeyId: null, reach: new Map() }) as unknown as Principal;

export async function keptResponses(
  { db }: TestDatabase,
  quotas: Partial<ResponsesDeps["quotas"]> = {},
): Promise<KeptResponses> {
  const organization = await makeOrganization(db);
  const principal = callerIn(organization);
  let opened = 0;
  const key = { id: newId(), secret: createSecretKey(Buffer.alloc(32, 1)) };
  const sealing = createSealing({
    current: async () => key,
    async byId() {
      opened += 1;
      return key;
    },
    forget: () => undefined,
  });
  const deps = {
    db,
    sealing,
    log: console,
    quotas: { bytesPerUser: Number.MAX_SAFE_INTEGER, bytesPerOrganization: undefined, ...quotas },
    contextTokens: 128_000,
  } as unknown as ResponsesDeps;
  const store = createResponseStore(deps);
  const before: KeptResponses["before"] = (previousId, { mayTruncate = false } = {}) =>
    conversationBefore(deps, store, principal, { previousId, mayTruncate });
  return {
    deps,
    store,
    organization,
    principal,
    countOpened() {
      const count = opened;
      opened = 0;
      return count;
    },
    before,
    async keep({ asked = [], answered = [], documentIds = [], previousId, ...fields }) {
      const { by = principal, items = asked.map((text) => messageOf("user", text)) } = fields;
      const id = newId();
      const gone = await conversationBefore(deps, store, by, { previousId, mayTruncate: false });
      const response = {
        id,
        organization,
        callerId: by.user.id,
        userId: by.user.id,
        apiKeyId: null,
        isBackground: false,
        apiProcessId: newId(),
        documentIds,
        createdAt: new Date(),
        keptHours: 24,
      };
      const head = { body: {}, echo: {}, caller: {} } as never as { body: never; echo: never; caller: never };
      await store.keepBegin(response, { ...head, items, previousId: gone.previousId });
      const output = answered.map((text) => messageOf("assistant", text)) as OutputItem[];
      const ended = { id: itemId("resp", id), status: "completed", output } as unknown as ResponseObject;
      const itemIds = output.map((item) => item.id);
      await fields.beforeEnd?.();
      store.keepEnd(response, ended);
      await fields.answering?.(itemIds);
      await store.flushed(WRITTEN_MS);
      return { id, itemIds };
    },
    async bytesOf(userId) {
      const { rows } = await db.system.query<{ bytes: number }>(
        "select bytes from response_usage where user_id = $1",
        [userId],
      );
      return rows[0]?.bytes ?? 0;
    },
  };
}
