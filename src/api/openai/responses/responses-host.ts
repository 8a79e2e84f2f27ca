/** Puts responses together in an API process: what it answers with, what it keeps, and what it takes up. */
import { callerIdOf } from "../../../domain/tenancy/ownership.ts";
import { inTenant } from "../../../db/pool.ts";
import { deleteResponse } from "../../../db/responses/responses.ts";
import { DomainError } from "../../../domain/errors.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ListPage } from "../../../schema/openai/list.ts";
import type { StreamAnswer } from "../../response.ts";
import { createBackground } from "./background.ts";
import { type NewRequest, createResponse } from "./create.ts";
import type { ResponsesDeps } from "./deps.ts";
import { createFileReader } from "./files.ts";
import { type Followed, followResponse } from "./follow.ts";
import type { ResponseObject } from "./items.ts";
import { type InputPage, readInputPage } from "./kept/input-page.ts";
import { isReached } from "./reached.ts";
import { cancelStored, createResponseStore, shown } from "./store.ts";

interface Viewing {
  /** Whether what searches have found is shown. */
  readonly withResults: boolean;
}

export interface ResponsesHost {
  /**
   * A client that goes away cancels its response, unless that is in the background or has an Idempotency-Key.
   * @throws DomainError as chat does, and `bad_request` with `param` for what is not there.
   */
  create(principal: Principal, request: NewRequest): Promise<ResponseObject | StreamAnswer>;
  /** All that follow throw DomainError `response_not_found`. */
  get(principal: Principal, id: string, viewing: Viewing): Promise<ResponseObject>;
  follow(followed: Followed): Promise<StreamAnswer>;
  /** @throws also `bad_request` if there is no item that the page is to begin or end at. */
  inputItems(principal: Principal, id: string, page: ListPage): Promise<InputPage>;
  cancel(principal: Principal, id: string): Promise<ResponseObject>;
  delete(principal: Principal, id: string): Promise<void>;
  /** Takes up no more of what other processes have left. */
  stop(): void;
  /** Resolves when what was answered is written. */
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;

export function createResponsesHost(deps: ResponsesDeps): ResponsesHost {
  const store = createResponseStore(deps);
  const background = createBackground(deps);
  const files = createFileReader(deps);
  const host = { deps, store, background, files };
  return {
    create: (principal, request) => createResponse(host, principal, request),
    async get(principal, id, { withResults }) {
      const { response } = await store.find(principal, id);
      return shown(response, withResults);
    },
    follow: (followed) => followResponse(deps, store, followed),
    async inputItems(principal, id, page) {
      const row = await store.findRow(principal, id);
      return readInputPage(deps, principal.organization, row.id, page);
    },
    async cancel(principal, id) {
      await background.flush(id);
      const row = await store.findOwnRow(principal, id);
      if (!row.is_background)
        throw new DomainError("bad_request", "Only a response in the background can be cancelled.");
      if (row.has_ended) return shown((await store.find(principal, id)).response, false);
      const cancelled = await cancelStored(deps, principal, row);
      background.drop(id);
      if (!(await isReached(deps, principal, row.document_ids)))
        return shown({ ...cancelled, output: [] }, false);
      // It may have ended meanwhile: then that stands.
      const { response } = await store.find(principal, id);
      return shown(response.status === "in_progress" ? cancelled : response, false);
    },
    async delete(principal, id) {
      await store.findOwnRow(principal, id);
      const isGone = await inTenant(deps.db, principal.organization, (sql) =>
        deleteResponse(sql, callerIdOf(principal), id),
      );
      if (!isGone) throw notFound("response");
      background.drop(id);
    },
    stop: () => background.stop(),
    async close() {
      background.stop();
      await Promise.all([store.flushed(FLUSH_MS), background.ended(FLUSH_MS)]);
      await files.close();
      await deps.sealing.close();
    },
  };
}
