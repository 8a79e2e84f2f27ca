/** Sends what the matrix asks for, and holds each answer to the rules. */
import { type Answer, call } from "../clients/client.ts";
import type { MatrixRequest } from "./requests.ts";
import {
  type MatrixCaller,
  type MatrixRule,
  RULES_OF_ROUTES,
  type SpaceName,
  expected,
  roleIn,
} from "./rules.ts";
import { WITH_PRIVATE, canary } from "./world.ts";

const AT_ONCE = 8;
/** What must never be in an answer: a stack trace, a path of the machine, an SQL statement or its error. */
const INNER =
  /\bat (async )?[\w.]+ \(|node_modules|\/src\/|\/tmp\/|relation \\?"|\bselect\b.*\bfrom\b|violates|syntax error at/i;
const AGENT_ROUTES = /\/agents\/:agent_id|\/models\/:model|chat\/completions|POST \/v1\/responses$/;

/** Sends the request to the API at `url`. */
export function sendAs(
  url: string,
  caller: MatrixCaller,
  { method, path, body, headers }: MatrixRequest,
  id?: string,
): Promise<Answer> {
  return call(url, caller.token, method, path, body, {
    ...headers,
    ...(id === undefined ? {} : { "x-request-id": id }),
  });
}

/** Returns the route's rule for the space; the public agent belongs to Archive. */
export const ruleOf = (route: string, space: SpaceName): MatrixRule => {
  const rule = RULES_OF_ROUTES[route]!;
  return AGENT_ROUTES.test(route) && space === "archive" ? { ...rule, on: "public agent" } : rule;
};

const isAllowed = ({ status, body }: Answer, rule: MatrixRule): boolean =>
  status < 300 ||
  status === 412 ||
  (rule.unfit !== undefined && status === 422 && body.error.code === rule.unfit) ||
  (rule.elsewise !== undefined && status === 400 && body.detail === rule.elsewise) ||
  (rule.within !== undefined && status === 404 && body.detail === rule.within);

/** Describes what is wrong with the answer; returns undefined if it is as the rules say. */
export function faultOf(
  answer: Answer,
  caller: MatrixCaller,
  rule: MatrixRule,
  space: SpaceName,
): string | undefined {
  const wanted = expected(caller, rule, space);
  const hidden = WITH_PRIVATE.filter(
    (name) => roleIn(caller, name) === undefined || caller.standing !== "good",
  );
  const leaked = hidden.find((name) => JSON.stringify(answer.body).includes(canary(name)));
  if (leaked !== undefined) return `shows something of ${leaked}`;
  if (INNER.test(JSON.stringify(answer.body))) return `shows how it is built: ${JSON.stringify(answer.body)}`;
  const isRight =
    wanted === "allowed" ? isAllowed(answer, rule) : answer.status === wanted && !isAllowed(answer, rule);
  return isRight
    ? undefined
    : `answered ${answer.status} (${JSON.stringify(answer.body).slice(0, 120)}), expected ${wanted}`;
}

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
