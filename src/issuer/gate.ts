/**
 * Lists nobody and signs nobody in before the browser has shown the secret of the data folder: by the link
 * that `npm start` prints, or by a form. It then has a cookie, so that it is asked once. The secret is too
 * long to be guessed, so tries are not counted.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { CONSOLE_LINK_PATH } from "../embedded/servers/issuer-part.ts";
import { readForm } from "./form.ts";
import { PAGE_HEADERS, languageOf, secretPage } from "./pages.ts";

/** The only pages that need the cookie. No other server of this machine is sent it for other paths. */
export const SIGN_IN_PATH = "/sign-in";
/** A browser that stays open for longer is asked again. */
const OPEN_MS = 86_400_000;

export interface GateSettings {
  readonly secret: string;
  /** Browsers send a cookie to every port of a host, so its name tells the issuers of one machine apart. */
  readonly port: number;
  /** Where the printed link leads. */
  readonly consoleAddress: string;
}

interface GateCookie {
  readonly name: string;
  readonly value: string;
}

/** What a browser keeps instead of the secret, which cannot be computed from it. */
export function gateCookie({ secret, port }: Pick<GateSettings, "secret" | "port">): GateCookie {
  const until = String(Date.now() + OPEN_MS);
  return { name: cookieName(port), value: `${until}.${proofOf(until, secret)}` };
}

/** Answers the printed link, and sign-ins of browsers without the secret. @returns whether it answered */
export async function answerAtGate(
  settings: GateSettings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  // Not parsed as an address: what a client sends need not be one.
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const isLink = path === CONSOLE_LINK_PATH;
  if (!isLink && !path.startsWith(`${SIGN_IN_PATH}/`)) return false;
  if (!isLink && hasShownSecret(settings, request)) return false;
  // A form that breaks off or is too long holds no secret either.
  const given = await secretIn(request, isLink ? query : "").catch(() => "");
  if (given !== null && isEqual(given, settings.secret))
    letIn(settings, response, isLink ? `${settings.consoleAddress}/` : path);
  else ask(request, response, given !== null);
  return true;
}

/** The redirect takes the place of the link in the address bar, in the history and as `Referer`. */
function letIn(settings: GateSettings, response: ServerResponse, location: string): void {
  const { name, value } = gateCookie(settings);
  response.writeHead(303, {
    location,
    "set-cookie": `${name}=${value}; Path=${SIGN_IN_PATH}; HttpOnly; SameSite=Lax`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  response.end();
}

function ask(request: IncomingMessage, response: ServerResponse, isWrong: boolean): void {
  response.writeHead(403, { ...PAGE_HEADERS, "referrer-policy": "no-referrer" });
  response.end(secretPage(isWrong, languageOf(request.headers["accept-language"])));
}

/** The secret in the link, or in the form of the page that asks for it; null if there is none. */
async function secretIn(request: IncomingMessage, query: string): Promise<string | null> {
  const given = request.method === "POST" ? await readForm(request) : new URLSearchParams(query);
  return given.get("secret");
}

function hasShownSecret({ secret, port }: GateSettings, request: IncomingMessage): boolean {
  const prefix = `${cookieName(port)}=`;
  const cookies = (request.headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  const [until = "", proof = ""] =
    cookies
      .find((cookie) => cookie.startsWith(prefix))
      ?.slice(prefix.length)
      .split(".", 2) ?? [];
  return isEqual(proof, proofOf(until, secret)) && Number(until) > Date.now();
}

const cookieName = (port: number): string => `holdfast_issuer_${port}`;

const proofOf = (until: string, secret: string): string =>
  createHmac("sha256", secret).update(`a browser that has shown it, until ${until}`).digest("base64url");

/** As slow for a wrong text as for the right one. Hashed, because the comparison needs equal lengths. */
function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(one!, other!);
}
