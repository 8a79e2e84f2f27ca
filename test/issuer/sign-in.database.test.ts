/** Signs in at the development issuer as the console does: by the code flow with PKCE, over real requests. */
import { connect } from "node:net";
import { finished } from "node:stream/promises";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issuerUrl } from "../../src/embedded/servers/issuer-part.ts";
import { SIGN_IN_PATH, gateCookie } from "../../src/issuer/gate.ts";
import { type CommandLine, startCommandLine } from "../support/stack/command-line.ts";

let line: CommandLine;
let server: oauth.AuthorizationServer;
const client: oauth.Client = { client_id: "holdfast-console" };
const insecure = { [oauth.allowInsecureRequests]: true };
const CONSOLE = "http://127.0.0.1:8080/console";
const CALLBACK = `${CONSOLE}/callback`;

beforeAll(async () => {
  line = await startCommandLine();
  const issuer = new URL(issuerUrl(line.issuerPort));
  server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
});
afterAll(() => line.close());

/**
 * A browser as far as it matters here: it keeps cookies, and goes where it is sent at the issuer. It has
 * shown the secret, unless it is a stranger's.
 */
function createBrowser({ isStranger = false } = {}) {
  const cookies = new Map<string, { value: string; path: string }>();
  const { name, value } = gateCookie({ secret: line.issuerSecret, port: line.issuerPort });
  if (!isStranger) cookies.set(name, { value, path: SIGN_IN_PATH });
  const send = async (url: URL, init: Pick<RequestInit, "method" | "body"> = {}): Promise<Response> => {
    const cookie = [...cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      const path = /path=([^;]+)/i.exec(set)?.[1] ?? "/";
      if (value === "") cookies.delete(name);
      else cookies.set(name, { value, path });
    }
    return response;
  };
  return {
    send,
    /** Follows redirects until a page, or an address that is not the issuer's. */
    async open(
      url: URL,
      init?: Pick<RequestInit, "method" | "body">,
    ): Promise<{ url: URL; response: Response }> {
      let response = await send(url, init);
      let at = url;
      while (response.headers.has("location")) {
        at = new URL(response.headers.get("location")!, at);
        if (at.origin !== new URL(server.issuer).origin) break;
        response = await send(at);
      }
      return { url: at, response };
    },
  };
}

type Browser = ReturnType<typeof createBrowser>;

async function authorizationOf(more: Record<string, string> = {}) {
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(server.authorization_endpoint!);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: "code",
    scope: "openid profile email offline_access",
    state: "state",
    nonce: "nonce",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...more,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== "") url.searchParams.set(name, value);
  return { url, verifier };
}

async function signIn(browser: Browser, form: Record<string, string>) {
  const { url, verifier } = await authorizationOf();
  const page = await browser.open(url);
  const back = await browser.open(page.url, { method: "POST", body: new URLSearchParams(form) });
  return { page, back: back.url, tokens: await redeem(back.url, verifier) };
}

async function redeem(back: URL, verifier: string) {
  const params = oauth.validateAuthResponse(server, client, back, "state");
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    params,
    CALLBACK,
    verifier,
    insecure,
  );
  return oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: "nonce" });
}

