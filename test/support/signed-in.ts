/** A stack with an OpenID issuer, at which the people of the tests are signed in. */
import type { Route } from "../../src/api/route.ts";
import { type Answer, call } from "./client.ts";
import { startIssuer, type TestIssuer } from "./issuer.ts";
import { type Stack, startStack } from "./stack.ts";
import { ACME, KEYS } from "./tenants.ts";

/** Ada owns Research and Archive and is Acme's admin; Eve edits and Vic views Research; Rob is the admin of Rival. */
const PEOPLE = ["ada", "eve", "vic", "rob"] as const;
type Who = (typeof PEOPLE)[number];

const KEY_REFUSED = "API key not accepted on this endpoint, use an identity-provider access token";

export interface SignedIn {
  readonly stack: Stack;
  readonly issuer: TestIssuer;
  /** Ids of the users. */
  readonly ids: Readonly<Record<Who, string>>;
  /** One request below `/v1` with the person's access token. */
  as(who: Who, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Rows of the audit log with this action on this resource, oldest first. */
  audited(action: string, resourceId: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function startSignedIn(options: { readonly withoutWorker?: boolean } = { withoutWorker: true }): Promise<SignedIn> {
  const issuer = await startIssuer();
  const stack = await startStack({ ...options, env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience } });
  const tokens = Object.fromEntries(await Promise.all(PEOPLE.map(async (who) => [who, await issuer.token(who)] as const))) as Record<Who, string>;
  const { rows } = await stack.database.db.owner.query<{ id: string; subject: Who }>("select id, subject from users where subject = any($1)", [PEOPLE]);
  return {
    stack,
    issuer,
    ids: Object.fromEntries(rows.map(({ subject, id }) => [subject, id])) as Record<Who, string>,
    as: (who, ...request) => call(stack.url, tokens[who], ...request),
    async audited(action, resourceId) {
      return (await stack.database.db.owner.query("select * from audit_log where action = $1 and resource_id = $2 order by at, id", [action, resourceId])).rows;
    },
    async close() {
      await stack.close();
      await issuer.close();
    },
  };
}

/** Of the routes for access tokens alone, those that do not refuse the admin's key in the specification's words. */
export async function routesOpenToKeys(url: string, routes: readonly Route[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const route of routes.filter(({ access }) => access === "jwt")) {
    const answer = await call(url, KEYS.owner, route.method, route.path.replaceAll(/:\w+/g, ACME), route.body === undefined ? undefined : {});
    const isRefused = answer.status === 401 && answer.headers.get("www-authenticate") === "Bearer" && answer.body.detail === KEY_REFUSED;
    if (!isRefused) wrong.push(`${route.method} ${route.path} answered ${answer.status}`);
  }
  return wrong;
}
