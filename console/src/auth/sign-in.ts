/**
 * Signs in by OpenID Connect's code flow with PKCE. What the flow must remember until the issuer leads back
 * is in sessionStorage; tokens never are.
 * @see https://datatracker.ietf.org/doc/html/rfc9700
 */
import * as oauth from "oauth4webapi";
import type { Configuration } from "./configuration.ts";
import { type Session, type Tokens, createSession, tokensOf } from "./session.ts";

const PENDING = "holdfast.sign-in";
/** Says that somebody has signed in with this browser, so that a new tab asks the issuer without a click. */
const RETURNING = "holdfast.returning";
const CLOCK_TOLERANCE_SECONDS = 30;

interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The address in the console to go on at, without its base. */
  readonly returnTo: string;
}

export class SignInFailed extends Error {
  override name = "SignInFailed";
  /** The issuer's code, such as `access_denied`; `login_required` is no failure but a question. */
  readonly code: string;
  /** Where the person wanted to go, for the sign-in that is begun by hand. */
  readonly returnTo: string | undefined;

  constructor(code: string, options: ErrorOptions & { readonly returnTo?: string } = {}) {
    super(code, options);
    this.code = code;
    this.returnTo = options.returnTo;
  }
}

export interface SignIn {
  /** Leaves the page for the issuer. With `silent` it may not ask anybody anything. */
  begin(options: { readonly returnTo: string; readonly silent?: boolean }): Promise<never>;
  /** Ends the flow at the redirect URI. @throws SignInFailed */
  finish(): Promise<{ readonly session: Session; readonly returnTo: string }>;
  /** Leaves the page, and ends the session at the issuer. */
  end(session: Session): Promise<never>;
  isReturning(): boolean;
}

const consoleUrl = (path: string): string =>
  new URL(`${import.meta.env.BASE_URL}${path}`, location.origin).href;

/** Insecure requests are for an issuer on loopback alone. */
const optionsFor = (issuer: URL) => ({
  [oauth.allowInsecureRequests]: ["127.0.0.1", "localhost", "[::1]"].includes(issuer.hostname),
});

interface IssuerConfiguration extends Configuration {
  readonly issuer: string;
  readonly client_id: string;
}

export const canSignIn = (configuration: Configuration): configuration is IssuerConfiguration =>
  configuration.issuer !== null && configuration.client_id !== null;

export function createSignIn(configuration: IssuerConfiguration): SignIn {
  const issuer = new URL(configuration.issuer);
  const client: oauth.Client = {
    client_id: configuration.client_id,
    [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
  };
  const options = optionsFor(issuer);
  let discovered: Promise<oauth.AuthorizationServer> | undefined;
  const discover = (): Promise<oauth.AuthorizationServer> =>
    (discovered ??= oauth
      .discoveryRequest(issuer, options)
      .then((response) => oauth.processDiscoveryResponse(issuer, response))
      .catch((error: unknown) => {
        discovered = undefined;
        throw new SignInFailed("issuer_unreachable", { cause: error });
      }));
  const refresh = async (tokens: Tokens): Promise<Tokens> => {
    const server = await discover();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      tokens.refreshToken!,
      options,
    );
    return tokensOf(await oauth.processRefreshTokenResponse(server, client, response), tokens);
  };
  return {
    begin: async (wanted) => leaveFor(await authorizationUrl(await discover(), configuration, wanted)),
    async finish() {
      const pending = takePending();
      const answer = await redeem(await discover(), client, pending, options);
      localStorage.setItem(RETURNING, "1");
      return { session: createSession(tokensOf(answer), refresh), returnTo: pending.returnTo };
    },
    async end(session) {
      localStorage.removeItem(RETURNING);
      return leaveFor(signOutUrl(await discover(), configuration.client_id, session.idToken));
    },
    isReturning: () => localStorage.getItem(RETURNING) !== null,
  };
}

async function authorizationUrl(
  server: oauth.AuthorizationServer,
  { client_id: clientId, scope, authorization_parameters: besides }: IssuerConfiguration,
  { returnTo, silent = false }: { readonly returnTo: string; readonly silent?: boolean },
): Promise<URL> {
  const verifier = oauth.generateRandomCodeVerifier();
  const pending: Pending = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier,
    returnTo,
  };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const url = new URL(server.authorization_endpoint!);
  const parameters = {
    ...besides,
    client_id: clientId,
    redirect_uri: consoleUrl("callback"),
    response_type: "code",
    scope,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(silent ? { prompt: "none" } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/**
 * @throws SignInFailed if no flow was begun in this tab: the address was opened by hand, or by another page.
 */
function takePending(): Pending {
  const kept = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  if (kept === null) throw new SignInFailed("no_sign_in_begun");
  return JSON.parse(kept) as Pending;
}

async function redeem(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  pending: Pending,
  options: ReturnType<typeof optionsFor>,
): Promise<oauth.TokenEndpointResponse> {
  try {
    const params = oauth.validateAuthResponse(server, client, new URL(location.href), pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      params,
      consoleUrl("callback"),
      pending.verifier,
      options,
    );
    return await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: pending.nonce,
      requireIdToken: true,
    });
  } catch (error) {
    const facts = { cause: error, returnTo: pending.returnTo };
    const isAnswer =
      error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError;
    throw new SignInFailed(isAnswer ? error.error : "answer_not_valid", facts);
  }
}

/** Issuers without an end of sessions only forget this page's tokens. */
function signOutUrl(server: oauth.AuthorizationServer, clientId: string, idToken: string | undefined): URL {
  const after = consoleUrl("signed-out");
  if (server.end_session_endpoint === undefined) return new URL(after);
  const url = new URL(server.end_session_endpoint);
  if (idToken !== undefined) url.searchParams.set("id_token_hint", idToken);
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("post_logout_redirect_uri", after);
  return url;
}

/** Never settles: the page is gone before. */
function leaveFor(url: URL): Promise<never> {
  location.assign(url);
  return new Promise<never>(() => undefined);
}
