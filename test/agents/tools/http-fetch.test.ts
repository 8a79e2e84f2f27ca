import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchPublic } from "../../../src/agents/tools/public-http.ts";
import { isPublicAddress } from "../../../src/outbound/addresses.ts";
import { isAllowedHost } from "../../../src/outbound/hosts.ts";

let server: Server;
let port: number;
let answer: RequestListener;
let asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
/** 127.0.0.1 counts as public here; all other addresses are judged as usual. */
const isPublic = (address: string): boolean => address === "127.0.0.1" || isPublicAddress(address);
const resolve = async (host: string) => [
  { address: host === "public.test" ? "127.0.0.1" : "10.0.0.7", family: 4 },
];
const rules = { isAllowed: (host: string) => host.endsWith(".test"), isPublic, resolve };
const get = (path: string, more: Partial<Parameters<typeof fetchPublic>[1]> = {}, host = "public.test") =>
  fetchPublic(`http://${host}:${port}${path}`, { ...rules, ...more }, never);

describe("what is fetched", () => {
  it("is the text, from the very address that was checked", async () => {
    answer = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>hello</p>");
    const page = await get("/a?b=c");
    expect(page).toEqual({
      url: `http://public.test:${port}/a?b=c`,
      status: 200,
      contentType: "text/html",
      text: "<p>hello</p>",
      isCut: false,
    });
    expect(asked.at(-1)).toBe(`public.test:${port} /a?b=c`);
  });

  it("resolves a name once, so that the connection goes to the address that was checked", async () => {
    answer = (_, response) => response.end("ok");
    let calls = 0;
    const rebinding = async () => [{ address: calls++ === 0 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
    expect((await get("/", { resolve: rebinding })).text).toBe("ok");
    expect(calls).toBe(1);
  });

  it("ends at its bounds of size and time, and is text only", async () => {
    answer = (_, response) => {
      const more = setInterval(() => response.write("x".repeat(10_000)), 1);
      response.on("close", () => clearInterval(more));
    };
    const page = await get("/", { maxBytes: 50_000 });
    expect(page).toMatchObject({ isCut: true });
    expect(page.text).toHaveLength(50_000);
    answer = () => undefined;
    await expect(get("/", { timeoutMs: 100 })).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("within 0.1 s"),
    });
    answer = (_, response) => response.writeHead(200, { "content-type": "image/png" }).end("x");
    await expect(get("/")).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("what is refused", () => {
  it("is a host that is not allowed, another scheme, and credentials", async () => {
    asked = [];
    await expect(get("/", {}, "elsewhere.example")).rejects.toThrow(/not allowed/);
    await expect(fetchPublic("file:///etc/passwd", rules, never)).rejects.toThrow(/not an http/);
    await expect(get("/", {}, "user:secret@public.test")).rejects.toThrow(/credentials/);
    expect(asked).toEqual([]);
  });

  it("is an allowed name that resolves to a private address, even if it has a public one too", async () => {
    asked = [];
    await expect(get("/", {}, "inside.test")).rejects.toThrow(/no public address/);
    const both = async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "10.0.0.7", family: 4 },
    ];
    await expect(get("/", { resolve: both })).rejects.toThrow(/no public address/);
    expect(asked).toEqual([]);
  });

  it.each([
    "http://inside.test/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://2130706433/",
    "http://elsewhere.example/",
    "file:///etc/passwd",
  ])("is a redirect to %s", async (location) => {
    answer = (_, response) => response.writeHead(302, { location }).end();
    const all = {
      isAllowed: (host: string) => host !== "elsewhere.example",
      isPublic: (address: string) => address === "127.0.0.1" && !location.includes("2130706433"),
    };
    asked = [];
    const stand = location.includes("2130706433")
      ? { ...all, isPublic: (address: string) => address === "127.0.0.1" && asked.length === 0 }
      : all;
    await expect(get("/", stand)).rejects.toMatchObject({ name: "DomainError" });
    expect(asked).toHaveLength(1);
  });

  it("switches to another protocol", async () => {
    answer = (_, { socket }) =>
      socket?.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    await expect(get("/")).rejects.toThrow(/cannot be read/);
  });

  it("is a redirect without end", async () => {
    answer = (_, response) => response.writeHead(302, { location: "/again" }).end();
    await expect(get("/")).rejects.toThrow(/too many redirects/);
  });
});

describe("addresses", () => {
  it.each([
    ..."127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1".split(" "),
    ..."255.255.255.255 192.0.2.1 198.18.0.1 ::1 :: fe80::1 fc00::1 fd12::1 ::ffff:10.0.0.1".split(" "),
    ..."::7f00:1 4000::1 ::ffff:7f00:1 64:ff9b::a00:1 2002:a00:1:: 2001:db8::1 ff02::1 nonsense".split(" "),
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"])("%s is public", (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it("of the private blocks are never public, whichever they are", () => {
    const octet = fc.nat(255);
    const block = fc.constantFrom("10", "127", "192.168", "169.254", "0");
    fc.assert(
      fc.property(block, octet, octet, octet, (start, ...rest) => {
        const address = [...start.split("."), ...rest].slice(0, 4).join(".");
        expect(isPublicAddress(address)).toBe(false);
        expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
      }),
    );
  });
});

it.each([
  ["example.org", true],
  ["EXAMPLE.org.", true],
  ["a.b.example.com", true],
  ["example.com", false],
  ["evilexample.com", false],
  ["example.org.evil.com", false],
])("the host %s is allowed: %s", (host, is) => {
  expect(isAllowedHost(host, ["example.org", "*.example.com"])).toBe(is);
});
