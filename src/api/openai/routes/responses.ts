/** Responses: OpenAI's newer interface to answers, kept for a day, with tools of the client. */
import { z } from "zod";
import { authorizeListing } from "../../../auth/policy.ts";
import { encodeId } from "../../../schema/openai/ids.ts";
import { listPage } from "../../../schema/openai/list.ts";
import { InputItemsQuery, ResponseQuery, ResponseRequest } from "../../../schema/openai/response-request.ts";
import {
  DeletedResponse,
  ResponseAnswer,
  ResponseInputItems,
  ResponseStreamError,
  ResponseStreamEvent,
} from "../../../schema/openai/response.ts";
import { holdSeat } from "../../events/hold-seat.ts";
import { type Route, defineRoute } from "../../route.ts";
import type { InputPage } from "../responses/kept/input-page.ts";
import { includesResults } from "../responses/prepare.ts";

const events = {
  "text/event-stream": {
    schema: z.union([ResponseStreamEvent, ResponseStreamError]),
    description: "With `stream: true`: the published sequence of events, each with its `event:` line.",
  },
};

const contract = {
  form: "openai",
  access: "keys",
  capability: "chat",
} as const;

const ofOne = {
  ...contract,
  audit: { action: "agents:chat", resource: "response", isChange: false },
} as const;

const createResponse = defineRoute("POST /responses", {
  ...contract,
  operation: "responses.create",
  audit: { action: "agents:chat", resource: "agent", idField: "model", isChange: false },
  budget: "chat",
  idempotent: "turn",
  body: ResponseRequest,
  response: ResponseAnswer,
  ignoresUnknown: true,
  otherContent: events,
  errors: [404, 409, 502, 503, 504],
  summary: "Make a response.",
  description:
    "`model` is the id of an agent, or the name of the instance's chat model, which has no documents " +
    "but what `file_search` names. An agent's own tools run inside; calls of the request's functions " +
    "are returned. The response is kept, encrypted, for the caller alone, unless `store` is false. A " +
    "client that goes away cancels it, unless it is in the background or has an `Idempotency-Key`, " +
    "with which a repeat gets the same one. The stream of one in the background, or of a repeat, " +
    "takes a seat of event streams: without one left it is 429 `too_many_open`, and no response is made.",
  async handle({ deps, principal, body, request }) {
    const { signal, idempotencyKey, bodyHash, opened, authenticateAgain: lookUp } = request;
    const takeSeat = (): void => holdSeat(deps.events.seats, principal, request);
    return deps.responses.create(principal, {
      body,
      signal,
      idempotencyKey,
      bodyHash,
      lookUp,
      takeSeat,
      opened,
    });
  },
});

const getResponse = defineRoute("GET /responses/:response_id", {
  ...ofOne,
  operation: "responses.get",
  query: ResponseQuery,
  response: ResponseAnswer,
  otherContent: events,
  summary: "Get a stored response.",
  description:
    "For the caller who made it: the same key, or the same user who has logged in. It is gone for a " +
    "caller who does not reach a document any more that it may tell about. With `stream=true` it " +
    "takes one of the seats of event streams, of which a key has 10 and a user 20 in each process: one more is 429 `too_many_open`.",
  async handle({ deps, principal, params: { response_id: id }, query, request }) {
    authorizeListing(principal, "agents:chat");
    if (query.stream === true) holdSeat(deps.events.seats, principal, request);
    const withResults = includesResults(query.include) || includesResults(query["include[]"]);
    const answer =
      query.stream === true
        ? await deps.responses.follow({
            principal,
            lookUp: request.authenticateAgain,
            id,
            afterNo: query.starting_after ?? -1,
            withResults,
          })
        : await deps.responses.get(principal, id, { withResults });
    return answer;
  },
});

const deleteResponse = defineRoute("DELETE /responses/:response_id", {
  ...ofOne,
  operation: "responses.delete",
  response: DeletedResponse,
  summary: "Delete a response.",
  description: "One that is under way in the background ends.",
  async handle({ deps, principal, params: { response_id: id } }) {
    authorizeListing(principal, "agents:chat");
    await deps.responses.delete(principal, id);
    return { id: encodeId("response", id), object: "response" as const, deleted: true as const };
  },
});

const cancelResponse = defineRoute("POST /responses/:response_id/cancel", {
  ...ofOne,
  operation: "responses.cancel",
  response: ResponseAnswer,
  summary: "Cancel a background response.",
  description: "One that has ended is answered as it is, so that cancelling twice changes nothing.",
  async handle({ deps, principal, params: { response_id: id } }) {
    authorizeListing(principal, "agents:chat");
    return deps.responses.cancel(principal, id);
  },
});

const listInputItems = defineRoute("GET /responses/:response_id/input_items", {
  ...ofOne,
  operation: "responses.input_items.list",
  query: InputItemsQuery,
  response: ResponseInputItems,
  summary: "The input items of a response.",
  description: "Its own, and not those of the responses before it. Files are listed without their content.",
  async handle({ deps, principal, params: { response_id: id }, query }) {
    authorizeListing(principal, "agents:chat");
    return pageOf(await deps.responses.inputItems(principal, id, query));
  },
});

function pageOf({ items, hasMore }: InputPage) {
  return { ...listPage(items, { limit: items.length }, ({ id }) => id), has_more: hasMore };
}

export const responseRoutes: readonly Route[] = [
  createResponse,
  getResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
];
