/** The answers of a route in the OpenAPI document. */
import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { ErrorBody, ValidationErrorBody } from "../../schema/error.ts";
import { CursorExpired } from "../../schema/event.ts";
import type { Route } from "../route.ts";
import { errorHeaders, successHeaders } from "./headers.ts";

const ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request cannot be served as sent",
  401: "Authentication is missing or invalid, or the endpoint does not accept API keys",
  403: "No permission, or another organization",
  404: "Not found, or not accessible to the caller",
  409: "The request conflicts with the current state",
  410: "The events after the cursor are no longer kept; continue from the cursor `oldest`",
  412: "The resource has changed since it was read",
  414: "The path and the query together have more than 8,192 characters",
  416: "The range cannot be served",
  422: "Validation failed; all problems are listed",
  429: "Too many requests, or a quota is used up",
  431: "The headers together have more than 32 KiB",
  500: "An unexpected error; the log line with the same X-Request-Id has the cause",
  502: "The model provider failed",
  503: "A required service is down; retry after Retry-After",
  504: "The model provider timed out",
  507: "There is too little free disk space; reads, search and chat still work. Retry after Retry-After",
};

/** Other errors have the body of {@link ErrorBody}. */
const ERROR_BODIES: Readonly<Record<number, z.ZodType>> = { 410: CursorExpired, 422: ValidationErrorBody };

const isOpenAi = ({ form }: Route): boolean => form === "openai";

function bodyOf(route: Route, status: number): z.ZodType {
  if (status === 400 && isOpenAi(route)) return z.union([ErrorBody, ValidationErrorBody]);
  return ERROR_BODIES[status] ?? ErrorBody;
}

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted; the work continues in the background",
  204: "Done, no content",
};

export function responsesOf(route: Route): Record<string, ZodOpenApiResponseObject> {
  return { ...successes(route), ...failures(route) } as Record<string, ZodOpenApiResponseObject>;
}

function successes(route: Route): Record<string, unknown> {
  const json =
    route.response === undefined || route.status === 204
      ? {}
      : { "application/json": { schema: route.response } };
  const others = Object.fromEntries(
    Object.entries(route.otherContent ?? {}).map(([mediaType, { schema }]) => [mediaType, { schema }]),
  );
  const content = { ...json, ...others };
  const answer = {
    headers: successHeaders(route),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
  // A 304 has no content.
  const extra = Object.entries(route.otherStatuses ?? {}).map(([status, description]) => [
    status,
    { ...(status === "304" ? { headers: answer.headers } : answer), description },
  ]);
  return {
    [String(route.status)]: { ...answer, description: STATUS_DESCRIPTIONS[route.status] ?? "" },
    ...Object.fromEntries(extra),
  };
}

function failures(route: Route): Record<string, unknown> {
  return Object.fromEntries(
    declaredErrors(route).map((status) => [
      String(status),
      {
        description: route.ownErrors?.[status]?.description ?? ERROR_DESCRIPTIONS[status] ?? "Failure",
        headers: errorHeaders(route, status),
        content: {
          "application/json": {
            schema: route.ownErrors?.[status]?.schema ?? bodyOf(route, status),
          },
        },
      },
    ]),
  );
}

/** Answered before a route is chosen, to any request that is too long. */
const OF_EVERY_ROUTE = [414, 431, 500];

/** The status of a request that fails the checks of its contract, if there is anything to check. */
function unchecked({ body, multipart, params, query, idempotent, form }: Route): number[] {
  const parts = [body, multipart, query, idempotent];
  const isChecked = parts.some((part) => part !== undefined) || Object.keys(params?.shape ?? {}).length > 0;
  return isChecked ? [form === "openai" ? 400 : 422] : [];
}

/** Lists the error statuses that the route may answer with, in order. */
export function declaredErrors(route: Route): number[] {
  const hasBody = route.body !== undefined || route.multipart !== undefined;
  const hasParams = route.params !== undefined && Object.keys(route.params.shape).length > 0;
  const authenticated = route.access === "public" ? [] : [route.unauthenticatedStatus ?? 401, 403, 429, 503];
  const statuses = [
    ...OF_EVERY_ROUTE,
    ...(route.errors ?? []),
    ...authenticated,
    ...(hasBody ? [400] : []),
    ...unchecked(route),
    ...(hasParams ? [404] : []),
  ];
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}
