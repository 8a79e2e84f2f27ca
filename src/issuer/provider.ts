/**
 * The development issuer: an OpenID provider that signs people in to the console as whom they say they are,
 * and that signs access tokens, both for whoever has the secret in its data folder.
 */
import { generateKeyPair, exportJWK, type JWK } from "jose";
import Provider, {
  type Account,
  type Configuration,
  type KoaContextWithOIDC,
  errors,
  interactionPolicy,
} from "oidc-provider";
import { SIGN_IN_PATH } from "./gate.ts";
import { sendSignOutPage } from "./pages.ts";
import { CONSOLE_CLIENT, MCP_CLIENT } from "../embedded/servers/issuer-part.ts";
import type { Person } from "./people.ts";

export const ISSUER_CLIENT = "holdfast-cli";
export const ISSUER_GRANT = "urn:holdfast:params:oauth:grant-type:user";
/** How a sign-in says that the person is an operator; it stays with the session and its tokens. */
export const AS_OPERATOR = "operators";
const RESOURCE = "urn:holdfast:api";
const TOKEN_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
const ALGORITHM = "ES256";
const CONSOLE_SCOPE = "openid profile email offline_access";
/** Where programs that speak the Model Context Protocol wait for their code, on any port of this machine. */
const MCP_CALLBACKS = ["127.0.0.1", "localhost"].flatMap((host) =>
  ["/callback", "/oauth/callback"].map((path) => `http://${host}${path}`),
);

export interface IssuerSettings {
  /** Its URL, which is also the `iss` of its tokens. */
  readonly url: string;
  readonly audience: string;
  /** The address of `/mcp`: a token asked for this resource names it as its audience, and no other. */
  readonly mcpResource: string;
  /** The secret of the client that may ask for anybody's token, and the key of cookies. */
  readonly secret: string;
  readonly keys: readonly JWK[];
  /** Where the console is: its redirect URIs are `<address>/callback` and `<address>/signed-out`. */
  readonly consoleAddresses: readonly string[];
  /** Undefined if there is nobody with that subject, or not any more. */
  findPerson(subject: string): Promise<Person | undefined>;
}

/** Makes the private signing keys of a new issuer; they must be kept as secrets. */
export async function makeIssuerKeys(): Promise<JWK[]> {
  const pairs = await Promise.all(
    ["ES256", "RS256"].map(async (alg) => ({ alg, pair: await generateKeyPair(alg, { extractable: true }) })),
  );
  return Promise.all(
    pairs.map(async ({ alg, pair }) => ({ ...(await exportJWK(pair.privateKey)), alg, use: "sig" })),
  );
}

/**
 * A provider with the code flow for the console, whose people are those of the database, and with one grant
 * of its own: the command line names a user from the database (`subject`, `email`, `name`) and `roles`,
 * separated by spaces, and gets an access token.
 */
export function createIssuer(settings: IssuerSettings): Provider {
  const provider = new Provider(settings.url, configuration(settings));
  provider.registerGrantType(ISSUER_GRANT, (ctx) => grantToken(provider, ctx, settings), [
    "subject",
    "email",
    "name",
    "roles",
    "resource",
  ]);
  return provider;
}

function configuration(settings: IssuerSettings): Configuration {
  const { secret, keys, consoleAddresses } = settings;
  const origins = new Set(consoleAddresses.map((address) => new URL(address).origin));
  return {
    jwks: { keys: [...keys] } as NonNullable<Configuration["jwks"]>,
    clients: [
      {
        client_id: ISSUER_CLIENT,
        client_secret: secret,
        grant_types: [ISSUER_GRANT],
        response_types: [],
        redirect_uris: [],
      },
      {
        client_id: CONSOLE_CLIENT,
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        redirect_uris: consoleAddresses.map((address) => `${address}/callback`),
        post_logout_redirect_uris: consoleAddresses.map((address) => `${address}/signed-out`),
      },
      {
        client_id: MCP_CLIENT,
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        redirect_uris: MCP_CALLBACKS,
      },
    ],
    responseTypes: ["code"],
    pkce: { required: () => true },
    cookies: { keys: [secret] },
    clientBasedCORS: (_ctx, origin, { clientId }) => clientId === CONSOLE_CLIENT && origins.has(origin),
    interactions: { url: (_ctx, { uid }) => `${SIGN_IN_PATH}/${uid}`, policy: signInPolicy() },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: true, logoutSource: sendSignOutPage },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: (_ctx, resource) => resourceServer(audienceOf(resource, settings)),
        useGrantedResource: () => true,
      },
    },
    // The console is this service's own: nobody has to agree that it sees what they see.
    loadExistingGrant: (ctx) => grantEverything(ctx, settings),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    findAccount: async (_ctx, subject) => accountOf(await settings.findPerson(subject)),
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: false,
    extraTokenClaims: claimsOf,
    ttl: {
      AccessToken: TOKEN_SECONDS,
      IdToken: TOKEN_SECONDS,
      Interaction: TOKEN_SECONDS,
      Session: DAY_SECONDS,
      Grant: DAY_SECONDS,
      RefreshToken: DAY_SECONDS,
    },
  };
}

