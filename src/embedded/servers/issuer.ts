/**
 * The development issuer: an OpenID provider that signs access tokens for whoever has the secret in its data
 * folder.
 */
import { generateKeyPair, exportJWK, type JWK } from "jose";
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from "oidc-provider";

export const ISSUER_CLIENT = "holdfast-cli";
export const ISSUER_GRANT = "urn:holdfast:params:oauth:grant-type:user";
const RESOURCE = "urn:holdfast:api";
const TOKEN_SECONDS = 3_600;
const ALGORITHM = "ES256";

interface IssuerSettings {
  /** Its URL, which is also the `iss` of its tokens. */
  readonly url: string;
  readonly audience: string;
  /** The secret of the only client that may ask for tokens. */
  readonly secret: string;
  readonly keys: readonly JWK[];
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
 * A provider with discovery, JWKS and one grant: its client, the command line, names a user from the database
 * (`subject`, `email`, `name`) and `roles`, separated by spaces, and gets an access token.
 */
export function createIssuer({ url, audience, secret, keys }: IssuerSettings): Provider {
  const provider = new Provider(url, configuration(audience, secret, keys));
  provider.registerGrantType(ISSUER_GRANT, (ctx) => grantToken(provider, ctx, audience), [
    "subject",
    "email",
    "name",
    "roles",
  ]);
  return provider;
}

function configuration(audience: string, secret: string, keys: readonly JWK[]): Configuration {
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
    ],
    responseTypes: ["code"],
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: () => resourceServer(audience),
      },
    },
    extraTokenClaims: (ctx) => {
      const { email, name, roles } = ctx.oidc.params ?? {};
      const listed =
        typeof roles === "string" ? { roles: roles.split(" ").filter((role) => role !== "") } : {};
      return { email, email_verified: true, ...(name === undefined ? {} : { name }), ...listed };
    },
    ttl: { AccessToken: TOKEN_SECONDS },
  };
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

async function grantToken(provider: Provider, ctx: KoaContextWithOIDC, audience: string): Promise<void> {
  const { subject, email } = ctx.oidc.params ?? {};
  if (typeof subject !== "string" || typeof email !== "string")
    throw new errors.InvalidRequest("subject and email are required");
  const token = new provider.AccessToken({
    accountId: subject,
    client: ctx.oidc.client!,
    gty: ISSUER_GRANT,
  } as ConstructorParameters<typeof provider.AccessToken>[0]);
  token.resourceServer = new provider.ResourceServer(RESOURCE, resourceServer(audience));
  ctx.body = { access_token: await token.save(), token_type: "Bearer", expires_in: token.expiration };
}
