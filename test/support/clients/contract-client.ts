/** Sends requests to each route of the API, with the smallest valid query and body. */
import { expect } from "vitest";
import { createOpenApi } from "../../../src/api/openapi.ts";
import type { Route } from "../../../src/api/route.ts";
import { API_ROUTES } from "../../../src/api/routes/index.ts";
import type { ContractStack } from "../stack/contract-stack.ts";
import { answerText } from "./answer-text.ts";
import { undeclaredIn } from "./declared-body.ts";
import { type Document, type Operation, operationsOf, sample } from "./samples.ts";

export const UNKNOWN_ID = "01999999-9999-7999-8999-999999999999";

export interface RouteCase {
  readonly name: string;
  readonly route: Route;
  readonly operation: Operation;
}

interface Request {
  readonly token?: string;
  readonly ids?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly slash?: boolean;
  readonly headers?: Record<string, string>;
  /** The body as sent; undefined for the smallest valid one. */
  readonly body?: string | FormData | null;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: any;
}

const document = createOpenApi(API_ROUTES) as unknown as Document;

export const operations = operationsOf(document);

export const cases: RouteCase[] = API_ROUTES.map((route) => {
  const path = route.fullPath.replaceAll(/:(\w+)/g, "{$1}");
  const operation = operations.find((one) => one.path === path && one.method === route.method)!;
  return { name: `${route.method} ${path}`, route, operation };
});

export const paramsOf = (route: Route): string[] => Object.keys(route.params?.shape ?? {});
export const idParamsOf = (route: Route): string[] => paramsOf(route).filter((name) => name.endsWith("_id"));

/** Makes a client for the stack, which it asks for its URL at each call. */
export function contractClient(stack: ContractStack) {
  return async ({ route, operation }: RouteCase, request: Request = {}): Promise<Answer> => {
    const ids: Record<string, string> = {
      ...Object.fromEntries(paramsOf(route).map((name) => [name, UNKNOWN_ID])),
      version: "1",
      page_number: "1",
      ...stack.ids,
      ...request.ids,
    };
    const path = route.fullPath.replaceAll(/:(\w+)/g, (_whole, name: string) => ids[name] ?? UNKNOWN_ID);
    const slash = request.slash === true ? "/" : "";
    const body = request.body === undefined ? rightBody(operation, ids) : request.body;
    const response = await fetch(`${stack.url}${path}${slash}?${rightQuery(operation, ids)}`, {
      method: request.method ?? route.method,
      headers: {
        ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
        ...(request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }),
        ...request.headers,
      },
      body,
    });
    const text = await answerText(response);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const { status, headers } = response;
    return { status, headers, text, body: isJson ? JSON.parse(text) : text };
  };
}

function rightQuery(operation: Operation, ids: Readonly<Record<string, unknown>>): string {
  const required = operation.parameters.filter(
    (parameter) => parameter["in"] === "query" && parameter["required"] === true,
  );
  return new URLSearchParams(
    required.map((parameter): [string, string] => [
      parameter["name"],
      String(sample(document, parameter["schema"], ids)),
    ]),
  ).toString();
}

function rightBody(operation: Operation, ids: Readonly<Record<string, unknown>>): string | FormData | null {
  if (operation.body === undefined || !operation.bodyIsRequired) return null;
  const value = sample(document, operation.body, { ...ids, model: ids["agent_id"] }) as Record<
    string,
    unknown
  >;
  if (!operation.isForm) return JSON.stringify(value);
  const form = new FormData();
  for (const [name, field] of Object.entries(value)) if (name !== "file") form.set(name, String(field));
  form.set("file", new Blob(["# A contract"]), "contract.md");
  return form;
}

/** Headers that say how an answer is sent, and those that every answer has, which the document says once. */
const OF_EVERY_ANSWER = new Set([
  ..."connection content-length content-type date keep-alive transfer-encoding".split(" "),
  ..."cache-control content-security-policy cross-origin-resource-policy referrer-policy".split(" "),
  ..."vary x-content-type-options x-frame-options".split(" "),
]);

/** The status is among those of the operation, and each header and each field among those of the status. */
export function expectDeclared({ operation }: RouteCase, answer: Answer): void {
  const declared = operation.responses[String(answer.status)];
  expect(Object.keys(operation.responses)).toContain(String(answer.status));
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect(undeclaredIn(declared, answer.headers.get("content-type"), answer.text)).toEqual([]);
  const known = new Set(Object.keys(declared?.["headers"] ?? {}).map((name) => name.toLowerCase()));
  expect([...answer.headers.keys()].filter((name) => !known.has(name) && !OF_EVERY_ANSWER.has(name))).toEqual(
    [],
  );
}