/**
 * Nobody has to agree, but a program of this machine is never answered without a question: any page can lead
 * a browser that is signed in to the address at which somebody else's program waits.
 */
function signInPolicy() {
  const policy = interactionPolicy.base();
  policy.get("consent")?.checks.remove("native_client_prompt");
  policy
    .get("login")
    ?.checks.add(
      new interactionPolicy.Check("program", "a person must be picked for each program", ({ oidc }) =>
        oidc.client?.applicationType === "native" && oidc.result?.["login"] === undefined
          ? interactionPolicy.Check.REQUEST_PROMPT
          : interactionPolicy.Check.NO_NEED_TO_PROMPT,
      ),
    );
  return policy;
}

function accountOf(person: Person | undefined): Account | undefined {
  if (person === undefined) return undefined;
  const { subject, email, name } = person;
  return { accountId: subject, claims: () => ({ sub: subject, email, email_verified: true, name }) };
}

/** Of the grant of the command line the request says them, of a sign-in the account and its session. */
async function claimsOf(ctx: KoaContextWithOIDC) {
  const { params, entities } = ctx.oidc;
  if (params?.["grant_type"] === ISSUER_GRANT) {
    const { email, name, roles } = params;
    const listed = typeof roles === "string" ? { roles: roles.split(" ").filter((role) => role !== "") } : {};
    return { email, email_verified: true, ...(name === undefined ? {} : { name }), ...listed };
  }
  const claims = await entities.Account?.claims("access_token", "", {}, []);
  const amr = entities.RefreshToken?.amr ?? entities.AuthorizationCode?.amr ?? [];
  return { ...personOf(claims), ...(amr.includes(AS_OPERATOR) ? { roles: [AS_OPERATOR] } : {}) };
}

const personOf = (claims: Readonly<Record<string, unknown>> | undefined) => ({
  email: claims?.["email"],
  email_verified: true,
  name: claims?.["name"],
});

async function grantEverything(ctx: KoaContextWithOIDC, { mcpResource }: IssuerSettings) {
  const { client, session, provider } = ctx.oidc;
  const known = session!.grantIdFor(client!.clientId);
  if (known !== undefined) {
    const grant = await provider.Grant.find(known);
    if (grant !== undefined) return grant;
  }
  const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
  grant.addOIDCScope(CONSOLE_SCOPE);
  for (const resource of [RESOURCE, mcpResource]) grant.addResourceScope(resource, CONSOLE_SCOPE);
  await grant.save();
  return grant;
}

/** @throws InvalidTarget for a resource that is not of this service */
function audienceOf(resource: string, { audience, mcpResource }: IssuerSettings): string {
  if (resource === RESOURCE) return audience;
  if (resource === mcpResource) return mcpResource;
  throw new errors.InvalidTarget();
}

function resourceServer(audience: string) {
  return {
    audience,
    scope: "",
    accessTokenFormat: "jwt" as const,
    accessTokenTTL: TOKEN_SECONDS,
    jwt: { sign: { alg: ALGORITHM as "ES256" } },
  };
}

async function grantToken(
  provider: Provider,
  ctx: KoaContextWithOIDC,
  settings: IssuerSettings,
): Promise<void> {
  const { subject, email, resource: wanted } = ctx.oidc.params ?? {};
  const resource = typeof wanted === "string" ? wanted : RESOURCE;
  if (typeof subject !== "string" || typeof email !== "string")
    throw new errors.InvalidRequest("subject and email are required");
  const token = new provider.AccessToken({
    accountId: subject,
    client: ctx.oidc.client!,
    gty: ISSUER_GRANT,
  } as ConstructorParameters<typeof provider.AccessToken>[0]);
  token.resourceServer = new provider.ResourceServer(
    resource,
    resourceServer(audienceOf(resource, settings)),
  );
  ctx.body = { access_token: await token.save(), token_type: "Bearer", expires_in: token.expiration };
}
