/** Who has not shown the secret of the data folder learns nothing from the development issuer. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { consoleLink, issuerUrl } from "../../src/embedded/servers/issuer-part.ts";
import { type GateSettings, answerAtGate, gateCookie } from "../../src/issuer/gate.ts";
import { type CommandLine, startCommandLine } from "../support/stack/command-line.ts";

let line: CommandLine;
let issuer: string;
const CALLBACK = "http://127.0.0.1:8080/console/callback";
const WRONG = "0".repeat(64);

beforeAll(async () => {
  line = await startCommandLine();
  issuer = issuerUrl(line.issuerPort);
});
afterAll(() => line.close());
afterEach(() => vi.useRealTimers());

interface Asked {
  readonly cookie?: string;
  readonly form?: Record<string, string>;
}

const ask = (address: string, { cookie = "", form }: Asked = {}): Promise<Response> =>
  fetch(new URL(address, issuer), {
    redirect: "manual",
    headers: { cookie },
    ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
  });

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");

/** Begins a sign-in. @returns the address of the page on which a person is picked, and the cookies so far */
async function begun(): Promise<{ page: string; cookie: string }> {
  const parameters = new URLSearchParams({
    client_id: "holdfast-console",
    redirect_uri: CALLBACK,
    response_type: "code",
    scope: "openid",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  const response = await ask(`/auth?${parameters.toString()}`);
  return { page: response.headers.get("location")!, cookie: cookiesOf(response) };
}

describe("a browser that has not shown the secret", () => {
  it.each([
    ["nothing", () => ""],
    ["a cookie of its own making", () => `; holdfast_issuer_${line.issuerPort}=${Date.now() * 2}.forged`],
    [
      "a cookie made of another secret",
      () => {
        const { name, value } = gateCookie({ secret: WRONG, port: line.issuerPort });
        return `; ${name}=${value}`;
      },
    ],
    [
      "a cookie with a later end",
      () => {
        const { name, value } = gateCookie({ secret: line.issuerSecret, port: line.issuerPort });
        return `; ${name}=9${value}`;
      },
    ],
  ])("with %s is shown nobody, and signs nobody in", async (_what, shown) => {
    const { page, cookie } = await begun();
    const listed = await ask(page, { cookie: cookie + shown() });
    expect(listed.status).toBe(403);
    expect(await listed.text()).not.toContain("acme.example");
    const picked = await ask(page, { cookie: cookie + shown(), form: { person: "ada", operator: "yes" } });
    expect([picked.status, picked.headers.get("location")]).toEqual([403, null]);
  });

  it.each([
    ["the link", () => ask(consoleLink(issuer, WRONG))],
    ["the form", (page: string) => ask(page, { form: { secret: WRONG } })],
    ["an empty form", (page: string) => ask(page, { form: { secret: "" } })],
    ["a form without end", (page: string) => ask(page, { form: { secret: "0".repeat(5_000) } })],
  ])("is refused a wrong secret in %s", async (_what, send) => {
    const { page } = await begun();
    const response = await send(page);
    expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
    expect(await response.text()).toContain('role="alert"');
  });
});

describe("a browser that shows the secret", () => {
  it("in the form goes on with the sign-in that it had begun, and is not asked again", async () => {
    const { page, cookie } = await begun();
    const shown = await ask(page, { cookie, form: { secret: line.issuerSecret } });
    expect([shown.status, shown.headers.get("location")]).toEqual([303, page]);
    const all = `${cookie}; ${cookiesOf(shown)}`;
    expect(await (await ask(page, { cookie: all })).text()).toContain("ada@acme.example");
    const next = await begun();
    const again = await ask(next.page, { cookie: `${next.cookie}; ${cookiesOf(shown)}` });
    expect(again.status).toBe(200);
  });

  it("by the link is led to the console, with a cookie that is not the secret and no script can read", async () => {
    const response = await ask(consoleLink(issuer, line.issuerSecret));
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("http://127.0.0.1:8080/console/");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const [cookie, ...others] = response.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toMatch(/; Path=\/sign-in; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(line.issuerSecret);
  });

  it("is asked again after a day", async () => {
    const settings: GateSettings = { secret: WRONG, port: 1, consoleAddress: "" };
    const { name, value } = gateCookie(settings);
    const isLetThrough = async (): Promise<boolean> => {
      const request = { url: "/sign-in/x", method: "GET", headers: { cookie: `${name}=${value}` } };
      const response = { writeHead: () => undefined, end: () => undefined };
      return !(await answerAtGate(settings, request as never, response as never));
    };
    expect(await isLetThrough()).toBe(true);
    vi.useFakeTimers({ now: Date.now() + 86_400_001, toFake: ["Date"] });
    expect(await isLetThrough()).toBe(false);
  });
});

describe("the secret", () => {
  it("is in a file of its own that only the owner reads, and in no log", async () => {
    const file = join(line.dataDir, "issuer-secret");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const secret = (await readFile(file, "utf8")).trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    await ask(consoleLink(issuer, secret));
    await ask(consoleLink(issuer, `${secret}0`));
    expect(await readFile(join(line.dataDir, "logs/issuer.log"), "utf8")).not.toContain(secret);
  });
});
