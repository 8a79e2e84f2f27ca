/** Puts responses together in an API process: what it answers with, what it keeps, and what it takes up. */
import { deleteResponse } from "../../db/responses/responses.ts";
import { inTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { ResponseBody } from "../../schema/openai/response-request.ts";
import type { StreamAnswer } from "../response.ts";
import type { Turn } from "../turns/turn.ts";
import { type AnswerParts, streamedResponse, wholeResponse } from "./answer.ts";
import { type Background, createBackground } from "./background.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type FileReader, createFileReader } from "./files.ts";
import { followResponse } from "./follow.ts";
import { type ItemReaders, type KeptItem, listedItem, readItems, refuse } from "./input.ts";
import type { ResponseObject } from "./items.ts";
import { type AskedBody, findModel, prepare, type PreparedResponse, refuseMissing } from "./prepare.ts";
import { type KeptRequest, keptCaller } from "./sealed.ts";
import {
  type ResponseStore,
  callerIdOf,
  cancelStored,
  conversationBefore,
  createResponseStore,
  shown,
} from "./store.ts";

interface Viewing {
  /** Whether what searches have found is shown. */
  readonly withResults: boolean;
}

export interface ResponsesHost {
  /**
   * @param signal aborted if the client goes away: the response is cancelled, unless it is in the background.
   * @throws DomainError as chat does, and `bad_request` with `param` for what is not there.
   */
  create(
    principal: Principal,
    body: ResponseBody,
    signal: AbortSignal,
  ): Promise<ResponseObject | StreamAnswer>;
  /** All that follow throw DomainError `response_not_found`. */
  get(principal: Principal, id: string, viewing: Viewing): Promise<ResponseObject>;
  follow(principal: Principal, id: string, afterNo: number, viewing: Viewing): Promise<StreamAnswer>;
  inputItems(principal: Principal, id: string): Promise<readonly KeptItem[]>;
  cancel(principal: Principal, id: string): Promise<ResponseObject>;
  delete(principal: Principal, id: string): Promise<void>;
  /** Takes up no more of what other processes have left. */
  stop(): void;
  /** Resolves when what was answered is written. */
  close(): Promise<void>;
}

interface Host {
  readonly deps: ResponsesDeps;
  readonly store: ResponseStore;
  readonly background: Background;
  readonly files: FileReader;
}

const FLUSH_MS = 5_000;

export function createResponsesHost(deps: ResponsesDeps): ResponsesHost {
  const store = createResponseStore(deps);
  const background = createBackground(deps);
  const files = createFileReader(deps.dataDir);
  const host: Host = { deps, store, background, files };
  return {
    create: (principal, body, signal) => createResponse(host, principal, body, signal),
    async get(principal, id, { withResults }) {
      const { response } = await store.find(principal, id);
      return shown(response, withResults);
    },
    follow: (principal, id, afterNo, { withResults }) =>
      followResponse(deps, store, { principal, id, afterNo, withResults }),
    async inputItems(principal, id) {
      const { request } = await store.find(principal, id);
      return request.items.map(listedItem);
    },
    async cancel(principal, id) {
      await background.flush(id);
      const found = await store.find(principal, id);
      if (!found.row.is_background)
        throw new DomainError("bad_request", "Only a response in the background can be cancelled.");
      if (found.row.response !== null) return shown(found.response, false);
      const cancelled = await cancelStored(deps, principal, found);
      background.drop(id);
      // It may have ended meanwhile: then that stands.
      const { response } = await store.find(principal, id);
      return shown(response.status === "in_progress" ? cancelled : response, false);
    },
    async delete(principal, id) {
      await store.findRow(principal, id);
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
    },
  };
}

async function createResponse(
  host: Host,
  principal: Principal,
  body: ResponseBody,
  signal: AbortSignal,
): Promise<ResponseObject | StreamAnswer> {
  const { deps, store, background } = host;
  refuseMissing(body);
  const agent = await findModel(deps, principal, body.model);
  const { before, documentIds } = await conversationBefore(store, principal, body.previous_response_id);
  const { input, ...asked } = body;
  const items = await readItems(input, before, readersOf(host, principal));
  const prepared = await prepare(deps, principal, agent, { body: asked, before, items });
  const response = {
    id: newId(),
    organization: principal.organization,
    callerId: callerIdOf(principal),
    userId: principal.user.id,
    apiKeyId: principal.apiKeyId,
    isBackground: body.background === true,
    apiProcessId: deps.chat.apiProcessId,
    documentIds,
    createdAt: new Date(),
    keptHours: deps.keptHours,
  };
  const request: KeptRequest = {
    body: asked,
    echo: prepared.echo,
    before,
    items,
    caller: keptCaller(principal),
  };
  const isStream = body.stream === true;
  if (response.isBackground) {
    const queued = await background.start(response, request, prepared);
    if (!isStream) return queued;
    const withResults = prepared.showsResults;
    return followResponse(deps, store, { principal, id: response.id, afterNo: -1, withResults });
  }
  const parts = answerParts(host, response, { request, prepared, signal });
  return isStream ? streamedResponse(parts) : wholeResponse(parts);
}

interface Asking {
  readonly request: KeptRequest;
  readonly prepared: PreparedResponse;
  readonly signal: AbortSignal;
}

type NewResponse = Parameters<ResponseStore["keepEnd"]>[0];

function answerParts(
  { deps, store }: Host,
  response: NewResponse,
  { request, prepared, signal }: Asking,
): AnswerParts {
  const documents = new Set(response.documentIds);
  const isKept = request.body.store !== false;
  return {
    head: {
      id: response.id,
      createdAt: Math.floor(response.createdAt.getTime() / 1_000),
      echo: prepared.echo,
      isBackground: false,
      showsResults: prepared.showsResults,
      showsCitations: prepared.agent.show_citations,
    },
    pingMs: deps.chat.pingMs,
    async begin(sink): Promise<Turn> {
      const turn = await deps.chat.begin({ ...prepared.turn, id: response.id }, sink, signal);
      if (isKept) store.keepBegin(response, request, turn.result);
      if (signal.aborted) turn.abort();
      signal.addEventListener("abort", () => turn.abort(), { once: true });
      return turn;
    },
    shown: (ids) => ids.forEach((id) => documents.add(id)),
    ended(ended) {
      if (isKept) store.keepEnd({ ...response, documentIds: [...documents] }, request, ended);
    },
    asRefusal: (error) => asRefusal(error, request.body),
  };
}

/** What the provider refuses of a schema is the request's fault; it does not say more than its code. */
function asRefusal(error: DomainError, { text, tools }: AskedBody): DomainError {
  if (error.code !== "rejected_by_provider") return error;
  const ofSchema = text?.format?.type === "json_schema" ? "text.format.schema" : undefined;
  const ofTools = tools?.some(({ type }) => type === "function") ? "tools" : undefined;
  const param = ofSchema ?? ofTools;
  if (param === undefined) return error;
  return new DomainError("bad_request", `The model's provider refuses the request: ${error.message}`, {
    param,
  });
}

function readersOf({ store, files }: Host, principal: Principal): ItemReaders {
  return {
    fileData: (data, filename, param) => files.textOf(principal, data, filename, param),
    fileId: (_fileId, param) => readInputFile(principal, _fileId, param),
    reference: (id, param) => readReference(store, principal, id, param),
  };
}

/** The text of a file of the caller: to be filled in where files are kept. */
async function readInputFile(_principal: Principal, _fileId: string, param: string): Promise<string> {
  throw refuse(param, "Send the file as `file_data`.");
}

/** An item of a stored response, as clients send it that do not repeat what is stored. */
async function readReference(
  store: ResponseStore,
  principal: Principal,
  id: string,
  param: string,
): Promise<KeptItem> {
  try {
    return await store.findItem(principal, id);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== "not_found") throw error;
    throw refuse(param, `Item with id '${id.slice(0, 64)}' not found.`);
  }
}
