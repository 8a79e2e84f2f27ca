/** Makes a response: the conversation before it, its turn, what is kept, and repeats of the request. */
import { callerIdOf } from "../../../domain/tenancy/ownership.ts";
import type { NewResponse } from "../../../db/responses/responses.ts";
import { claimKeptTurn, dropKeptTurn } from "../../../db/turns/kept-answers.ts";
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { NoteOpened } from "../../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponseBody } from "../../../schema/openai/response-request.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import type { StreamAnswer } from "../../response.ts";
import type { Turn } from "../../turns/turn.ts";
import { type AnswerParts, streamedResponse, wholeResponse } from "./answer.ts";
import type { Background } from "./background.ts";
import { conversationBefore } from "./conversation.ts";
import type { ResponsesDeps } from "./deps.ts";
import type { FileReader } from "./files.ts";
import { followResponse } from "./follow.ts";
import { readItems, referredIds } from "./input.ts";
import type { ResponseObject } from "./items.ts";
import { type AskedBody, type PreparedResponse, findModel, prepare, refuseMissing } from "./prepare.ts";
import { InputReading } from "./reading.ts";
import { repeat } from "./repeat.ts";
import type { KeptRequest } from "./kept/keep.ts";
import { keptCaller } from "./sealed.ts";
import type { ResponseStore } from "./store.ts";

export interface ResponsesHostParts {
  readonly deps: ResponsesDeps;
  readonly store: ResponseStore;
  readonly background: Background;
  readonly files: FileReader;
}

export interface NewRequest {
  readonly body: ResponseBody;
  /** Aborted if the client goes away. */
  readonly signal: AbortSignal;
  /** With it the response goes on without its client, and a repeat gets the same one. */
  readonly idempotencyKey: string | undefined;
  readonly bodyHash: Buffer | undefined;
  /** Looks the caller up again, for a stream that takes long. */
  readonly lookUp: () => Promise<Principal>;
  readonly opened: NoteOpened;
  /** Takes a seat, for a stream that follows a response. @throws DomainError `too_many_open`. */
  readonly takeSeat: () => void;
}

type Answer = ResponseObject | StreamAnswer;

export async function createResponse(
  host: ResponsesHostParts,
  principal: Principal,
  request: NewRequest,
): Promise<Answer> {
  // Before anything is made, which nobody would get to know of.
  if (request.body.stream === true && request.body.background === true) request.takeSeat();
  const id = newId();
  const key = keyOf(principal, request);
  if (key === undefined) return begin(host, principal, request, id);
  const { db, chat } = host.deps;
  const bodyHash = request.bodyHash ?? Buffer.alloc(0);
  const found = await claimKeptTurn(db, key, { id, bodyHash, apiProcessId: chat.apiProcessId });
  if (found === undefined)
    return begin(host, principal, request, id).catch(async (error: unknown) => {
      await dropKeptTurn(db, key.organization, id);
      throw error;
    });
  if (!found.body_hash.equals(bodyHash))
    throw new ValidationProblems([
      valueError(["header", "idempotency-key"], "the key was used with another request before"),
    ]);
  return repeat(host, principal, request, found.turn_id);
}

/** A header has no line break: the keys of chat are others. */
function keyOf(principal: Principal, { idempotencyKey }: NewRequest) {
  if (idempotencyKey === undefined) return undefined;
  return {
    organization: principal.organization,
    callerId: callerIdOf(principal),
    key: `responses\n${idempotencyKey}`,
  };
}

async function begin(
  host: ResponsesHostParts,
  principal: Principal,
  { body, signal, idempotencyKey, lookUp, opened }: NewRequest,
  id: string,
): Promise<Answer> {
  const { deps, store, background } = host;
  refuseMissing(body);
  const agent = await findModel(deps, principal, body.model);
  const isKept = body.store !== false;
  const before = await conversationBefore(deps, store, principal, {
    previousId: body.previous_response_id,
    mayTruncate: body.truncation === "auto",
  });
  const { input, ...asked } = body;
  const isRepeatable = idempotencyKey !== undefined;
  const reading = new InputReading(host, {
    principal,
    // A repeat of the request waits for what its first one reads.
    signal: isRepeatable ? new AbortController().signal : signal,
    lookUp,
    referredIds: referredIds(input),
    opened,
    characters: before.characters,
  });
  const items = await readItems(input, before.items, reading);
  const prepared = await prepare(deps, principal, agent, { body: asked, before: before.items, items });
  const response = {
    id,
    organization: principal.organization,
    callerId: callerIdOf(principal),
    userId: principal.user.id,
    apiKeyId: principal.apiKeyId,
    isBackground: body.background === true,
    apiProcessId: deps.chat.apiProcessId,
    documentIds: [...new Set([...before.documentIds, ...reading.documentIds])],
    createdAt: new Date(),
    keptHours: deps.keptHours,
  };
  const request: KeptRequest = {
    body: asked,
    echo: prepared.echo,
    items,
    caller: keptCaller(principal),
    previousId: before.previousId,
  };
  const isStream = body.stream === true;
  if (response.isBackground) {
    const queued = await background.start(response, request, prepared);
    if (!isStream) return queued;
    const withResults = prepared.showsResults;
    return followResponse(deps, store, { principal, lookUp, id, afterNo: -1, withResults });
  }
  const parts = answerParts(host, response, { request, prepared, signal, isRepeatable, isKept });
  return isStream ? streamedResponse(parts) : wholeResponse(parts);
}

interface Asking {
  readonly request: KeptRequest;
  readonly prepared: PreparedResponse;
  readonly signal: AbortSignal;
  readonly isRepeatable: boolean;
  readonly isKept: boolean;
}

function answerParts(
  { deps, store }: ResponsesHostParts,
  response: NewResponse,
  { request, prepared, signal, isRepeatable, isKept }: Asking,
): AnswerParts {
  const documents = new Set(response.documentIds);
  const leave = (turn: Turn): void => {
    if (!isRepeatable) turn.abort();
  };
  return {
    head: {
      id: response.id,
      createdAt: Math.floor(response.createdAt.getTime() / 1_000),
      echo: prepared.echo,
      isBackground: false,
      showsResults: prepared.showsResults,
      showsCitations: prepared.agent.show_citations,
      fileIds: prepared.fileIds,
    },
    pingMs: deps.chat.pingMs,
    leave,
    async begin(sink): Promise<Turn> {
      if (isKept) await store.keepBegin(response, request);
      try {
        const turn = await deps.chat.begin({ ...prepared.turn, id: response.id }, sink);
        if (signal.aborted) leave(turn);
        signal.addEventListener("abort", () => leave(turn), { once: true });
        return turn;
      } catch (error) {
        if (isKept) store.drop(response);
        throw error;
      }
    },
    shown: (ids) => ids.forEach((one) => documents.add(one)),
    ended(ended) {
      if (isKept) store.keepEnd({ ...response, documentIds: [...documents] }, ended);
    },
    asRefusal(error) {
      if (isKept) store.drop(response);
      return asRefusal(error, request.body);
    },
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