describe("the sign-in of the console at the development issuer", () => {
  it("lists the people of the database, and gives the one who is picked tokens of theirs", async () => {
    const browser = createBrowser();
    const { url } = await authorizationOf();
    const { response } = await browser.open(url);
    const html = await response.text();
    expect(html).toContain("ada@acme.example");
    expect(html).toContain("vic@acme.example");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const { tokens } = await signIn(createBrowser(), { person: "ada" });
    expect(await line.whoIs(tokens.access_token)).toMatchObject({
      authMethod: "jwt",
      user: { email: "ada@acme.example" },
    });
    expect(decodeJwt(tokens.access_token)["roles"]).toBeUndefined();
  });

  it("makes an operator of who says so, also after the token was renewed, and renews each token once", async () => {
    const { tokens } = await signIn(createBrowser(), { person: "ada", operator: "yes" });
    expect(decodeJwt(tokens.access_token)["roles"]).toEqual(["operators"]);
    const renew = () =>
      oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token!, insecure);
    const renewed = await oauth.processRefreshTokenResponse(server, client, await renew());
    expect(decodeJwt(renewed.access_token)["roles"]).toEqual(["operators"]);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    await expect(oauth.processRefreshTokenResponse(server, client, await renew())).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });

  it("asks nobody with prompt=none: a session goes on, and without one it says login_required", async () => {
    const stranger = await createBrowser().open((await authorizationOf({ prompt: "none" })).url);
    expect(stranger.url.searchParams.get("error")).toBe("login_required");
    const browser = createBrowser();
    await signIn(browser, { person: "ada" });
    const { url, verifier } = await authorizationOf({ prompt: "none" });
    const tokens = await redeem((await browser.open(url)).url, verifier);
    expect((await line.whoIs(tokens.access_token)).user.email).toBe("ada@acme.example");
  });

  it("ends the session at the sign-out", async () => {
    const browser = createBrowser();
    const { tokens } = await signIn(browser, { person: "ada" });
    const end = new URL(server.end_session_endpoint!);
    end.searchParams.set("id_token_hint", tokens.id_token!);
    end.searchParams.set("client_id", client.client_id);
    end.searchParams.set("post_logout_redirect_uri", `${CONSOLE}/signed-out`);
    const { response, url } = await browser.open(end);
    const html = await response.text();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
    const after = await browser.open(new URL("/session/end/confirm", url), {
      method: "POST",
      body: new URLSearchParams({ xsrf, logout: "yes" }),
    });
    expect(after.url.href).toMatch(/^http:\/\/127\.0\.0\.1:8080\/console\/signed-out/);
    const { url: asked } = await authorizationOf({ prompt: "none" });
    expect((await browser.open(asked)).url.searchParams.get("error")).toBe("login_required");
  });

  it.each([
    ["no PKCE", { code_challenge: "", code_challenge_method: "" }],
    ["a plain challenge", { code_challenge_method: "plain" }],
  ])("refuses %s", async (_what, change) => {
    const { url } = await createBrowser().open((await authorizationOf(change)).url);
    expect(url.searchParams.get("error")).toBe("invalid_request");
  });

  it.each([
    "http://127.0.0.1:8081/console/callback",
    `${CALLBACK}/more`,
    "https://evil.example/console/callback",
  ])("sends nobody to %s", async (redirect) => {
    const { url, response } = await createBrowser().open(
      (await authorizationOf({ redirect_uri: redirect })).url,
    );
    expect(url.origin).toBe(new URL(server.issuer).origin);
    expect(response.status).toBe(400);
  });

  it("lets pages of the console's origin alone ask for tokens", async () => {
    const allowed = async (origin: string): Promise<string | null> => {
      const response = await fetch(server.token_endpoint!, {
        method: "POST",
        headers: { origin },
        body: new URLSearchParams({
          client_id: client.client_id,
          grant_type: "refresh_token",
          refresh_token: "x",
        }),
      });
      return response.headers.get("access-control-allow-origin");
    };
    expect(await allowed("http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080");
    expect(await allowed("https://evil.example")).toBeNull();
  });

  it("lives on after a request whose line is no address", async () => {
    const socket = connect(line.issuerPort, "127.0.0.1");
    socket.end(`GET // HTTP/1.1\r\nHost: 127.0.0.1:${line.issuerPort}\r\nConnection: close\r\n\r\n`);
    await finished(socket.resume());
    expect((await fetch(server.jwks_uri!)).status).toBe(200);
  });

  it("needs the browser that began the sign-in", async () => {
    const { url } = await createBrowser().open((await authorizationOf()).url);
    const response = await createBrowser().send(url, {
      method: "POST",
      body: new URLSearchParams({ person: "ada" }),
    });
    expect(response.status).toBe(400);
  });
});

describe("the sign-in of a program that speaks the Model Context Protocol", () => {
  const mcp: oauth.Client = { client_id: "holdfast-mcp" };
  const callback = "http://127.0.0.1:43210/callback";
  const resource = "http://127.0.0.1:8080/mcp";

  async function signInFor(resources: string, browser = createBrowser()) {
    const { url, verifier } = await authorizationOf({
      client_id: mcp.client_id,
      redirect_uri: callback,
      scope: "openid email",
      resource: resources,
    });
    const page = await browser.open(url);
    const html = await page.response.text();
    if (page.url.origin !== new URL(server.issuer).origin) return { back: page.url, verifier, html };
    const form = new URLSearchParams({ person: "ada" });
    const { url: back } = await browser.open(page.url, { method: "POST", body: form });
    return { back, verifier, html };
  }

  it("gives a token whose audience is /mcp alone, on whichever port of this machine it waits", async () => {
    const { back, verifier } = await signInFor(resource);
    const params = oauth.validateAuthResponse(server, mcp, back, "state");
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      mcp,
      oauth.None(),
      params,
      callback,
      verifier,
      { ...insecure, additionalParameters: { resource } },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, mcp, response, {
      expectedNonce: "nonce",
    });
    expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: resource, sub: "ada" });
  });

  it("asks for whom each time, also a browser that is signed in, and says where the program waits", async () => {
    const browser = createBrowser();
    await signIn(browser, { person: "ada" });
    for (const _time of ["first", "second"]) {
      const { html, back } = await signInFor(resource, browser);
      expect(html).toContain(`<strong>${callback}</strong>`);
      expect(html).toContain("ada@acme.example");
      expect(back.searchParams.get("code")).toBeTruthy();
    }
    const { url } = await authorizationOf({
      client_id: mcp.client_id,
      redirect_uri: callback,
      scope: "openid",
      prompt: "none",
    });
    expect((await browser.open(url)).url.searchParams.get("error")).toBe("interaction_required");
  });

  it("gives none for a resource of somebody else", async () => {
    const { back } = await signInFor("https://elsewhere.example/mcp");
    expect(back.searchParams.get("error")).toBe("invalid_target");
  });
});
