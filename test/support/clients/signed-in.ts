/** People of a test's tenants who are signed in at the shared stack. */
import type { Route } from "../../../src/api/route.ts";
import { beforeAll } from "vitest";
import { type Answer, call } from "./client.ts";
import { type SharedStack, onSharedStack } from "../stack/shared-stack.ts";
import { PEOPLE, type Tenants, type Who } from "../tenants/tenants.ts";

const KEY_REFUSED = "API key not accepted on this endpoint, use an identity-provider access token";

export interface SignedIn {
  readonly stack: SharedStack;
  readonly tenants: Tenants;
  readonly ids: Readonly<Record<Who, string>>;
  /** Sends one request to a path under `/v1` with the person's access token. */
  as(
    who: Who,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Returns the audit log's rows with this action on this resource, oldest first. */
  audited(action: string, resourceId: string): Promise<Record<string, unknown>[]>;
}

/** Does what {@link onSharedStack} does, and also signs everybody in. Call it once, at the top of a file. */
export function signedIn(): SignedIn {
  const { stack, tenants } = onSharedStack();
  const tokens = {} as Record<Who, string>;
  const ids = {} as Record<Who, string>;
  beforeAll(async () => {
    for (const who of PEOPLE) tokens[who] = await stack.issuer.token(tenants.subject(who));
    const { rows } = await stack.database.db.owner.query<{ id: string; subject: string }>(
      "select id, subject from users where subject = any($1)",
      [PEOPLE.map(tenants.subject)],
    );
    for (const who of PEOPLE) ids[who] = rows.find((row) => row.subject === tenants.subject(who))!.id;
  });
  return {
    stack,
    tenants,
    ids,
    as: (who, ...request) => call(stack.url, tokens[who], ...request),
    async audited(action, resourceId) {
      return (
        await stack.database.db.owner.query(
          `select entry.*, split_part(entry.outcome, ' ', 1) as outcome
           from audit_log entry
           where action = $1
             and resource_id = $2
           order by at, id`,
          [action, resourceId],
        )
      ).rows;
    },
  };
}

/**
 * Returns the routes that take access tokens only but do not refuse an admin's key in the words of the
 * specification.
 */
export async function routesOpenToKeys(
  { stack, tenants }: Pick<SignedIn, "stack" | "tenants">,
  routes: readonly Route[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const route of routes.filter(({ access }) => access === "jwt")) {
    const path = route.path.replaceAll(/:\w+/g, tenants.acme);
    const answer = await call(
      stack.url,
      tenants.keys.owner,
      route.method,
      path,
      route.body === undefined ? undefined : {},
    );
    const isRefused =
      answer.status === 401 &&
      answer.headers.get("www-authenticate") === "Bearer" &&
      answer.body.detail === KEY_REFUSED;
    if (!isRefused) wrong.push(`${route.method} ${route.path} answered ${answer.status}`);
  }
  return wrong;
}
