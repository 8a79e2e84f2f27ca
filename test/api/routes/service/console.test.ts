/** How the console is served: its files, its addresses, what its pages may do and what they are told. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleRoutes } from "../../../../src/api/routes/service/console.ts";
import { writeListing } from "../../../../scripts/site/listing.ts";
import { type TinyApp, startTinyApp } from "../../../support/app/tiny-app.ts";

const html = "text/html; charset=utf-8";
const PAGE = '<!doctype html><div id="root"></div>';
const SCRIPT = "export const answer = 42;\n".repeat(200);
const ISSUER = { OIDC_ISSUER: "https://login.example.org/tenant", OIDC_AUDIENCE: "holdfast" };

let folder: string;
let app: TinyApp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-console-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), PAGE);
  await writeFile(join(folder, "assets/index-1a2b.js"), SCRIPT);
  await writeFile(join(folder, "mark.svg"), "<svg/>");
  await writeListing(folder);
  app = await startTinyApp(consoleRoutes(async () => folder));
});

afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

/** What a console with these settings sends at the path below /console. */
async function asked(settings: Readonly<Record<string, string>>, path = ""): Promise<Response> {
  const other = await startTinyApp(
    consoleRoutes(async () => folder),
    { settings },
  );
  try {
    const answer = await fetch(`${other.url}/console${path}`);
    return new Response(await answer.text(), { headers: answer.headers });
  } finally {
    await other.close();
  }
}

async function directivesWith(settings: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const policy = (await asked(settings)).headers.get("content-security-policy")!;
  return new Map(
    policy.split("; ").map((directive) => {
      const [name = "", ...values] = directive.split(" ");
      return [name, values.join(" ")];
    }),
  );
}

test.each([
  "/console",
  "/console/",
  "/console/callback?code=1&state=2",
  "/console/spaces/0198c1de-0000-7000-8000-000000000000/documents",
  "/console/no-such-screen",
])("%s is the console's page, to be asked for anew", async (path) => {
  const answer = await fetch(app.url + path);
  expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, html, PAGE]);
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(answer.headers.get("cross-origin-opener-policy")).toBe("same-origin");
});

test("a script with a hash in its name is kept for good", async () => {
  const answer = await fetch(`${app.url}/console/assets/index-1a2b.js`);
  expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
});

test.each([
  ["gzip, deflate, br", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0", null],
])("Accept-Encoding: %s has the script in the form that was made with it", async (accepted, coding) => {
  const answer = await fetch(`${app.url}/console/assets/index-1a2b.js`, {
    headers: { "Accept-Encoding": accepted },
  });
  expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([
    coding,
    expect.stringContaining("Accept-Encoding"),
  ]);
  expect(await answer.text()).toBe(SCRIPT);
});

test("a script of an older build is 404, and no page in its place", async () => {
  const answer = await fetch(`${app.url}/console/assets/index-0000.js`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: "route_not_found" } });
});

test("the page that a browser has is 304, still under the policy", async () => {
  const first = await fetch(`${app.url}/console`);
  const again = await fetch(`${app.url}/console/agents`, {
    headers: { "If-None-Match": first.headers.get("etag")! },
  });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect(again.headers.get("content-security-policy")).toBe(first.headers.get("content-security-policy"));
});

test("until it is built it says so", async () => {
  const early = await startTinyApp(consoleRoutes(async () => undefined));
  try {
    const answer = await fetch(`${early.url}/console/agents`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.text()).toContain("npm run console");
    expect((await fetch(`${early.url}/console/config.json`)).status).toBe(200);
  } finally {
    await early.close();
  }
});

describe("the policy of its pages", () => {
  test("runs scripts of this server alone, in no frame, and takes no text for code", async () => {
    const directives = await directivesWith({});
    expect(directives.get("default-src")).toBe("'none'");
    expect(directives.get("script-src")).toBe("'self'");
    expect(directives.get("frame-ancestors")).toBe("'none'");
    expect(directives.get("base-uri")).toBe("'none'");
    expect(directives.get("require-trusted-types-for")).toBe("'script'");
  });

  test("lets nothing be reached but this server, if nobody signs people in", async () => {
    expect((await directivesWith({})).get("connect-src")).toBe("'self'");
  });

  test("lets the issuer be reached, at its origin and where else its endpoints are", async () => {
    const directives = await directivesWith({
      ...ISSUER,
      CONSOLE_ISSUER_ORIGINS: "https://tokens.example.org",
    });
    expect(directives.get("connect-src")).toBe("'self' https://login.example.org https://tokens.example.org");
  });
});

describe("its configuration", () => {
  test("says that nobody can sign in if there is no issuer", async () => {
    const answer = await asked({ CONSOLE_CLIENT_ID: "console" }, "/config.json");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(await answer.json()).toEqual({
      api: "",
      issuer: null,
      client_id: null,
      scope: "openid profile email offline_access",
      authorization_parameters: {},
      temporal_ui: null,
      temporal_namespace: "default",
      metrics: [],
    });
  });

  test("has what the settings say, and nothing secret", async () => {
    const settings = {
      ...ISSUER,
      CONSOLE_CLIENT_ID: "console",
      CONSOLE_SCOPE: "openid email",
      CONSOLE_AUTHORIZATION_PARAMETERS: "audience=https%3A%2F%2Fapi.example.org&resource=a+b",
      TEMPORAL_UI_URL: "https://temporal.example.org",
      METRICS_URL: "https://metrics.example.org/d/holdfast",
    };
    expect(await (await asked(settings, "/config.json")).json()).toEqual({
      api: "",
      issuer: ISSUER.OIDC_ISSUER,
      client_id: "console",
      scope: "openid email",
      authorization_parameters: { audience: "https://api.example.org", resource: "a b" },
      temporal_ui: "https://temporal.example.org",
      temporal_namespace: "default",
      metrics: ["https://metrics.example.org/d/holdfast"],
    });
  });
});

test("the host of its own that a setting names may call the API, and no other", async () => {
  const host = await startTinyApp(
    consoleRoutes(async () => folder),
    { settings: { CONSOLE_ORIGIN: "https://app.example.org" } },
  );
  const allowed = async (origin: string): Promise<string | null> => {
    const answer = await fetch(`${host.url}/console/config.json`, { headers: { Origin: origin } });
    return answer.headers.get("access-control-allow-origin");
  };
  try {
    expect(await allowed("https://app.example.org")).toBe("https://app.example.org");
    expect(await allowed("https://other.example.org")).toBeNull();
  } finally {
    await host.close();
  }
});
