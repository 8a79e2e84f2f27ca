/** The page on which somebody picks who they are. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { CONSOLE_CLIENT } from "../embedded/servers/issuer-part.ts";
import { readForm } from "./form.ts";
import { PAGE_HEADERS, languageOf, peoplePage } from "./pages.ts";
import type { People } from "./people.ts";
import { AS_OPERATOR } from "./provider.ts";

const PATH = /^\/sign-in\/[\w-]+$/;
const MAX_SEARCH = 100;

/**
 * Answers requests for the page. Only the page's own origin sends its form: the cookie of a sign-in is not
 * sent along from elsewhere.
 * @returns whether the request was for it
 */
export async function answerSignIn(
  { provider, people }: { readonly provider: Provider; readonly people: People },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  // Not parsed as an address: what a client sends need not be one.
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  if (!PATH.test(path)) return false;
  try {
    // Throws if there is no such sign-in under way in this browser.
    const { params } = await provider.interactionDetails(request, response);
    if (request.method === "POST") await finish(provider, people, request, response);
    else {
      const text = (new URLSearchParams(query).get("q") ?? "").slice(0, MAX_SEARCH);
      const found = await people.list(text).catch(() => undefined);
      const shown = { text, language: languageOf(request.headers["accept-language"]) };
      response.writeHead(found === undefined ? 503 : 200, PAGE_HEADERS);
      response.end(peoplePage(found, { ...shown, program: programOf(params) }));
    }
  } catch (error) {
    if (response.headersSent) response.destroy();
    else refuse(response, error);
  }
  return true;
}

function refuse(response: ServerResponse, error: unknown): void {
  const reason = error instanceof Error ? error.message : "";
  response.writeHead(400, { "content-type": "text/plain; charset=utf-8" });
  response.end(`This sign-in has ended. Start again. (${reason})\n`);
}

/** Where the program waits that is not the console; it may be anybody's on this machine. */
function programOf(params: Readonly<Record<string, unknown>>): string | undefined {
  return params["client_id"] === CONSOLE_CLIENT ? undefined : String(params["redirect_uri"]);
}

async function finish(
  provider: Provider,
  people: People,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = await readForm(request);
  const person = await people.find(form.get("person") ?? "");
  if (person === undefined) throw new Error("this person no longer exists");
  const amr = form.get("operator") === "yes" ? [AS_OPERATOR] : [];
  const login = { accountId: person.subject, amr, remember: true };
  await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}
